import { isRecord } from "../../runtime/api/invalid-object";

/**
 * The JSONPath that `kubectl` and the annotation `pulumi.com/waitFor` take, as far as fields of objects need it: `{.status.phase}`,
 * `{.spec.ports[0].nodePort}`, `{.metadata.annotations['a.b/c']}` or `{.metadata.annotations.a\.b/c}`, `{.items[*].name}`,
 * `{.status.conditions[?(@.type=="Ready")].status}`. The braces may be left out.
 */

type Step =
  | { kind: "field"; name: string }
  | { kind: "index"; index: number }
  | { kind: "all" }
  | { kind: "filter"; path: Step[]; equals: boolean; value: string };

/** A compiled path. */
export interface JsonPath {
  readonly text: string;
  /** Whether it leads into the status of an object. */
  readonly isOfStatus: boolean;
  /** What the path leads to, in order; empty where it leads nowhere. */
  select(root: unknown): unknown[];
}

export class JsonPathError extends Error {
  override name = "JsonPathError";
}

/** @throws JsonPathError that says where the path stops being one */
export function compileJsonPath(text: string): JsonPath {
  const trimmed = text.trim();
  const braced = trimmed.startsWith("{") && trimmed.endsWith("}");
  const inner = (braced ? trimmed.slice(1, -1) : trimmed).replace(/^\$/, "");
  const steps = parseSteps(inner, text);
  if (steps.length === 0)
    throw new JsonPathError(`"${text}" names no field; write for instance {.status.phase}`);
  const [first] = steps;
  const isOfStatus = first?.kind === "field" && first.name === "status";
  return { text, isOfStatus, select: (root) => select(steps, root) };
}

const patterns: [RegExp, (match: string[], text: string) => Step][] = [
  [/^\[(-?\d+)\]/, ([, index = ""]) => ({ kind: "index", index: Number(index) })],
  [/^\.?\[?\*\]?/, () => ({ kind: "all" })],
  [/^\['([^']+)'\]/, ([, name = ""]) => ({ kind: "field", name })],
  [/^\["([^"]+)"\]/, ([, name = ""]) => ({ kind: "field", name })],
  [
    /^\[\?\(\s*@((?:\.|\[)[^=!]*?)\s*(==|!=)\s*(?:"([^"]*)"|'([^']*)'|([\w.-]+))\s*\)\]/,
    ([, path = "", operator, double, single, bare], text) => ({
      kind: "filter",
      path: parseSteps(path, text),
      equals: operator === "==",
      value: double ?? single ?? bare ?? "",
    }),
  ],
  [/^\.((?:\\.|[^.[\]\s\\])+)/, ([, name = ""]) => ({ kind: "field", name: name.replace(/\\(.)/g, "$1") })],
];

function parseSteps(path: string, text: string): Step[] {
  const steps: Step[] = [];
  // `status.phase` without the leading dot is understood too.
  let rest = path === "" || /^[.[]/.test(path) ? path : `.${path}`;
  while (rest !== "") {
    const step = readStep(rest, text);
    if (step === undefined) {
      throw new JsonPathError(
        `"${text}" is not a path at "${rest}"; write for instance {.status.conditions[?(@.type=="Ready")].status}`,
      );
    }
    steps.push(step.step);
    rest = rest.slice(step.length);
  }
  return steps;
}

function readStep(rest: string, text: string): { step: Step; length: number } | undefined {
  for (const [pattern, make] of patterns) {
    const match = pattern.exec(rest);
    if (match !== null) return { step: make([...match], text), length: match[0].length };
  }
  return undefined;
}

function select(steps: readonly Step[], root: unknown): unknown[] {
  return steps.reduce<unknown[]>((found, step) => found.flatMap((value) => follow(step, value)), [root]);
}

function follow(step: Step, value: unknown): unknown[] {
  switch (step.kind) {
    case "field": {
      const field = isRecord(value) && Object.hasOwn(value, step.name) ? value[step.name] : undefined;
      return field === undefined || field === null ? [] : [field];
    }
    case "index": {
      const item: unknown = Array.isArray(value) ? value.at(step.index) : undefined;
      return item === undefined ? [] : [item];
    }
    case "all":
      return typeof value === "object" && value !== null ? Object.values(value) : [];
    case "filter": {
      if (!Array.isArray(value)) return [];
      return value.filter((item: unknown) => {
        const [found] = select(step.path, item);
        return (textOf(found) === step.value) === step.equals;
      });
    }
  }
}

/** A value as `kubectl -o jsonpath` prints it: scalars plainly, the rest as JSON. */
export function textOf(value: unknown): string {
  if (value === undefined || value === null) return "";
  return typeof value === "string" ? value : JSON.stringify(value);
}
