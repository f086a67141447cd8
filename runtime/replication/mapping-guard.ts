import { ConditionReason, EventReason, type Kind, Name, NamespaceMap, NamespaceOffloading } from "../api";
import { isRecord } from "../api/invalid-object";
import { conditionStatus, type EventRecorder, type KubeClient } from "../kube";
import { namespaceName } from "./answer";
import type { Replicable } from "./copy";

const TAKEN: string = ConditionReason.remoteNamespaceTaken;

/** Where an edit by hand stands no longer than a moment, and where the offloading does not come to undo it. */
const FIRST_LOOK_MS = 250;
const LAST_LOOK_MS = 5_000;
/** From then on it is told. */
const TELL_AFTER_MS = 3_000;
/** More NamespaceOffloadings are listed. */
const ASKED_ONE_BY_ONE = 16;

/** A namespace that a map takes from its peer, or gives another name there. */
interface Withdrawal {
  /** The namespace here. */
  namespace: string;
  /** Its new name at the peer; undefined where it is to have none. */
  remoteName: string | undefined;
}

interface Guarded {
  /** The source as the peer is to see it for now. */
  source: Replicable;
  /** When to look again; undefined where nothing is withheld. */
  againAfterMs: number | undefined;
}

/**
 * Withholds from a peer what a NamespaceMap takes back without the consent of the namespace's NamespaceOffloading: the peer deletes a namespace
 * that is mapped no more with all that runs in it, and an edit by hand is put back a moment later.
 */
export class MappingGuard {
  private readonly withheldSince = new Map<string, number>();

  constructor(
    private readonly options: {
      local: KubeClient;
      remoteClusterId: string;
      events: EventRecorder | undefined;
      /** Milliseconds that only grow. */
      monotonic: () => number;
    },
  ) {}

  /** @param copy undefined where it is not known */
  async guard(kind: Kind<Replicable>, source: Replicable, copy: Replicable | undefined): Promise<Guarded> {
    const { name } = source.metadata;
    if (kind.plural !== NamespaceMap.plural) return { source, againAfterMs: undefined };
    const withheld = await this.withheld(source, copy);
    if (withheld.length === 0) {
      this.withheldSince.delete(name);
      return { source, againAfterMs: undefined };
    }
    const now = this.options.monotonic();
    const since = this.withheldSince.get(name) ?? now;
    this.withheldSince.set(name, since);
    const waited = now - since;
    if (waited >= TELL_AFTER_MS) this.tell(source, withheld);
    const againAfterMs = Math.min(Math.max(waited, FIRST_LOOK_MS), LAST_LOOK_MS);
    return { source: withEntriesOf(source, copy, withheld), againAfterMs };
  }

  private async withheld(source: Replicable, copy: Replicable | undefined): Promise<string[]> {
    if (copy === undefined || source.metadata.deletionTimestamp || copy.metadata.deletionTimestamp) return [];
    const withdrawn = withdrawals(source, copy);
    const offloadings = await this.offloadingsOf(withdrawn.map(({ namespace }) => namespace));
    return withdrawn
      .filter((each) => !consents(offloadings.get(each.namespace), source.metadata.name, each))
      .map(({ namespace }) => namespace);
  }

  /** Asked of the API server. The copy is the peer's to edit: however many namespaces it names there, they cost one request or a few. */
  private async offloadingsOf(namespaces: readonly string[]): Promise<Map<string, NamespaceOffloading>> {
    const { local } = this.options;
    const { namespaceOffloading: name } = Name;
    const found =
      namespaces.length > ASKED_ONE_BY_ONE
        ? (await local.list(NamespaceOffloading)).filter(({ metadata }) => metadata.name === name)
        : await Promise.all(
            namespaces
              .filter((namespace) => namespaceName().safeParse(namespace).success)
              .map((namespace) => local.get(NamespaceOffloading, { name, namespace })),
          );
    return new Map(
      found.flatMap((offloading) =>
        offloading === undefined ? [] : [[offloading.metadata.namespace ?? "", offloading] as const],
      ),
    );
  }

  private tell(source: Replicable, namespaces: readonly string[]): void {
    const listed = namespaces
      .map((namespace) => `"${namespace}"`)
      .sort()
      .join(", ");
    this.options.events?.warning(
      source,
      EventReason.mappingWithheld,
      `spec.desiredMapping takes back or renames ${listed}, and the NamespaceOffloading there says otherwise: cluster "${this.options.remoteClusterId}" keeps what it has; to take it back delete the NamespaceOffloading "${Name.namespaceOffloading}" there, or change its clusterSelector`,
    );
  }
}

/** What a map takes from its copy. */
export function withdrawals(source: Replicable, copy: Replicable): Withdrawal[] {
  const wanted = mappingOf(source);
  return Object.entries(mappingOf(copy))
    .filter(([namespace, remoteName]) => wanted[namespace] !== remoteName)
    .map(([namespace]) => ({ namespace, remoteName: wanted[namespace] }));
}

/** Whether a namespace's NamespaceOffloading, or its absence, stands behind a change of its place in a map. */
export function consents(
  offloading: NamespaceOffloading | undefined,
  map: string,
  { remoteName }: Withdrawal,
): boolean {
  if (offloading === undefined || offloading.metadata.deletionTimestamp) return true;
  if (remoteName !== undefined) return offloading.status?.remoteNamespaceName === remoteName;
  const conditions = offloading.status?.remoteNamespacesConditions?.[map];
  if (conditionStatus(conditions, "OffloadingRequired") !== "True") return true;
  // It gave way to another namespace of the same remote name.
  return conditions?.some(({ type, reason }) => type === "Ready" && reason === TAKEN) ?? false;
}

/** The source with some entries as they are in its copy. What it answers for is not what was asked of it. */
function withEntriesOf(
  source: Replicable,
  copy: Replicable | undefined,
  namespaces: readonly string[],
): Replicable {
  const kept = copy === undefined ? {} : mappingOf(copy);
  const desiredMapping = { ...mappingOf(source) };
  for (const namespace of namespaces) {
    const remoteName = kept[namespace];
    if (remoteName !== undefined) desiredMapping[namespace] = remoteName;
  }
  const answered = isRecord(source.status) ? source.status.observedGeneration : undefined;
  const generation = typeof answered === "number" ? answered : undefined;
  return {
    ...source,
    metadata: { ...source.metadata, generation },
    spec: { ...(isRecord(source.spec) ? source.spec : {}), desiredMapping },
  };
}

function mappingOf({ spec }: Replicable): Record<string, string> {
  const mapping = isRecord(spec) ? spec.desiredMapping : undefined;
  if (!isRecord(mapping)) return {};
  return Object.fromEntries(
    Object.entries(mapping).filter((entry): entry is [string, string] => typeof entry[1] === "string"),
  );
}
