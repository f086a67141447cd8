import type { KubeObject } from "../../runtime/api";
import { isRecord } from "../../runtime/api/invalid-object";
import { compileJsonPath, type JsonPath, textOf } from "./json-path";

/** What is to become true of an object. */
export type Expectation =
  | { kind: "condition"; type: string; status: string; reason?: string | undefined }
  | { kind: "field"; path: JsonPath; equals?: string | undefined }
  | { kind: "absence" };

/** What an object says about an expectation at one moment. */
export type Verdict =
  | { is: "met"; /** The field's value; empty for other expectations. */ value: string }
  | { is: "open"; /** What was seen instead, in a few words. */ seen: string };

/** Judges an object, or its absence. */
export function judge(object: KubeObject | undefined, expectation: Expectation): Verdict {
  if (expectation.kind === "absence") {
    if (object === undefined) return { is: "met", value: "" };
    const leaving = object.metadata.deletionTimestamp
      ? `, being deleted, held by ${finalizersOf(object)}`
      : "";
    return { is: "open", seen: `still there${leaving}` };
  }
  if (object === undefined) return { is: "open", seen: "does not exist" };
  return expectation.kind === "field" ? judgeField(object, expectation) : judgeCondition(object, expectation);
}

/** The expectation in words: `condition Ready=True`. */
export function inWords(expectation: Expectation): string {
  switch (expectation.kind) {
    case "absence":
      return "its absence";
    case "condition":
      return `condition ${expectation.type}=${expectation.status}${expectation.reason ? ` with reason ${expectation.reason}` : ""}`;
    case "field":
      return `field ${expectation.path.text}${expectation.equals === undefined ? "" : `=${expectation.equals}`}`;
  }
}

function judgeField(object: KubeObject, { path, equals }: Expectation & { kind: "field" }): Verdict {
  const stale = path.isOfStatus ? staleStatus(object) : undefined;
  if (stale !== undefined) return { is: "open", seen: stale };
  const value = path.select(object).map(textOf).join(" ");
  if (equals === undefined ? value !== "" : value === equals) return { is: "met", value };
  if (value === "") return { is: "open", seen: `${path.text} is not set` };
  // Values of Secrets stay out of texts.
  return {
    is: "open",
    seen: `${path.text} is ${object.kind === "Secret" ? "another value" : shorten(value)}`,
  };
}

const observedGeneration = compileJsonPath("{.status.observedGeneration}");

/**
 * Says that a status is about an older spec than the present one, of which it tells nothing; undefined where it is about the present one. One that
 * tells no generation is taken as it stands.
 */
export function staleStatus(object: KubeObject): string | undefined {
  const generation = object.metadata.generation ?? 0;
  const observed = Number(textOf(observedGeneration.select(object)[0]) || generation);
  return observed < generation
    ? `its status is about generation ${observed}, the object is at ${generation}`
    : undefined;
}

function judgeCondition(object: KubeObject, wanted: Expectation & { kind: "condition" }): Verdict {
  const condition = conditionsOf(object).find(({ type }) => type === wanted.type);
  if (condition === undefined) return { is: "open", seen: `has no condition ${wanted.type} yet` };
  if (
    condition.status !== wanted.status ||
    (wanted.reason !== undefined && condition.reason !== wanted.reason)
  ) {
    return { is: "open", seen: describeCondition(condition) };
  }
  // A condition of an older spec says nothing about the present one; one without a generation is taken as it stands.
  const generation = object.metadata.generation ?? 0;
  const observed =
    condition.observedGeneration ?? Number(textOf(observedGeneration.select(object)[0]) || generation);
  if (observed < generation) {
    return {
      is: "open",
      seen: `${wanted.type}=${wanted.status} is about generation ${observed}, the object is at ${generation}`,
    };
  }
  return { is: "met", value: "" };
}

export interface Condition {
  type: string;
  status: string;
  reason?: string;
  message?: string;
  observedGeneration?: number;
}

const conditionList = compileJsonPath("{.status.conditions[*]}");

/** The conditions in an object's status, as far as they have a type and a status. */
export function conditionsOf(object: KubeObject | undefined): Condition[] {
  return conditionList.select(object).flatMap((entry) => {
    if (!isRecord(entry)) return [];
    const { type, status, reason, message, observedGeneration: observed } = entry;
    if (typeof type !== "string" || typeof status !== "string") return [];
    return [
      {
        type,
        status,
        ...(typeof reason === "string" && { reason }),
        ...(typeof message === "string" && { message }),
        ...(typeof observed === "number" && { observedGeneration: observed }),
      },
    ];
  });
}

/** `Ready=False (Pending): no address yet` */
export function describeCondition({ type, status, reason, message }: Condition): string {
  return `${type}=${status}${reason ? ` (${reason})` : ""}${message ? `: ${shorten(message)}` : ""}`;
}

function finalizersOf(object: KubeObject): string {
  return object.metadata.finalizers?.join(", ") || "no finalizer";
}

function shorten(text: string): string {
  return text.length > 200 ? `${text.slice(0, 199)}…` : text;
}
