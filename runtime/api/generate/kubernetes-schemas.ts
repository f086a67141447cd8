import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";

import { isRecord } from "../invalid-object";
import { packageRoot } from "../package-root";

/**
 * Makes `runtime/api/schema/kubernetes-schemas.ts`: the structural schemas of the Kubernetes types that stand inside our kinds, so that
 * the API server validates and prunes a pod within a ShadowPod as it does a Pod.
 *
 * Run by hand for a new Kubernetes version, with the folder `api/openapi-spec/v3` of its sources as the argument.
 */

const DOCUMENTS = [
  "api__v1_openapi.json",
  "apis__apps__v1_openapi.json",
  "apis__discovery.k8s.io__v1_openapi.json",
];

/** The types that our kinds name; what these refer to follows. */
const ROOTS = [
  "io.k8s.api.core.v1.PodSpec",
  "io.k8s.api.core.v1.ServiceSpec",
  "io.k8s.api.core.v1.ResourceQuotaSpec",
  "io.k8s.api.core.v1.ObjectReference",
  "io.k8s.api.core.v1.ContainerImage",
  "io.k8s.api.core.v1.Taint",
  "io.k8s.api.apps.v1.DeploymentSpec",
  "io.k8s.api.discovery.v1.Endpoint",
  "io.k8s.api.discovery.v1.EndpointPort",
];

const QUANTITY =
  "^(\\+|-)?(([0-9]+(\\.[0-9]*)?)|(\\.[0-9]+))(([KMGTPE]i)|[numkMGTPE]|([eE](\\+|-)?(([0-9]+(\\.[0-9]*)?)|(\\.[0-9]+))))?$";

const INT_OR_STRING = {
  anyOf: [{ type: "integer" }, { type: "string" }],
  "x-kubernetes-int-or-string": true,
};

/** Types whose OpenAPI form is not what a CRD takes. */
const REPLACED: Record<string, object> = {
  "io.k8s.apimachinery.pkg.api.resource.Quantity": { ...INT_OR_STRING, pattern: QUANTITY },
  "io.k8s.apimachinery.pkg.util.intstr.IntOrString": INT_OR_STRING,
  // The part of the metadata that a template may set; the rest belongs to the API server.
  "io.k8s.apimachinery.pkg.apis.meta.v1.ObjectMeta": {
    type: "object",
    properties: {
      name: { type: "string" },
      namespace: { type: "string" },
      labels: { type: "object", additionalProperties: { type: "string" } },
      annotations: { type: "object", additionalProperties: { type: "string" } },
      finalizers: { type: "array", items: { type: "string" } },
    },
  },
};

const COPIED = [
  "type",
  "format",
  "enum",
  "required",
  "x-kubernetes-list-type",
  "x-kubernetes-list-map-keys",
  "x-kubernetes-map-type",
];

function main(folder: string): void {
  const openapi = Object.assign({}, ...DOCUMENTS.map((name) => schemasOf(join(folder, name)))) as Record<
    string,
    unknown
  >;
  const found: Record<string, unknown> = {};
  const visit = (name: string): void => {
    const key = shortName(name);
    if (key in found) return;
    found[key] = {}; // marks it before what it refers to is visited
    found[key] = REPLACED[name] ?? structural(openapi[name], visit);
  };
  ROOTS.forEach(visit);

  const sorted = Object.fromEntries(Object.entries(found).sort(([a], [b]) => (a < b ? -1 : 1)));
  const target = join(packageRoot(), "runtime/api/schema/kubernetes-schemas.ts");
  writeFileSync(
    target,
    [
      `// Generated from the OpenAPI documents of ${versionOf(folder)} by runtime/api/generate/kubernetes-schemas.ts; do not edit.`,
      "/** Structural schemas by short name, as JSON text: parsed by those who need them only. `$ref` holds a short name. */",
      `export const KUBERNETES_SCHEMAS = String.raw\`${JSON.stringify(sorted, undefined, 1)}\`;`,
      "",
    ].join("\n"),
  );
}

function schemasOf(file: string): Record<string, unknown> {
  const document: unknown = JSON.parse(readFileSync(file, "utf8"));
  if (isRecord(document) && isRecord(document.components) && isRecord(document.components.schemas)) {
    return document.components.schemas;
  }
  throw new Error(
    `${file} has no components.schemas; give the folder api/openapi-spec/v3 of the Kubernetes sources`,
  );
}

function versionOf(folder: string): string {
  return `Kubernetes ${/kubernetes@(v[0-9.]+)/.exec(folder)?.[1] ?? "(version unknown)"}`;
}

/** `io.k8s.api.core.v1.PodSpec` becomes `core.PodSpec`. */
function shortName(name: string): string {
  const parts = name.split(".");
  return `${parts.at(-3)}.${parts.at(-1)}`;
}

function structural(schema: unknown, visit: (name: string) => void): unknown {
  if (!isRecord(schema)) throw new Error("a schema that is referred to is missing from the documents");
  const reference = referenceIn(schema);
  if (reference !== undefined) {
    visit(reference);
    return { $ref: shortName(reference) };
  }

  const result: Record<string, unknown> = {};
  for (const key of COPIED) if (schema[key] !== undefined) result[key] = schema[key];
  // OpenAPI gives every required field its zero value as a default; only the others mean something.
  if (
    schema.default !== undefined &&
    schema.default !== 0 &&
    schema.default !== false &&
    !isRecord(schema.default)
  ) {
    if (schema.default !== "") result.default = schema.default;
  }
  if (schema.items !== undefined) result.items = structural(schema.items, visit);
  if (schema.additionalProperties !== undefined) {
    result.additionalProperties = structural(schema.additionalProperties, visit);
  }
  if (isRecord(schema.properties)) {
    const required = new Set(Array.isArray(schema.required) ? schema.required : []);
    result.properties = Object.fromEntries(
      Object.entries(schema.properties).map(([name, property]) => [name, structural(property, visit)]),
    );
    // A name that is optional for the sake of old clients, and yet the key of lists.
    const { name } = schema.properties;
    if (isRecord(name) && name.default === "" && !required.has("name")) {
      Object.assign(result.properties as object, { name: { type: "string", default: "" } });
    }
  }
  return result;
}

function referenceIn(schema: Record<string, unknown>): string | undefined {
  const holder: unknown = Array.isArray(schema.allOf) ? schema.allOf[0] : schema;
  return isRecord(holder) && typeof holder.$ref === "string" ? holder.$ref.split("/").at(-1) : undefined;
}

const [folder] = process.argv.slice(2);
if (folder === undefined) throw new Error("give the folder api/openapi-spec/v3 of the Kubernetes sources");
main(folder);
