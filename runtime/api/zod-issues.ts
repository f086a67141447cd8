import type { z } from "zod";

import { describe } from "./object-envelope";

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
