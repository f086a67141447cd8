import { Annotation, isOn } from "../../api/keys";
import type { Desired, Kind, KubeObject } from "../../api/meta";
import type { ReflectedResource } from "../../plan/reflected-resources";
import type { NodeSettings } from "../settings/node-settings";
import type { RemoteMetadata } from "../reflection/reflected-metadata";

/** Why an object is not reflected, as the event says it. */
export interface Kept {
  why: string;
}

/** Other objects of a local namespace that decide on what is reflected of it. */
export interface RelatedObjects {
  /** Until then nothing can be concluded from the absence of an object. */
  readonly synced: boolean;
  whenSynced(): Promise<void>;
  release(): void;
}

/** How the objects of one kind are reflected from the consumer to the provider, where they may be of another kind. */
export interface ReflectedKind<T extends KubeObject, R extends KubeObject = T> {
  readonly kind: Kind<T>;
  readonly remoteKind: Kind<R>;
  readonly resource: ReflectedResource;
  /** Objects worked on at a time; 0 turns the kind off. */
  workers(settings: NodeSettings): number;
  /** Where the name at the provider is another one. */
  remoteName(name: string): string;
  /** The other way round; undefined for remote objects that stand for no local one. */
  localName(remoteName: string): string | undefined;
  /**
   * Why an object is not reflected; undefined when it is.
   *
   * @throws ContradictoryAnnotations
   */
  keptAtHome(local: T, settings: NodeSettings): Kept | undefined;
  /** Whether a remote object belongs to another reflection, and is invisible to this one. */
  isAnothers?(remote: R): boolean;
  /** Watches the related objects of a local namespace; `changed` is called with the name of each object that depends on one that changed. */
  relatedObjects?(namespace: string, changed: (name: string) => void): RelatedObjects;
  /** The remote object as it is to be. */
  desired(
    local: T,
    metadata: RemoteMetadata & { name: string; namespace: string },
    settings: NodeSettings,
  ): Desired<R>;
  /** Paths whose content is ours alone, so that what somebody added is removed. */
  readonly exact: readonly string[];
  /** Fields that the API server does not fill by itself, by the path of their parent: where they are not desired, they are removed. */
  readonly absent?: Readonly<Record<string, readonly string[]>>;
  /** Whether the remote object cannot become what is desired, and has to be made anew. */
  mustBeReplaced(remote: R, desired: Desired<R>): boolean;
  /** What is kept of remote objects in the cache. */
  readonly projectRemote?: (remote: R) => R;
}

/** Which objects of a kind are reflected: all but those marked, or only those marked (offloading reference 9.3). */
export type ReflectionPolicy = "DenyList" | "AllowList";

/** An object that asks for two things at once. */
export class ContradictoryAnnotations extends Error {
  override readonly name = "ContradictoryAnnotations";
}

/** Whether an object is to be reflected under the policy of its kind. */
export function isAllowed(
  policy: ReflectionPolicy,
  annotations: Record<string, string> | undefined,
): boolean {
  return policy === "DenyList"
    ? !isOn(annotations?.[Annotation.skipReflection])
    : isOn(annotations?.[Annotation.allowReflection]);
}

/**
 * What the object itself asks for, whatever the policy of its kind; undefined when it asks for nothing.
 *
 * @throws ContradictoryAnnotations when it asks for both
 */
export function explicitChoice(annotations: Record<string, string> | undefined): boolean | undefined {
  const skip = isOn(annotations?.[Annotation.skipReflection]);
  const allow = isOn(annotations?.[Annotation.allowReflection]);
  if (skip && allow) {
    throw new ContradictoryAnnotations(
      `carries both ${Annotation.skipReflection} and ${Annotation.allowReflection}; keep one of them`,
    );
  }
  return skip ? false : allow ? true : undefined;
}
