/** What was seen while waiting: each change once, with the time at which it was seen first. */
export class Trail {
  private readonly entries: { afterMs: number; seen: string }[] = [];

  /** @returns whether this differs from what was seen last */
  add(afterMs: number, seen: string): boolean {
    if (this.entries.at(-1)?.seen === seen) return false;
    this.entries.push({ afterMs, seen });
    return true;
  }

  get last(): string {
    return this.entries.at(-1)?.seen ?? "nothing was seen";
  }

  /** The first entries and the last ones: `0 s: does not exist; 3 s: Ready=False (Pending)`. */
  toString(): string {
    const shown =
      this.entries.length <= 8
        ? this.entries
        : [...this.entries.slice(0, 3), undefined, ...this.entries.slice(-4)];
    return shown.map((entry) => (entry ? `${seconds(entry.afterMs)}: ${entry.seen}` : "…")).join("; ");
  }
}

/** `7 s`, `2 min 5 s` */
export function seconds(ms: number): string {
  const total = Math.round(ms / 1000);
  return total < 120 ? `${total} s` : `${Math.floor(total / 60)} min ${total % 60} s`;
}
