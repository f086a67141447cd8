import { isRecord } from "../../api/invalid-object";
import { CommandError } from "../failure";

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
