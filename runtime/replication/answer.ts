import { type Kind, NamespaceMap, Renew, ResourceSlice } from "../api";
import { isRecord } from "../api/invalid-object";
import type { Replicable } from "./copy";
import { readMapAnswer } from "./mapping-answer";
import { readRenewAnswer, readSliceAnswer } from "./slice-answer";

/** What a provider says in the status of a copy, as far as it may. */
export interface Answer {
  /** What the source may take over; undefined where nothing of it is usable, and the source keeps what it has. */
  status: Record<string, unknown> | undefined;
  /** What was refused, a sentence each, with the field's path first. No secret is quoted. */
  refused: string[];
}

/** Characters of JSON. An API server takes objects of one and a half million at most, and the source holds more than the status. */
const LONGEST_STATUS = 1024 * 1024;

/**
 * Reads the status of a copy. The provider is a stranger: it owns the API server that answers, so not even the schema of the kind holds there. Fields
 * that nobody knows are left out.
 *
 * @param source as the provider is to see it
 */
export function readAnswer(kind: Kind<Replicable>, source: Replicable, copy: Replicable): Answer {
  const { status } = copy;
  if (!isRecord(status)) return { status: {}, refused: [] };
  const length = JSON.stringify(status).length;
  if (length > LONGEST_STATUS) {
    const fault = `has ${length} characters; the maximum is ${LONGEST_STATUS}`;
    return { status: undefined, refused: [fault] };
  }
  switch (kind.plural) {
    case ResourceSlice.plural:
      return readSliceAnswer(status);
    case Renew.plural:
      return readRenewAnswer(status);
    case NamespaceMap.plural:
      return readMapAnswer(status, mapSourceOf(source));
    default:
      throw new Error(`${kind.plural}: nothing says what a provider may answer`);
  }
}

function mapSourceOf({ spec, status }: Replicable): Parameters<typeof readMapAnswer>[1] {
  const desired = isRecord(spec) && isRecord(spec.desiredMapping) ? spec.desiredMapping : {};
  const known = isRecord(status) && isRecord(status.currentMapping) ? status.currentMapping : {};
  return {
    desired: texts(desired),
    known: Object.fromEntries(
      Object.entries(known).map(([namespace, entry]) => [namespace, isRecord(entry) ? texts(entry) : {}]),
    ),
  };
}

function texts(entries: Readonly<Record<string, unknown>>): Record<string, string> {
  return Object.fromEntries(
    Object.entries(entries).filter((entry): entry is [string, string] => typeof entry[1] === "string"),
  );
}

const TOLD_FAULTS = 5;

/** One message of all that was refused of an object's answer, short enough for an event; the same in any order of the provider's fields. */
export function refusalMessage(clusterId: string, { status, refused }: Answer): string {
  const shown = [...refused]
    .sort()
    .slice(0, TOLD_FAULTS)
    .map((fault) => (fault.length > 160 ? `${fault.slice(0, 159)}…` : fault));
  const more = refused.length - shown.length;
  const rest = more > 0 ? `; and ${more} more` : "";
  const kept = status === undefined ? "nothing of it is taken over" : "the rest is taken over";
  return `cluster "${clusterId}" answers what it may not, and ${kept}: status.${shown.join("; status.")}${rest}; its administrator has to put it right there`;
}
