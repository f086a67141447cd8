import { stringify } from "yaml";

import { isRecord } from "../api/invalid-object";
import { CommandError } from "./failure";
import type { OutputFormat } from "./options";

/** A value for machines: one document, ending in a line break. */
export function formatted(value: unknown, format: OutputFormat): string {
  return format === "json" ? `${JSON.stringify(value, null, 2)}\n` : stringify(value, { lineWidth: 0 });
}

/**
 * A field of a document by its path: `local.clusterid`, in any case, with or without a leading dot. Lists by number.
 *
 * @throws CommandError that names the part that is not there, and what is
 */
export function fieldAt(document: unknown, path: string): unknown {
  let value = document;
  const walked: string[] = [];
  for (const part of split(path)) {
    const keys = isRecord(value)
      ? Object.keys(value)
      : Array.isArray(value)
        ? value.map((_item, index) => String(index))
        : [];
    const key = keys.find((candidate) => candidate.toLowerCase() === part.toLowerCase());
    if (key === undefined || typeof value !== "object" || value === null) {
      throw new CommandError(
        `--get ${path}: ${walked.length === 0 ? "there" : walked.join(".")} is no field ${part}`.replace(
          /: (\S+) is no field/,
          (_all, at: string) => (at === "there" ? ": there is no field" : `: ${at} has no field`),
        ),
        keys.length === 0 ? undefined : `it has: ${keys.join(", ")}`,
      );
    }
    value = Reflect.get(value, key);
    walked.push(key);
  }
  return value;
}

/** Keys with dots, such as those of labels, stand in brackets: `local.labels[liqo.io/provider]`. */
function split(path: string): string[] {
  return [...path.replace(/^\./, "").matchAll(/\[([^\]]+)\]|([^.[\]]+)/g)].map(
    ([, bracketed, plain]) => bracketed ?? plain ?? "",
  );
}

const WIDTH = 80;

/** A section for people: its title, and its fields indented, nested ones by four more. */
export function section(title: string, value: unknown, indent = 0): string {
  const margin = " ".repeat(indent);
  const line = `${margin}┌─ ${title} `;
  const head = line + "─".repeat(Math.max(3, WIDTH - line.length));
  return [head, ...lines(value, indent + 2), ""].join("\n");
}

function lines(value: unknown, indent: number): string[] {
  const margin = " ".repeat(indent);
  if (Array.isArray(value)) {
    return value.flatMap((item: unknown) => {
      if (!isRecord(item)) return [`${margin}- ${scalar(item)}`];
      const [first = "", ...rest] = lines(item, indent + 2);
      return [`${margin}- ${first.trimStart()}`, ...rest];
    });
  }
  if (!isRecord(value)) return [`${margin}${scalar(value)}`];
  const entries = Object.entries(value).filter(([, field]) => field !== undefined);
  if (entries.length === 0) return [`${margin}none`];
  const width = Math.max(
    ...entries.map(([key, field]) => (typeof field === "object" ? 0 : label(key).length)),
  );
  return entries.flatMap(([key, field]) =>
    typeof field === "object" && field !== null
      ? [`${margin}${label(key)}:`, ...lines(field, indent + 4)]
      : [`${margin}${`${label(key)}:`.padEnd(width + 1)} ${scalar(field)}`],
  );
}

/** `podCIDRs` → `Pod CIDRs`; keys of maps, which have dots or dashes or capitals of their own, stay. */
function label(key: string): string {
  if (!/^[A-Za-z]+$/.test(key)) return key;
  const words = key.replace(/([a-z])([A-Z])/g, "$1 $2");
  return words.charAt(0).toUpperCase() + words.slice(1);
}

function scalar(value: unknown): string {
  return typeof value === "string" ? value : JSON.stringify(value);
}
