import { z } from "zod";

import { messageOf } from "../kube";

/** Flags by their name in camel case; on the command line they are in kebab case. */
export type FlagSchema = z.ZodObject<Record<string, z.ZodType>>;

/**
 * Types of flags. Each takes what stood on the command line, a list with one text for each time that the flag was given, and makes one value
 * of it; of flags that hold one value the last text counts.
 */

const texts = z.array(z.string()).default([]);

function single<T>(fallback: T, read: (text: string) => T | undefined, form: string): z.ZodType<T> {
  return texts.transform((given, context): T => {
    const text = given.at(-1);
    if (text === undefined) return fallback;
    const value = read(text);
    if (value !== undefined) return value;
    context.addIssue({ code: "custom", message: `is ${JSON.stringify(text)}; ${form}` });
    return z.NEVER;
  });
}

/** A text; empty by default. */
export const text = (fallback = ""): z.ZodType<string> => single(fallback, (given) => given, "");

/** A text that must be given, of a form. */
export const required = (pattern: RegExp, form: string): z.ZodType<string> =>
  texts.transform((given, context): string => {
    const last = given.at(-1) ?? "";
    if (pattern.test(last)) return last;
    context.addIssue({
      code: "custom",
      message: given.length === 0 ? `is missing; ${form}` : `is ${JSON.stringify(last)}; ${form}`,
    });
    return z.NEVER;
  });

/** `true` or `false`; the flag alone means true. */
export const boolean = (fallback: boolean): z.ZodType<boolean> =>
  single(fallback, (given) => ({ true: true, "": true, false: false })[given], "write true or false");

/** A whole number in a range. */
export const integer = (
  fallback: number,
  minimum = 0,
  maximum = Number.MAX_SAFE_INTEGER,
): z.ZodType<number> =>
  single(
    fallback,
    (given) => {
      const number = /^-?\d+$/.test(given) ? Number(given) : Number.NaN;
      return number >= minimum && number <= maximum ? number : undefined;
    },
    maximum === Number.MAX_SAFE_INTEGER
      ? `write a whole number from ${minimum}`
      : `write a whole number from ${minimum} to ${maximum}`,
  );

const unitsMs: Readonly<Record<string, number>> = { ms: 1, s: 1000, m: 60_000, h: 3_600_000 };

/** A time in milliseconds, written as in `15s`, `1h30m` or `250ms`; `0` needs no unit. */
export const duration = (fallbackMs: number): z.ZodType<number> =>
  single(fallbackMs, parseDuration, "write a time such as 15s, 5m or 1h30m");

function parseDuration(given: string): number | undefined {
  if (given === "0") return 0;
  if (!/^(\d+(\.\d+)?(ms|s|m|h))+$/.test(given)) return undefined;
  let total = 0;
  for (const [, amount = "", unit = ""] of given.matchAll(/(\d+(?:\.\d+)?)(ms|s|m|h)/g)) {
    total += Number(amount) * (unitsMs[unit] ?? 0);
  }
  return total;
}

/** One of some words. */
export const oneOf = <const T extends string>(words: readonly T[], fallback: T): z.ZodType<T> =>
  single(fallback, (given) => words.find((word) => word === given), `write one of ${words.join(", ")}`);

/** Texts separated by commas, or the flag repeated. */
export const list = (): z.ZodType<string[]> =>
  texts.transform((given) =>
    given
      .flatMap((entry) => entry.split(","))
      .map((entry) => entry.trim())
      .filter((entry) => entry !== ""),
  );

/** Pairs `key=value` separated by commas, or the flag repeated. */
export const pairs = (): z.ZodType<Record<string, string>> =>
  texts.transform((given, context) => {
    const found: Record<string, string> = {};
    for (const entry of given.flatMap((one) => one.split(",")).filter((one) => one.trim() !== "")) {
      const equals = entry.indexOf("=");
      if (equals <= 0) {
        context.addIssue({ code: "custom", message: `has ${JSON.stringify(entry)}; write key=value` });
        return z.NEVER;
      }
      found[entry.slice(0, equals).trim()] = entry.slice(equals + 1).trim();
    }
    return found;
  });

/** A text in a form of its own, read by a function that throws on a faulty one. */
export const parsed = <T>(fallback: string, read: (text: string) => T): z.ZodType<T> =>
  texts.transform((given, context): T => {
    try {
      return read(given.at(-1) ?? fallback);
    } catch (error) {
      context.addIssue({ code: "custom", message: messageOf(error) });
      return z.NEVER;
    }
  });

/** A flag of upstream's that has no meaning here: accepted, so that its manifests run unchanged. */
export const ignored = (): z.ZodType<undefined> => texts.transform(() => undefined);
