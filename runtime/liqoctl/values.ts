/** Texts of flags, read. Each throws commander's error for a value that cannot be used. */
import { InvalidArgumentError } from "commander";

import { isQuantity } from "../api/quantity";

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
