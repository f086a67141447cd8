import type { NodeSelectorRequirement, NodeSelectorTerm } from "kubernetes-types/core/v1";

import { CommandError } from "./failure";

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
