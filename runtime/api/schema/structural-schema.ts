import { z } from "zod";

import { isRecord } from "../invalid-object";

/** The key in a zod schema's metadata that holds the name of an embedded Kubernetes type. */
export const EMBEDDED = "x-embedded";

/** The key in a list's metadata by which the API server also takes a single item in place of the list. */
export const ONE_OR_MANY = "x-one-or-many";

/** A node of a structural schema, as `apiextensions.k8s.io/v1` takes it. */
export interface StructuralSchema {
  type?: "object" | "array" | "string" | "integer" | "number" | "boolean";
  description?: string;
  format?: string;
  default?: NonNullable<unknown>;
  enum?: NonNullable<unknown>[];
  nullable?: boolean;
  properties?: Record<string, StructuralSchema>;
  additionalProperties?: StructuralSchema;
  required?: string[];
  items?: StructuralSchema;
  pattern?: string;
  minLength?: number;
  maxLength?: number;
  minimum?: number;
  maximum?: number;
  minItems?: number;
  maxItems?: number;
  minProperties?: number;
  maxProperties?: number;
  anyOf?: StructuralSchema[];
  "x-kubernetes-int-or-string"?: boolean;
  "x-kubernetes-preserve-unknown-fields"?: boolean;
  "x-kubernetes-embedded-resource"?: boolean;
  "x-kubernetes-list-type"?: "atomic" | "set" | "map";
  "x-kubernetes-list-map-keys"?: string[];
  "x-kubernetes-map-type"?: "atomic" | "granular";
  "x-kubernetes-validations"?: ValidationRule[];
}

/** A rule in CEL that the API server evaluates. */
export interface ValidationRule {
  rule: string;
  /** What is wrong and what to do. */
  message: string;
  /** CEL that gives the message with the value in it, in one line; where it fails, people read `message`. */
  messageExpression?: string;
}

/** What stands in for an embedded Kubernetes type: its schema in a CRD, its name in a reference page. */
type Embed = (name: string) => StructuralSchema;

/** The order in which a node's keys are written. */
const KEYS = [
  "description",
  "type",
  "format",
  "enum",
  "default",
  "nullable",
  "pattern",
  "minLength",
  "maxLength",
  "minimum",
  "maximum",
  "minItems",
  "maxItems",
  "minProperties",
  "maxProperties",
  "anyOf",
  "items",
  "additionalProperties",
  "properties",
  "required",
  "x-kubernetes-int-or-string",
  "x-kubernetes-preserve-unknown-fields",
  "x-kubernetes-list-type",
  "x-kubernetes-list-map-keys",
  "x-kubernetes-map-type",
  "x-kubernetes-validations",
] as const;

/** Bounds that zod gives to every integer; the format says as much. */
const INTEGER_BOUNDS: unknown[] = [Number.MIN_SAFE_INTEGER, Number.MAX_SAFE_INTEGER, -2147483648, 2147483647];

/**
 * The structural schema of a zod schema, as it describes what people write: fields with a default are optional.
 *
 * @throws if zod uses a keyword that a structural schema cannot hold
 */
export function structuralSchema(schema: z.ZodType, embed: Embed): StructuralSchema {
  return convert(
    z.toJSONSchema(schema, { target: "openapi-3.0", io: "input", unrepresentable: "any" }),
    embed,
  );
}

function convert(node: unknown, embed: Embed): StructuralSchema {
  if (!isRecord(node)) throw new Error(`not a schema: ${JSON.stringify(node)}`);
  if (node[ONE_OR_MANY] === true) return oneOrMany(node, embed);
  const { [EMBEDDED]: embeddedName, ...own } = node;
  const found: Record<string, unknown> = {
    ...(typeof embeddedName === "string" ? embed(embeddedName) : {}),
    ...own,
  };

  const result: Record<string, unknown> = {};
  for (const key of KEYS) {
    const value = found[key];
    if (value === undefined || isIntegerBound(key, value)) continue;
    result[key] = typeof embeddedName === "string" ? value : convertPart(key, value, embed);
  }
  if (result["x-kubernetes-preserve-unknown-fields"] === true) delete result.additionalProperties;
  for (const key of Object.keys(found)) {
    if (!KEYS.some((known) => known === key) && found[key] !== false && key !== EMBEDDED) {
      throw new Error(`a structural schema cannot hold ${key}: ${JSON.stringify(found[key])}`);
    }
  }
  return result;
}

/** Without a type, the format holds for a single string and the items for a list. Maps are refused; numbers are left to the readers. */
function oneOrMany({ [ONE_OR_MANY]: _, ...list }: Record<string, unknown>, embed: Embed): StructuralSchema {
  const { type: _type, items, ...rest } = convert(list, embed);
  return {
    ...rest,
    format: items?.format,
    maxProperties: 0,
    items,
    "x-kubernetes-preserve-unknown-fields": true,
  };
}

function convertPart(key: string, value: unknown, embed: Embed): unknown {
  if (key === "items" || key === "additionalProperties") return convert(value, embed);
  if (key === "properties" && isRecord(value)) {
    return Object.fromEntries(
      Object.entries(value).map(([name, property]) => [name, convert(property, embed)]),
    );
  }
  return value;
}

function isIntegerBound(key: string, value: unknown): boolean {
  return (key === "minimum" || key === "maximum") && INTEGER_BOUNDS.includes(value);
}
