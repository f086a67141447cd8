import type { FirewallConfiguration, Kind, RouteConfiguration } from "../../api";
import { isConflict, isForbidden, isInvalid, isNotFound, keyOf, timestamp } from "../../kube";
import type { AgentContext } from "./agent";

type Applicable = FirewallConfiguration | RouteConfiguration;
type Conditions = NonNullable<NonNullable<Applicable["status"]>["conditions"]>;
type Condition = Conditions[number];

/** How often an object that others write at the same time is read anew. */
const ATTEMPTS = 5;
/** Reports that are under way at once. */
const AT_ONCE = 16;

/**
 * Reports on several configurations. A report that fails never holds up what it is about. A gateway may not report everywhere: where it is refused,
 * nothing is missing.
 *
 * @returns whether all of it is written
 */
export async function reportAll<T extends Applicable>(
  agent: AgentContext,
  kind: Kind<T>,
  outcomes: readonly { object: T; fault?: Error }[],
): Promise<boolean> {
  let complete = true;
  const next = outcomes.values();
  const report = async () => {
    for (const { object, fault } of next) {
      const { namespace } = object.metadata;
      if (agent.refused.isRefused(namespace)) continue;
      try {
        await reportApplied(agent, kind, object, fault === undefined);
        agent.refused.accept(namespace);
      } catch (error) {
        if (isForbidden(error)) {
          if (agent.refused.refuse(namespace)) {
            agent.runtime.log.info("no conditions are written in a namespace", { namespace, error });
          }
          continue;
        }
        complete = false;
        agent.runtime.log.warn("condition not written", { object: keyOf(object), error });
      }
    }
  };
  await Promise.all(Array.from({ length: AT_ONCE }, report));
  return complete;
}

/**
 * Says on a configuration whether this agent has applied it: one condition for each agent, written where it changes. Agents on many nodes write
 * the same list, so each touches only its own entry.
 */
async function reportApplied<T extends Applicable>(
  { runtime, host, reports, reported }: AgentContext,
  kind: Kind<T>,
  object: T,
  applied: boolean,
): Promise<void> {
  if (!reports()) return;
  const { client, clock } = runtime;
  const uid = object.metadata.uid ?? "";
  let current: T | undefined = object;
  const last = reported.get(uid);
  if (last !== undefined && isNewer(last.version, object.metadata.resourceVersion)) {
    // The cache does not have our last write yet.
    if (last.applied === applied && last.generation === object.metadata.generation) return;
    current = await client.get(kind, object.metadata);
  }
  for (let attempt = 1; current !== undefined; attempt++) {
    if (current.metadata.uid !== uid) return;
    // It is about the spec that was applied, which may be older than what the API server has by now.
    const { generation } = object.metadata;
    const seen = { ...current, metadata: { ...current.metadata, generation } };
    const body = conditionPatch(seen, host, applied, timestamp(clock));
    if (body === undefined) return;
    try {
      const type = Array.isArray(body) ? "json" : "merge";
      const { metadata } = await client.patch(kind, current.metadata, body, { type, subresource: "status" });
      reported.set(uid, { applied, generation, version: metadata.resourceVersion ?? "" });
      return;
    } catch (error) {
      if (isNotFound(error)) return;
      if (attempt >= ATTEMPTS || !(isConflict(error) || isInvalid(error))) throw error;
      current = await client.get(kind, current.metadata);
    }
  }
}

/** Versions are numbers that grow. */
function isNewer(version: string, than: string | undefined): boolean {
  const number = (text: string | undefined) => (/^\d+$/.test(text ?? "") ? BigInt(text ?? 0) : 0n);
  return number(version) > number(than);
}

/** What to write; undefined where it is there. A JSON patch touches one entry, a merge patch makes the list. */
export function conditionPatch(
  { metadata, status }: Applicable,
  host: string,
  applied: boolean,
  now: string,
): object[] | object | undefined {
  const entry: Condition = {
    host,
    type: "Applied",
    status: applied ? "True" : "False",
    ...(metadata.generation === undefined ? {} : { observedGeneration: metadata.generation }),
    lastTransitionTime: now,
  };
  const conditions = status?.conditions ?? [];
  const own = conditions.flatMap((condition, index) => (condition.host === host ? [index] : []));
  const [index, ...more] = own;
  if (conditions.length === 0 || more.length > 0) {
    const others = conditions.filter((condition) => condition.host !== host);
    const { uid, resourceVersion } = metadata;
    return { metadata: { uid, resourceVersion }, status: { conditions: [...others, entry] } };
  }
  if (index === undefined) return [{ op: "add", path: "/status/conditions/-", value: entry }];
  const present = conditions[index];
  if (present?.type === entry.type && present.status === entry.status) {
    if (present.observedGeneration === entry.observedGeneration) return undefined;
    entry.lastTransitionTime = present.lastTransitionTime;
  }
  const path = `/status/conditions/${index}`;
  return [
    { op: "test", path: `${path}/host`, value: host },
    { op: "replace", path, value: entry },
  ];
}

/** After this time a namespace is tried again: rights that are given late are used. */
const PAUSE_MS = 60_000;

/**
 * The namespaces in which an agent may not report. A gateway has rights in its own namespace and in the Liqo namespace alone, and carries out
 * configurations that are elsewhere all the same: what peers reach at an address of this cluster is in the namespace of that address. Each report
 * there would be refused, after each pass, for each object.
 */
export class RefusedNamespaces {
  private readonly refusedAt = new Map<string, number>();

  /** @param now monotonic, in milliseconds */
  constructor(private readonly now: () => number) {}

  /** Whether a report is not worth a request. */
  isRefused(namespace: string | undefined): boolean {
    const at = this.refusedAt.get(namespace ?? "");
    return at !== undefined && this.now() - at < PAUSE_MS;
  }

  /**
   * Takes down that a report was refused.
   *
   * @returns whether it is the first time since one was taken, so that it is worth a line in the log
   */
  refuse(namespace: string | undefined): boolean {
    const isFirst = !this.refusedAt.has(namespace ?? "");
    this.refusedAt.set(namespace ?? "", this.now());
    return isFirst;
  }

  /** Takes down that a report was taken. */
  accept(namespace: string | undefined): void {
    this.refusedAt.delete(namespace ?? "");
  }
}
