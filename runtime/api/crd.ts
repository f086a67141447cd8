import * as authentication from "./authentication";
import * as core from "./core";
import type { AnyDefinition } from "./define-kind";
import * as ipam from "./ipam";
import type { CustomResourceDefinition } from "./kubernetes/cluster";
import * as networking from "./networking";
import * as offloading from "./offloading";
import { embeddedSchema } from "./schema/embedded";
import { type StructuralSchema, structuralSchema } from "./schema/structural-schema";

/** Every kind that this project defines, by group and then by name. */
export const OWN_KINDS: readonly { readonly definition: AnyDefinition }[] = [
  authentication,
  core,
  ipam,
  networking,
  offloading,
].flatMap((group) => Object.values(group).filter((member) => isKind(member)));

function isKind(member: unknown): member is { readonly definition: AnyDefinition } {
  return typeof member === "object" && member !== null && "definition" in member;
}

/**
 * The CRDs of all kinds, to install: the objects that `runtime/api/crds` holds as YAML.
 *
 * Every call makes them anew (some 100 ms); they share nothing, so they may be changed.
 */
export function crds(): CustomResourceDefinition[] {
  return OWN_KINDS.map(({ definition }) => crdOf(definition));
}

/** The CRD of one kind. */
export function crdOf(definition: AnyDefinition): CustomResourceDefinition {
  const { group, version, kind, plural, labels, status } = definition;
  return {
    apiVersion: "apiextensions.k8s.io/v1",
    kind: "CustomResourceDefinition",
    metadata: { name: `${plural}.${group}`, ...(labels && { labels: { ...labels } }) },
    spec: {
      group,
      scope: definition.namespaced ? "Namespaced" : "Cluster",
      names: {
        kind,
        listKind: `${kind}List`,
        plural,
        singular: definition.singular ?? kind.toLowerCase(),
        ...(definition.shortNames && { shortNames: [...definition.shortNames] }),
        categories: ["liqo"],
      },
      versions: [
        {
          name: version,
          served: true,
          storage: true,
          schema: { openAPIV3Schema: rootSchema(definition) },
          ...(definition.columns && { additionalPrinterColumns: definition.columns.map(column) }),
          ...((definition.statusSubresource ?? status !== undefined) && { subresources: { status: {} } }),
        },
      ],
    },
  };
}

function column({
  name,
  type = "string",
  jsonPath,
  priority,
  description,
}: NonNullable<AnyDefinition["columns"]>[number]) {
  return { name, type, jsonPath, ...(priority && { priority }), ...(description && { description }) };
}

function rootSchema(definition: AnyDefinition): StructuralSchema {
  const spec = structuralSchema(definition.spec(), embeddedSchema);
  const required = definition.specRequired === true || (spec.required?.length ?? 0) > 0;
  return {
    description: definition.summary,
    type: "object",
    properties: {
      apiVersion: { description: `${definition.group}/${definition.version}`, type: "string" },
      kind: { description: definition.kind, type: "string" },
      metadata: { type: "object" },
      // Readers may rely on a spec being there, whoever wrote the object.
      spec: required ? spec : { ...spec, default: {} },
      ...(definition.status && { status: structuralSchema(definition.status(), embeddedSchema) }),
    },
    ...(required && { required: ["spec"] }),
    ...(definition.rules && { "x-kubernetes-validations": definition.rules.map((rule) => ({ ...rule })) }),
  };
}
