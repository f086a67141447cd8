import type { z } from "zod";

import { describe } from "./object-envelope";

/** One sentence for each fault that zod found: the field's path, the value, what it should be, and the way out where the schema names one. */
export function sentencesOf(error: z.ZodError, value: unknown): string[] {
  return error.issues.map((issue) => {
    const path = pathText(issue.path);
    const found = valueAt(value, issue.path);
    const sentence = `${describe(found)} ${faultOf(issue, found)}`;
    return path === "" ? sentence : `${path}: ${sentence}`;
  });
}

function faultOf(issue: z.core.$ZodIssue, found: unknown): string {
  const missing = found === undefined;
  switch (issue.code) {
    case "invalid_type":
      return missing
        ? `and required; give ${withArticle(issue.expected)}`
        : `is not ${withArticle(issue.expected)}`;
    case "invalid_value":
      return `is not one of ${issue.values.map((allowed) => JSON.stringify(allowed)).join(", ")}`;
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

function withArticle(type: string): string {
  if (type === "array") return "a list";
  if (type === "record") return "an object";
  return `${/^[aeiou]/.test(type) ? "an" : "a"} ${type}`;
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
