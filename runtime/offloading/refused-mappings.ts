/** What is known of one entry of a map before it is looked at again. */
export interface EntryBefore {
  remoteNamespace?: string;
  phase?: string;
}

/** One entry of a map whose remote namespace is somebody else's. */
export interface Refusal {
  local: string;
  remote: string;
  /** Why, and the way out. */
  message: string;
}

/**
 * Which refusals of a map's entries are new, so that each is told once and not with every look: those that were not refused before, or for
 * another cause. Of what was refused before this process began, the process before it has told.
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
