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
