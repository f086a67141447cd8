import { z } from "zod";

import { sentencesOf } from "../api/zod-issues";
import { ownEntry } from "../plan/asked-namespaces";
import type { Answer } from "./answer";
import { namespaceName } from "./answer-fields";

/** A map with that many entries does not fit into an object of an API server. */
const MOST_ENTRIES = 20_000;

const mapAnswer = z.object({
  observedGeneration: z.int().min(0).optional(),
  currentMapping: z.record(z.string(), z.unknown()).optional(),
});

const entry = z.object({
  remoteNamespace: namespaceName().optional(),
  phase: z.enum(["Accepted", "CreationLoopBackOff", "Terminating"]).optional(),
});

/** What this cluster has of a NamespaceMap. */
interface MapSource {
  /** What it asks of the provider. */
  desired: Readonly<Record<string, string>>;
  /** What it knows of the provider's answer. */
  known: Readonly<Record<string, { remoteNamespace?: string | undefined; phase?: string | undefined }>>;
}

/**
 * What a provider answers to a NamespaceMap (offloading reference 2.2 and 4.4), entry by entry: one that is refused holds up no other, and stays what
 * it was. The provider accepts or fails what was asked, under the name that was asked. What is asked no more, or had another name, it may go on to
 * answer as it did before, and of anything it may say that it is on its way out.
 */
export function readMapAnswer(status: unknown, source: MapSource): Answer {
  const parsed = mapAnswer.safeParse(status);
  if (!parsed.success) return { status: undefined, refused: sentencesOf(parsed.error, status) };
  const { currentMapping, ...rest } = parsed.data;
  if (currentMapping === undefined) return { status: rest, refused: [] };
  const entries = Object.entries(currentMapping);
  if (entries.length > MOST_ENTRIES)
    return { status: undefined, refused: [`currentMapping: has more than ${MOST_ENTRIES} entries`] };
  const taken: [string, z.infer<typeof entry>][] = [];
  const refused: string[] = [];
  for (const [namespace, value] of entries) {
    const read = readEntry(namespace, value, source);
    if (typeof read === "string") {
      refused.push(read);
      const before = entry.safeParse(ownEntry(source.known, namespace));
      if (before.success) taken.push([namespace, before.data]);
    } else taken.push([namespace, read]);
  }
  return { status: { ...rest, currentMapping: Object.fromEntries(taken) }, refused };
}

/** @returns a sentence where the entry is refused */
function readEntry(namespace: string, value: unknown, source: MapSource): z.infer<typeof entry> | string {
  const at = `currentMapping[${JSON.stringify(namespace.slice(0, 63))}]`;
  if (!namespaceName().safeParse(namespace).success) return `${at}: is no name of a namespace`;
  const parsed = entry.safeParse(value);
  if (!parsed.success) {
    const [fault = "is not an entry of a map"] = sentencesOf(parsed.error, value);
    return `${at}.${fault}`;
  }
  const answer = parsed.data;
  const asked = ownEntry(source.desired, namespace);
  const known = ownEntry(source.known, namespace);
  const wasSaid = known?.phase === answer.phase && known?.remoteNamespace === answer.remoteNamespace;
  if (answer.phase === "Terminating" || wasSaid) return answer;
  if (asked === undefined) return `${at}: was not asked for`;
  if (answer.remoteNamespace !== undefined && answer.remoteNamespace !== asked)
    return `${at}.remoteNamespace: ${JSON.stringify(answer.remoteNamespace)} is not ${JSON.stringify(asked)}, which was asked for`;
  return answer;
}
