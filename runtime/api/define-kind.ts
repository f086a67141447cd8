import { z } from "zod";

import {
  checkEnvelope,
  InvalidObjectError,
  isRecord,
  sentencesOf,
  subjectOf,
  unknownFields,
} from "./invalid-object";
import type { Kind, ObjectMeta } from "./meta";
import { embeddedSchema } from "./schema/embedded";
import { stringMap } from "./schema/fields";
import { structuralSchema, type ValidationRule } from "./schema/structural-schema";

/** A column of `kubectl get`. */
export interface PrinterColumn {
  name: string;
  /** As in `.status.role`. */
  jsonPath: string;
  /** `string` by default. */
  type?: "string" | "integer" | "boolean" | "date";
  /** 1: shown with `-o wide` only. */
  priority?: number;
  description?: string;
}

/** The column that every kind ends with, or nearly so. */
export const AGE: PrinterColumn = { name: "Age", type: "date", jsonPath: ".metadata.creationTimestamp" };

/** Everything the CRD, the types, the validation and the reference page of a kind come from. */
export interface KindDefinition<
  Group extends string,
  Version extends string,
  Name extends string,
  Spec extends z.ZodType,
  Status extends z.ZodType,
> {
  group: Group;
  version: Version;
  kind: Name;
  plural: string;
  /** Lower-case kind by default. */
  singular?: string;
  shortNames?: readonly string[];
  namespaced: boolean;
  /** What an object of this kind is: the CRD's description and the start of its reference page. */
  summary: string;
  /** Made when it is first needed: a process that never parses pays nothing for it. */
  spec: () => Spec;
  /** Whether an object without a spec is refused even though an empty one is accepted. */
  specRequired?: boolean;
  status?: () => Status;
  /** Whether the status is written through a subresource of its own; by default where there is a status. */
  statusSubresource?: boolean;
  columns?: readonly PrinterColumn[];
  /** Brings an older form that the API server still takes into the present one, in place. `parse` does so by its schema. */
  normalize?: (object: Record<string, unknown>) => void;
  /** Conditions on the whole object, its name included; evaluated by the API server alone. */
  rules?: readonly ValidationRule[];
  /** Labels of the CRD object itself. */
  labels?: Readonly<Record<string, string>>;
}

/** The definition with every type parameter at its widest, for the generator. */
export type AnyDefinition = KindDefinition<string, string, string, z.ZodType, z.ZodType>;

export interface OwnObject<ApiVersion extends string, Name extends string, Spec, Status> {
  apiVersion: ApiVersion;
  kind: Name;
  metadata: ObjectMeta;
  spec: Spec;
  status?: Status;
}

/** A kind of ours: served by a CRD that is generated from its definition. */
export interface OwnKind<T extends OwnObject<string, string, unknown, unknown>> extends Kind<T> {
  readonly definition: AnyDefinition;
  /**
   * Validates a spec by itself, as arguments of components give it; fills the defaults. Refuses fields that the kind does not have, which
   * `parse` passes over, since a peer of a later version may send them. Throws {@link InvalidObjectError}.
   */
  parseSpec(value: unknown): T["spec"];
}

/** The type of a kind's objects: `type Tenant = KindObject<typeof Tenant>`. */
export type KindObject<K> = K extends Kind<infer T> ? T : never;

/** The fields of a kind's spec as a person may write them: what has a default may be left out. */
export type SpecInput<K> = K extends { readonly specSchema: infer Spec extends z.ZodType }
  ? z.input<Spec>
  : never;

/**
 * Describes a kind once; the constant and the type share its name.
 *
 * @example
 * export const Tenant = defineKind({ group: "authentication.liqo.io", version: "v1beta1", kind: "Tenant", … });
 * export type Tenant = KindObject<typeof Tenant>;
 */
export function defineKind<
  const Group extends string,
  const Version extends string,
  const Name extends string,
  Spec extends z.ZodType,
  Status extends z.ZodType = z.ZodUndefined,
>(
  definition: KindDefinition<Group, Version, Name, Spec, Status>,
): OwnKind<OwnObject<`${Group}/${Version}`, Name, z.output<Spec>, z.output<Status>>> & {
  readonly specSchema: Spec;
} {
  type T = OwnObject<`${Group}/${Version}`, Name, z.output<Spec>, z.output<Status>>;
  const { group, version, kind, plural, namespaced, spec, status } = definition;
  const apiVersion = `${group}/${version}` as const;
  const envelope = { apiVersion, kind };
  const specSchema = once(spec);
  const observesGeneration = once(() => {
    const schema = status?.();
    return schema instanceof z.ZodObject && "observedGeneration" in schema.shape;
  });
  const structure = once(() => structuralSchema(specSchema(), embeddedSchema));
  const manifest = once(() =>
    z.object({
      apiVersion: z.literal(apiVersion),
      kind: z.literal(kind),
      metadata: objectMeta(),
      spec: z.preprocess((value) => value ?? {}, specSchema()),
      ...(status === undefined ? {} : { status: status().optional() }),
    }),
  );

  return Object.freeze({
    group,
    version,
    apiVersion,
    kind,
    plural,
    namespaced,
    definition,
    get specSchema(): Spec {
      return specSchema();
    },
    get observesGeneration(): boolean {
      return observesGeneration();
    },
    parse(value: unknown): T {
      const result = manifest().safeParse(withoutNulls(checkEnvelope(envelope, value)));
      if (result.success) return asObject<T>(result.data);
      throw new InvalidObjectError(subjectOf(kind, value), sentencesOf(result.error, value), {
        cause: result.error,
      });
    },
    fromApiServer(value: unknown): T {
      const object = checkEnvelope(envelope, value);
      if (object.spec === undefined) object.spec = {};
      definition.normalize?.(object);
      return asObject<T>(object);
    },
    parseSpec(value: unknown): z.output<Spec> {
      const result = specSchema().safeParse(withoutNulls(value));
      const unknown = unknownFields(value, structure(), "spec");
      if (result.success && unknown.length === 0) return result.data;
      const faults = result.success
        ? []
        : sentencesOf(result.error, value).map((fault) => inSpec(fault, value));
      throw new InvalidObjectError(kind, [...faults, ...unknown], { cause: result.error });
    },
  });
}

/**
 * The one place where the type of an own object is asserted: after zod checked it whole, or after the envelope's check when the API server
 * validated and defaulted the rest against the CRD made from the same schema.
 */
function asObject<T>(checked: unknown): T {
  return checked as T;
}

/** Null is no value in our kinds, and the API server drops it, too. */
function withoutNulls(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(withoutNulls);
  if (!isRecord(value)) return value;
  return Object.fromEntries(
    Object.entries(value)
      .filter(([, field]) => field !== null)
      .map(([name, field]) => [name, withoutNulls(field)]),
  );
}

/** A path within a spec as a path within the object. */
function inSpec(fault: string, value: unknown): string {
  return isRecord(value) ? `spec.${fault}` : `spec: ${fault}`;
}

function once<V>(make: () => V): () => V {
  let made: { value: V } | undefined;
  return () => (made ??= { value: make() }).value;
}

const ownerReference = () =>
  z.object({
    apiVersion: z.string().min(1),
    kind: z.string().min(1),
    name: z.string().min(1),
    uid: z.string().min(1),
    controller: z.boolean().optional(),
    blockOwnerDeletion: z.boolean().optional(),
  });

/** Metadata of an object that has a name. */
const objectMeta = (): z.ZodType<ObjectMeta> =>
  z.object({
    name: z.string().min(1),
    namespace: z.string().optional(),
    generateName: z.string().optional(),
    uid: z.string().optional(),
    resourceVersion: z.string().optional(),
    generation: z.number().int().optional(),
    creationTimestamp: z.string().nullish(),
    deletionTimestamp: z.string().nullish(),
    deletionGracePeriodSeconds: z.number().int().nullish(),
    labels: stringMap().optional(),
    annotations: stringMap().optional(),
    finalizers: z.array(z.string()).optional(),
    ownerReferences: z.array(ownerReference()).optional(),
    managedFields: z.array(z.record(z.string(), z.unknown())).optional(),
  });
