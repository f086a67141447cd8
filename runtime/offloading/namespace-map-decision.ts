/** What a consumer asks for, and what was made of it, by local namespace. */
export interface Mappings {
  desired: Readonly<Record<string, string>>;
  before: Readonly<Record<string, { remoteNamespace?: string; phase?: string }>>;
}

/**
 * The local namespace that holds a remote one where several entries of a map name it: the one that it was made for, else one whose entry is
 * accepted, else the first by name. The others are refused, because two that shared it would delete each other's objects as leftovers.
 *
 * @param madeFor the namespace that the remote one was made for; undefined where that is not known, or it does not exist
 */
export function holderOfRemote(
  remote: string,
  mappings: Mappings,
  madeFor: string | undefined,
): string | undefined {
  const { before } = mappings;
  const claimants = claimantsOf(mappings).get(remote) ?? [];
  if (madeFor !== undefined && claimants.includes(madeFor)) return madeFor;
  return claimants.find((local) => holds(before[local], remote)) ?? claimants[0];
}

/**
 * Whether a remote namespace belongs to its holder and stays. Otherwise another local namespace left it behind: we delete it first, so that the
 * holder does not find its objects.
 *
 * @see {@link holderOfRemote} for the parameters
 */
export function isSettled(remote: string, mappings: Mappings, madeFor: string | undefined): boolean {
  const holder = holderOfRemote(remote, mappings, madeFor);
  if (holder === undefined) return false;
  if (madeFor === holder) return true;
  const left = madeFor !== undefined && mappings.before[madeFor]?.remoteNamespace === remote;
  return !left && (madeFor === undefined || holds(mappings.before[holder], remote));
}

const indexes = new WeakMap<Mappings, ReadonlyMap<string, string[]>>();

/** The local namespaces that ask for each remote one, by name. Computed once a map, which may have tens of thousands of entries. */
function claimantsOf(mappings: Mappings): ReadonlyMap<string, string[]> {
  const known = indexes.get(mappings);
  if (known !== undefined) return known;
  const made = new Map<string, string[]>();
  for (const [local, remote] of Object.entries(mappings.desired).sort(byLocal)) {
    const others = made.get(remote);
    if (others === undefined) made.set(remote, [local]);
    else others.push(local);
  }
  indexes.set(mappings, made);
  return made;
}

function byLocal([a]: [string, string], [b]: [string, string]): number {
  return a < b ? -1 : 1;
}

function holds(entry: Mappings["before"][string] | undefined, remote: string): boolean {
  return entry?.remoteNamespace === remote && entry.phase === "Accepted";
}

/** One entry of a map's status before a reconcile. */
interface EntryBefore {
  remoteNamespace?: string;
  phase?: string;
}

/** An entry of a map that is refused because its remote namespace is not available. */
export interface Refusal {
  local: string;
  remote: string;
  /** Why, and the way out. */
  message: string;
}

/**
 * Remembers refusals, so that each is reported once and not with every reconcile. A refusal is new when the entry was not refused before, or for
 * another reason. What was already refused when this process started was reported by its predecessor.
 */
export class RefusedMappings {
  /** By map, then by entry: the message that was told last. */
  private readonly told = new Map<string, ReadonlyMap<string, string>>();

  /**
   * @param map key of the NamespaceMap
   * @param refusals all that are refused now
   * @param before the entries in the map's status as they were
   */
  fresh(map: string, refusals: readonly Refusal[], before: Readonly<Record<string, EntryBefore>>): Refusal[] {
    const known = this.told.get(map);
    this.told.set(map, new Map(refusals.map(({ local, message }) => [local, message])));
    return refusals.filter(({ local, remote, message }) => {
      if (known !== undefined) return known.get(local) !== message;
      const entry = before[local];
      return entry?.phase !== "CreationLoopBackOff" || entry.remoteNamespace !== remote;
    });
  }

  forget(map: string): void {
    this.told.delete(map);
  }
}
