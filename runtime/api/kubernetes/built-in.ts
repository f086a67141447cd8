import type { KubeObject, Kind, ObjectMeta, PostedKind } from "../meta";
import { checkEnvelope, checkIdentity } from "../invalid-object";

/**
 * A built-in kind's type as `kubernetes-types` has it, with what the API server always sends made required: `apiVersion`, `kind`,
 * `metadata`, and the fields named in `Always`.
 */
export type BuiltIn<
  Schema,
  ApiVersion extends string,
  KindName extends string,
  Always extends Exclude<keyof Schema, "apiVersion" | "kind" | "metadata"> = never,
> = Mutable<Omit<Schema, "apiVersion" | "kind" | "metadata" | Always>> &
  Mutable<Required<Pick<Schema, Always>>> & { apiVersion: ApiVersion; kind: KindName; metadata: ObjectMeta };

type Mutable<V> = { -readonly [Key in keyof V]: V[Key] };

interface Place<T extends KubeObject> {
  apiVersion: T["apiVersion"];
  kind: T["kind"];
  plural: string;
  namespaced: boolean;
  /** Fields that the API server always sends, as in the kind's type. */
  always?: readonly Exclude<keyof T, "apiVersion" | "kind" | "metadata">[];
}

/** Describes a kind that Kubernetes itself serves. */
export function builtIn<T extends KubeObject>(place: Place<T>): Kind<T> {
  const expected = { ...place, always: place.always?.map(String) };
  const trusted = (value: unknown) => trust<T>(checkEnvelope(expected, value));
  return Object.freeze({ ...addressOf(place), parse: trusted, fromApiServer: trusted });
}

/** An object that is posted and answered, never stored. */
export type Posted<Schema, ApiVersion extends string, KindName extends string> = Mutable<
  Omit<Schema, "apiVersion" | "kind">
> & { apiVersion: ApiVersion; kind: KindName };

/** Describes a kind that Kubernetes only answers. */
export function posted<T extends { apiVersion: string; kind: string }>(place: {
  apiVersion: T["apiVersion"];
  kind: T["kind"];
  plural: string;
  namespaced: boolean;
}): PostedKind<T> {
  return Object.freeze({
    ...addressOf(place),
    parse: (value: unknown) => trust<T>(checkIdentity(place, value)),
  });
}

function addressOf<Address extends { apiVersion: string; kind: string; plural: string; namespaced: boolean }>(
  place: Address,
) {
  const { apiVersion, kind, plural, namespaced } = place;
  const slash = apiVersion.indexOf("/");
  const group = slash < 0 ? "" : apiVersion.slice(0, slash);
  return {
    group,
    version: apiVersion.slice(slash + 1),
    apiVersion: apiVersion as Address["apiVersion"],
    kind: kind as Address["kind"],
    plural,
    namespaced,
  };
}

/**
 * The one place where a built-in object's type is asserted: the envelope is checked, the fields within are what the API server's own
 * validation makes them. Declaring the schemas of Kubernetes a second time would cost much and prove nothing.
 */
function trust<T>(checked: Record<string, unknown>): T {
  return checked as T;
}
