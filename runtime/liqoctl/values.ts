import { InvalidArgumentError } from "commander";
import type { NodeSelectorRequirement, NodeSelectorTerm } from "kubernetes-types/core/v1";

import { isQuantity } from "../api/quantity";
import { CommandError } from "./failure";

/** Texts of flags, read. Each throws commander's error for a value that cannot be used. */

const UNIT_MS: Readonly<Record<string, number>> = { ms: 1, s: 1_000, m: 60_000, h: 3_600_000 };

/** A time in milliseconds: `90s`, `10m`, `1h30m`. */
export function duration(text: string): number {
  if (!/^(\d+(\.\d+)?(ms|s|m|h))+$/.test(text))
    throw new InvalidArgumentError("Write a time such as 30s, 10m or 1h30m.");
  return [...text.matchAll(/(\d+(?:\.\d+)?)(ms|s|m|h)/g)].reduce(
    (total, [, amount = "", unit = ""]) => total + Number(amount) * (UNIT_MS[unit] ?? 0),
    0,
  );
}

/** `true` or `false`; the flag alone is true. */
export function boolean(text: string): boolean {
  if (text === "true") return true;
  if (text === "false") return false;
  throw new InvalidArgumentError("Write true or false.");
}

export function wholeNumber(text: string): number {
  if (!/^\d+$/.test(text)) throw new InvalidArgumentError("Write a whole number.");
  return Number(text);
}

export function quantity(text: string): string {
  if (!isQuantity(text))
    throw new InvalidArgumentError("Write a number with an optional suffix, such as 500m, 2 or 1.5Gi.");
  return text;
}

/** `name=value` pairs, by commas or by repetition of the flag. */
export function pairs(text: string, earlier: Record<string, string> = {}): Record<string, string> {
  const found = { ...earlier };
  for (const pair of text.split(",")) {
    const equals = pair.indexOf("=");
    if (equals <= 0) throw new InvalidArgumentError(`Write name=value; "${pair}" is none.`);
    found[pair.slice(0, equals).trim()] = pair.slice(equals + 1).trim();
  }
  return found;
}

/** As {@link pairs}, of amounts. */
export function quantities(text: string, earlier: Record<string, string> = {}): Record<string, string> {
  const found = pairs(text, earlier);
  Object.values(found).forEach(quantity);
  return found;
}

/** Words by commas, or by repetition of the flag. */
export function words(text: string, earlier: string[] = []): string[] {
  return [...earlier, ...text.split(",").map((word) => word.trim())].filter((word) => word !== "");
}

/** The flag repeated, each value as a whole. */
export function repeated(text: string, earlier: string[] = []): string[] {
  return [...earlier, text];
}

/**
 * A label selector as kubectl writes it (`region=europe,tier!=test,zone in (a, b),!spot`), as a term of a node selector: all of it must hold.
 *
 * @throws CommandError that names the part that is none
 */
export function selectorTerm(text: string, flag: string): NodeSelectorTerm {
  const parts = text.split(/,(?![^(]*\))/).map((part) => part.trim());
  return { matchExpressions: parts.map((part) => requirement(part, flag, text)) };
}

const KEY = String.raw`[A-Za-z0-9](?:[-\w./]*[A-Za-z0-9])?`;
const SET = new RegExp(String.raw`^(${KEY})\s+(in|notin)\s+\(([^()]*)\)$`);
const EQUAL = new RegExp(String.raw`^(${KEY})\s*(==|=|!=)\s*([-\w.]*)$`);
const EXISTS = new RegExp(String.raw`^(!?)\s*(${KEY})$`);

function requirement(part: string, flag: string, whole: string): NodeSelectorRequirement {
  const set = SET.exec(part);
  if (set !== null) {
    const values = (set[3] ?? "").split(",").map((value) => value.trim());
    return { key: set[1] ?? "", operator: set[2] === "in" ? "In" : "NotIn", values };
  }
  const equal = EQUAL.exec(part);
  if (equal !== null)
    return { key: equal[1] ?? "", operator: equal[2] === "!=" ? "NotIn" : "In", values: [equal[3] ?? ""] };
  const exists = EXISTS.exec(part);
  if (exists !== null)
    return { key: exists[2] ?? "", operator: exists[1] === "!" ? "DoesNotExist" : "Exists" };
  throw new CommandError(
    `${flag} "${whole}": "${part}" is no requirement`,
    "write key=value, key!=value, key in (a,b), key notin (a,b), key or !key, by commas",
  );
}
