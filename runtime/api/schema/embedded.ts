import { z } from "zod";

import { isRecord } from "../invalid-object";
import { KUBERNETES_SCHEMAS } from "./kubernetes-schemas";
import { EMBEDDED, type StructuralSchema } from "./structural-schema";

type Referring = StructuralSchema & { $ref?: string };

let schemas: Record<string, Referring> | undefined;

/**
 * A Kubernetes type inside one of our kinds, such as the pod in a ShadowPod. Its structural schema is the API server's own; the
 * TypeScript type is the caller's, from `kubernetes-types`.
 *
 * @param name short name in `kubernetes-schemas.ts`, such as `core.PodSpec`
 */
export function embedded<T>(name: string): z.ZodType<T, T> {
  return z
    .custom<T>()
    .superRefine((value: unknown, context) => {
      for (const { path, message } of faultsOf(value, { $ref: name }, [])) {
        context.addIssue({ code: "custom", path, message, input: value });
      }
    })
    .meta({ [EMBEDDED]: name });
}

/** The structural schema of an embedded type, with everything it refers to in place. */
export function embeddedSchema(name: string): StructuralSchema {
  return inlined({ $ref: name });
}

function inlined(schema: Referring): StructuralSchema {
  const { properties, items, additionalProperties, ...rest } = resolve(schema);
  return {
    ...rest,
    ...(properties && {
      properties: Object.fromEntries(
        Object.entries(properties).map(([name, property]) => [name, inlined(property)]),
      ),
    }),
    ...(items && { items: inlined(items) }),
    ...(additionalProperties && { additionalProperties: inlined(additionalProperties) }),
  };
}

function resolve(schema: Referring): StructuralSchema {
  if (schema.$ref === undefined) return schema;
  schemas ??= JSON.parse(KUBERNETES_SCHEMAS) as Record<string, Referring>;
  const found = schemas[schema.$ref];
  if (found === undefined) {
    throw new Error(
      `no Kubernetes type ${schema.$ref}; add it to the roots in generate/kubernetes-schemas.ts`,
    );
  }
  return found;
}

interface Fault {
  path: PropertyKey[];
  message: string;
}

/** What a value has against a structural schema: wrong types, missing fields, patterns. Fields that the schema does not know are left to the API server. */
function faultsOf(value: unknown, schema: Referring, path: PropertyKey[]): Fault[] {
  const resolved = resolve(schema);
  if (value === undefined || value === null)
    return path.length === 0 ? [{ path, message: "is required" }] : [];
  if (resolved["x-kubernetes-int-or-string"] === true) return scalarFaults(value, resolved, path);

  switch (resolved.type) {
    case "object":
      return isRecord(value) ? objectFaults(value, resolved, path) : [mismatch("an object", path)];
    case "array":
      if (!Array.isArray(value)) return [mismatch("a list", path)];
      return value.flatMap((item, index) => faultsOf(item, resolved.items ?? {}, [...path, index]));
    case "string":
      return typeof value === "string" ? [] : [mismatch("a string; put it in quotes", path)];
    case "boolean":
      return typeof value === "boolean" ? [] : [mismatch("true or false, without quotes", path)];
    case "integer":
      return Number.isInteger(value) ? [] : [mismatch("a whole number, without quotes", path)];
    case "number":
      return typeof value === "number" ? [] : [mismatch("a number, without quotes", path)];
    case undefined:
      return [];
  }
}

function objectFaults(
  value: Record<string, unknown>,
  schema: StructuralSchema,
  path: PropertyKey[],
): Fault[] {
  const missing = (schema.required ?? [])
    .filter((name) => value[name] === undefined && schema.properties?.[name]?.default === undefined)
    .map((name) => ({ path: [...path, name], message: "is required" }));
  const inner = Object.entries(value).flatMap(([name, field]) =>
    faultsOf(field, schema.properties?.[name] ?? schema.additionalProperties ?? {}, [...path, name]),
  );
  return [...missing, ...inner];
}

function scalarFaults(value: unknown, schema: StructuralSchema, path: PropertyKey[]): Fault[] {
  if (typeof value !== "string" && !Number.isInteger(value)) {
    return [mismatch("a whole number or a string; put fractions and units in quotes", path)];
  }
  if (schema.pattern === undefined || new RegExp(schema.pattern).test(String(value))) return [];
  return [{ path, message: "is not a quantity; write a number with a unit, as in 500m or 2Gi" }];
}

function mismatch(expected: string, path: PropertyKey[]): Fault {
  return { path, message: `is not ${expected}` };
}
