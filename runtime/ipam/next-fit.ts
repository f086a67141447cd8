/**
 * Gives numbers of a range to owners, each owner one and each number once.
 *
 * Next fit: it goes on behind the number given last, so that one given back is not in use again at once, when packets or caches may still
 * mean the owner before. What it holds is rebuilt by {@link adopt} after a restart.
 */
export class NextFit {
  private readonly owners = new Map<number, string>();
  private readonly numbers = new Map<string, number>();
  private next: number;

  /** @param first,last both belong to the range */
  constructor(
    private readonly first: number,
    private readonly last: number,
  ) {
    this.next = first;
  }

  get size(): number {
    return this.owners.size;
  }

  numberOf(owner: string): number | undefined {
    return this.numbers.get(owner);
  }

  /**
   * The owner's number, given to it now where it has none; undefined where none is left.
   *
   * @param from numbers below are not given
   */
  acquire(owner: string, from = this.first): number | undefined {
    const held = this.numbers.get(owner);
    if (held !== undefined) return held;
    const start = this.next < from || this.next > this.last ? from : this.next;
    const found = this.free(start, this.last) ?? this.free(from, start - 1);
    if (found === undefined) return undefined;
    this.hold(owner, found);
    this.next = found + 1;
    return found;
  }

  /** Holds a number that the owner has had; returns the owner that has it instead, if any. */
  adopt(owner: string, number: number): string | undefined {
    const other = this.owners.get(number);
    if (other !== undefined) return other === owner ? undefined : other;
    this.release(owner);
    this.hold(owner, number);
    return undefined;
  }

  release(owner: string): void {
    const number = this.numbers.get(owner);
    if (number === undefined) return;
    this.numbers.delete(owner);
    this.owners.delete(number);
  }

  private hold(owner: string, number: number): void {
    this.numbers.set(owner, number);
    this.owners.set(number, owner);
  }

  private free(from: number, to: number): number | undefined {
    for (let number = from; number <= to; number += 1) if (!this.owners.has(number)) return number;
    return undefined;
  }
}
