import { TemplateError } from "./tokens";

/**
 * What templates work on. A record is a Go struct: it has its fields and no others. A Map is a Go map: any key may be missing. Null is a
 * pointer to nothing.
 */
export type TemplateValue =
  string | number | boolean | null | TemplateValue[] | ReadonlyMap<string, TemplateValue> | TemplateStruct;

export interface TemplateStruct {
  [field: string]: TemplateValue;
}

/** Undefined is a missing key of a map. It counts as nothing, and is printed as Go prints it. */
export type Evaluated = TemplateValue | undefined;

export function isMap(value: Evaluated): value is ReadonlyMap<string, TemplateValue> {
  return value instanceof Map;
}

export function isStruct(value: Evaluated): value is TemplateStruct {
  return typeof value === "object" && value !== null && !Array.isArray(value) && !isMap(value);
}

/** Whether a value counts as true: it is not zero, empty or nothing. */
export function isTrue(value: Evaluated): boolean {
  if (Array.isArray(value)) return value.length > 0;
  if (isMap(value)) return value.size > 0;
  return isStruct(value) || Boolean(value);
}

/** A value as it is written into the text. */
export function printed(value: Evaluated): string {
  if (value === undefined) return "<no value>";
  if (value === null) return "<nil>";
  if (typeof value !== "object") return String(value);
  if (Array.isArray(value)) return `[${value.map(printed).join(" ")}]`;
  if (isMap(value)) {
    const keys = [...value.keys()].sort();
    return `map[${keys.map((key) => `${key}:${printed(value.get(key))}`).join(" ")}]`;
  }
  throw new TemplateError(
    `a whole object cannot be written out; name one of ${Object.keys(value).join(", ")}`,
  );
}

export function describe(value: Evaluated): string {
  if (value === undefined) return "no value";
  if (value === null) return "nil";
  if (Array.isArray(value)) return "a list";
  if (isMap(value)) return "a map";
  return isStruct(value) ? "an object" : `the ${typeof value} ${JSON.stringify(value)}`;
}

/** The functions of templates, with Go's meaning; `and` and `or` are the evaluator's, since they leave out operands. */
export const FUNCTIONS: Readonly<Record<string, (...operands: Evaluated[]) => Evaluated>> = {
  not: (...operands) => {
    const [value] = exactly("not", 1, operands);
    return !(Array.isArray(value) ? value.length > 0 : isMap(value) ? value.size > 0 : Boolean(value));
  },
  len: (...operands) => {
    const [value] = exactly("len", 1, operands);
    if (typeof value === "string") return Buffer.byteLength(value);
    if (Array.isArray(value)) return value.length;
    if (isMap(value)) return value.size;
    throw new TemplateError(`len of ${describe(value)}`);
  },
  index: (container, ...keys) => keys.reduce(indexed, container),
  eq: (first, ...others) => {
    if (others.length === 0) throw new TemplateError("eq needs something to compare with");
    return others.some((other) => equal(first, other));
  },
  ne: (...operands) => !equal(...pair("ne", operands)),
  lt: (...operands) => order(...pair("lt", operands)) < 0,
  le: (...operands) => order(...pair("le", operands)) <= 0,
  gt: (...operands) => order(...pair("gt", operands)) > 0,
  ge: (...operands) => order(...pair("ge", operands)) >= 0,
  print: (...operands) => joined(operands),
  println: (...operands) => `${operands.map(printed).join(" ")}\n`,
  printf: (format, ...operands) => {
    if (typeof format !== "string") throw new TemplateError(`printf with ${describe(format)} for its format`);
    return formatted(format, operands);
  },
};

function exactly(name: string, count: number, operands: Evaluated[]): Evaluated[] {
  if (operands.length !== count)
    throw new TemplateError(`${name} takes ${count} operands, not ${operands.length}`);
  return operands;
}

function pair(name: string, operands: Evaluated[]): [Evaluated, Evaluated] {
  const [a, b] = exactly(name, 2, operands);
  return [a, b];
}

function indexed(container: Evaluated, key: Evaluated): Evaluated {
  if (isMap(container) && typeof key === "string") return container.get(key) ?? "";
  if (typeof key === "number" && Array.isArray(container)) {
    const item = container[key];
    if (item !== undefined) return item;
    throw new TemplateError(`index ${key} of a list with ${container.length} items`);
  }
  throw new TemplateError(`index of ${describe(container)} by ${describe(key)}`);
}

function equal(a: Evaluated, b: Evaluated): boolean {
  if (a === null || b === null || a === undefined || b === undefined) return (a ?? null) === (b ?? null);
  if (typeof a === "object" || typeof b === "object") {
    throw new TemplateError(`cannot compare ${describe(a)} and ${describe(b)}`);
  }
  if (typeof a !== typeof b) throw new TemplateError(`cannot compare ${describe(a)} and ${describe(b)}`);
  return a === b;
}

function order(a: Evaluated, b: Evaluated): number {
  if (typeof a === "number" && typeof b === "number") return a - b;
  if (typeof a === "string" && typeof b === "string") return Buffer.compare(Buffer.from(a), Buffer.from(b));
  throw new TemplateError(`cannot order ${describe(a)} and ${describe(b)}`);
}

/** With a space between two operands that are both no strings. */
function joined(operands: Evaluated[]): string {
  return operands.reduce<string>((text, value, index) => {
    const before = operands[index - 1];
    const space = index > 0 && typeof value !== "string" && typeof before !== "string" ? " " : "";
    return text + space + printed(value);
  }, "");
}

function formatted(format: string, operands: Evaluated[]): string {
  let next = 0;
  const text = format.replace(/%(.?)/gs, (verb, letter: string) => {
    if (letter === "%") return "%";
    const value = operands[next];
    if (next >= operands.length)
      throw new TemplateError(`printf has no operand for ${verb} in ${JSON.stringify(format)}`);
    next += 1;
    if (letter === "v" || (letter === "s" && typeof value === "string")) return printed(value);
    if (letter === "d" && Number.isInteger(value)) return printed(value);
    if (letter === "t" && typeof value === "boolean") return printed(value);
    if (letter === "q" && typeof value === "string") return JSON.stringify(value);
    throw new TemplateError(`printf cannot write ${describe(value)} as ${verb}; use %v, %s, %d, %t or %q`);
  });
  if (next < operands.length)
    throw new TemplateError(`printf has more operands than ${JSON.stringify(format)} asks for`);
  return text;
}
