import type { z } from "zod";

import type { StructuralSchema } from "./schema/structural-schema";

/** A value is not an object of the kind it should be. The message names the object, and for each field the value and the way out. */
export class InvalidObjectError extends Error {
  override readonly name = "InvalidObjectError";

  /**
   * @param subject what was read, such as `Tenant "liqo-tenant-rome/rome"`
   * @param issues one sentence for each fault, each beginning with the field's path
   */
  constructor(
    readonly subject: string,
    readonly issues: readonly string[],
    options?: ErrorOptions,
  ) {
    super(issues.map((issue) => `${subject}: ${issue}`).join("\n"), options);
  }
}

/** Names an object for an error text, from whatever can be read of it: `Tenant "liqo-tenant-rome/rome"`. */
export function subjectOf(kind: string, value: unknown): string {
  if (!isRecord(value) || !isRecord(value.metadata)) return kind;
  const { name, generateName, namespace } = value.metadata;
  const known =
    typeof name === "string" ? name : typeof generateName === "string" ? `${generateName}…` : undefined;
  if (known === undefined) return kind;
  return typeof namespace === "string" ? `${kind} "${namespace}/${known}"` : `${kind} "${known}"`;
}

/** Whether a value is an object with named fields (no list, no null). */
export function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

interface Expected {
  readonly apiVersion: string;
  readonly kind: string;
  /** Fields besides the metadata that an object of this kind always has. */
  readonly always?: readonly string[];
}

/**
 * Checks what every object of a kind has: `apiVersion`, `kind`, `metadata.name`, and that `spec` and `status` are objects where present.
 * Written by hand, without zod, because it runs for each watch event.
 *
 * @returns the same value, known to have named fields
 */
export function checkEnvelope(expected: Expected, value: unknown): Record<string, unknown> {
  const fault = envelopeFault(expected, value);
  if (fault === undefined && isRecord(value)) return value;
  throw new InvalidObjectError(subjectOf(expected.kind, value), [fault ?? "is not an object"]);
}

/** Checks `apiVersion` and `kind` alone, for objects that have no name (reviews). */
export function checkIdentity(expected: Expected, value: unknown): Record<string, unknown> {
  const fault = identityFault(expected, value);
  if (fault === undefined && isRecord(value)) return value;
  throw new InvalidObjectError(subjectOf(expected.kind, value), [fault ?? "is not an object"]);
}

function identityFault(expected: Expected, value: unknown): string | undefined {
  if (!isRecord(value)) return `is ${describe(value)}, not an object; give a whole ${expected.kind}`;
  if (value.kind !== expected.kind) {
    return `kind: is ${describe(value.kind)}; this place takes a ${expected.kind}`;
  }
  if (value.apiVersion !== expected.apiVersion) {
    return `apiVersion: is ${describe(value.apiVersion)}; write ${expected.apiVersion}`;
  }
  return undefined;
}

function envelopeFault(expected: Expected, value: unknown): string | undefined {
  const fault = identityFault(expected, value);
  if (fault !== undefined || !isRecord(value)) return fault;
  const { metadata } = value;
  if (!isRecord(metadata)) return `metadata: is ${describe(metadata)}, not an object; give at least a name`;
  if (typeof metadata.name !== "string" || metadata.name === "") {
    return `metadata.name: is ${describe(metadata.name)}; give the object's name`;
  }
  for (const field of expected.always ?? []) {
    if (!isRecord(value[field])) return `${field}: is ${describe(value[field])}, not an object`;
  }
  if (value.spec !== undefined && !isRecord(value.spec))
    return `spec: is ${describe(value.spec)}, not an object`;
  if (value.status !== undefined && !isRecord(value.status))
    return `status: is ${describe(value.status)}, not an object`;
  return undefined;
}

/** A value in a few characters, for an error text. */
export function describe(value: unknown): string {
  if (value === undefined) return "missing";
  if (Array.isArray(value)) return "a list";
  if (typeof value === "object" && value !== null) return "an object";
  const text = JSON.stringify(value) ?? typeof value;
  return text.length > 80 ? `${text.slice(0, 77)}…` : text;
}

/** One sentence for each fault that zod found: the field's path, the value, what it should be, and the way out where the schema names one. */
export function sentencesOf(error: z.ZodError, value: unknown): string[] {
  return error.issues.map((issue) => {
    const path = pathText(issue.path);
    const found = valueAt(value, issue.path);
    const fault = faultOf(issue, found == null);
    // A rule on a whole object speaks of its fields, so the object itself says nothing more.
    const ofFields = issue.code === "custom" || issue.code === "unrecognized_keys";
    const whole = found == null || (ofFields && typeof found === "object");
    const sentence = whole ? fault : `${describe(found)} ${fault}`;
    return path === "" ? sentence : `${path}: ${sentence}`;
  });
}

function faultOf(issue: z.core.$ZodIssue, missing: boolean): string {
  switch (issue.code) {
    case "invalid_type":
      return missing
        ? `is required; give ${typeText(issue.expected).replace(/[,;].*/, "")}`
        : `is not ${typeText(issue.expected)}`;
    case "invalid_value": {
      const allowed = issue.values.map((value) => JSON.stringify(value)).join(", ");
      return missing ? `is required; give one of ${allowed}` : `is not one of ${allowed}; take one of these`;
    }
    case "invalid_format":
      return ownText(issue) ?? `does not match ${issue.pattern ?? issue.format}`;
    case "too_small":
      return ownText(issue) ?? `is too small; the minimum is ${issue.minimum}${unitOf(issue.origin)}`;
    case "too_big":
      return ownText(issue) ?? `is too big; the maximum is ${issue.maximum}${unitOf(issue.origin)}`;
    case "unrecognized_keys":
      return `has unknown fields: ${issue.keys.join(", ")}; remove them`;
    case "invalid_union":
    case "custom":
    case "not_multiple_of":
    case "invalid_key":
    case "invalid_element":
      return issue.message;
  }
}

/** A text that the schema's author wrote, as opposed to zod's own. */
function ownText(issue: z.core.$ZodIssue): string | undefined {
  return /^(Invalid|Too)/.test(issue.message) ? undefined : issue.message;
}

function unitOf(origin: string): string {
  if (origin === "string") return " characters";
  return origin === "array" ? " items" : "";
}

function typeText(type: string): string {
  switch (type) {
    case "array":
      return "a list";
    case "record":
    case "object":
      return "an object";
    case "int":
      return "a whole number, without quotes";
    case "number":
      return "a number, without quotes";
    case "boolean":
      return "true or false, without quotes";
    case "string":
      return "a string; put it in quotes";
    default:
      return type;
  }
}

/** `spec.table.rules[0].dst` */
function pathText(path: readonly PropertyKey[]): string {
  return path.reduce<string>((text, step) => {
    if (typeof step === "number") return `${text}[${step}]`;
    const key = String(step);
    if (!/^[A-Za-z_][A-Za-z0-9_]*$/.test(key)) return `${text}[${JSON.stringify(key)}]`;
    return text === "" ? key : `${text}.${key}`;
  }, "");
}

function valueAt(value: unknown, path: readonly PropertyKey[]): unknown {
  return path.reduce<unknown>(
    (inner, step) =>
      typeof inner === "object" && inner !== null ? (inner as Record<PropertyKey, unknown>)[step] : undefined,
    value,
  );
}

/**
 * The fields of a value that its schema does not know, each as a sentence with the nearest known name. The API server would drop them or refuse
 * the object; who wrote them should hear of it before.
 */
export function unknownFields(value: unknown, schema: StructuralSchema, path = ""): string[] {
  if (Array.isArray(value)) {
    const { items } = schema;
    return items ? value.flatMap((item, index) => unknownFields(item, items, `${path}[${index}]`)) : [];
  }
  if (!isRecord(value) || schema["x-kubernetes-preserve-unknown-fields"] === true) return [];

  return Object.entries(value).flatMap(([name, field]) => {
    const inner = path === "" ? name : `${path}.${name}`;
    const known = schema.properties?.[name] ?? schema.additionalProperties;
    if (known) return unknownFields(field, known, inner);
    if (schema.type !== "object") return []; // a wrong type, which is another fault
    return [`${inner}: is no field${suggestion(name, Object.keys(schema.properties ?? {}))}`];
  });
}

function suggestion(name: string, known: readonly string[]): string {
  const [nearest] = known
    .map((candidate) => ({ candidate, steps: distance(name.toLowerCase(), candidate.toLowerCase()) }))
    .filter(({ candidate, steps }) => steps <= Math.max(2, candidate.length / 3))
    .sort((a, b) => a.steps - b.steps);
  if (nearest) return `; did you mean ${nearest.candidate}?`;
  return known.length === 0 ? "; remove it" : `; the fields here are ${known.join(", ")}`;
}

/** Levenshtein distance. */
function distance(from: string, to: string): number {
  let row = Array.from({ length: to.length + 1 }, (_, index) => index);
  for (let i = 1; i <= from.length; i++) {
    const next = [i];
    for (let j = 1; j <= to.length; j++) {
      const replaced = (row[j - 1] ?? 0) + (from[i - 1] === to[j - 1] ? 0 : 1);
      next.push(Math.min((row[j] ?? 0) + 1, (next[j - 1] ?? 0) + 1, replaced));
    }
    row = next;
  }
  return row[to.length] ?? 0;
}
