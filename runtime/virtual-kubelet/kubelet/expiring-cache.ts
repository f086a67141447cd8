interface Entry<Value> {
  value: Promise<Value>;
  expiresAt: number;
}

/** Remembers answers for a while; asks once for all who ask at the same time. A failed question is not remembered. */
export class ExpiringCache<Value> {
  private readonly entries = new Map<string, Entry<Value>>();

  constructor(
    private readonly capacity: number,
    private readonly now: () => number = () => performance.now(),
  ) {}

  async get(
    key: string,
    lifetimeMs: number | ((value: Value) => number),
    ask: () => Promise<Value>,
  ): Promise<Value> {
    const known = this.entries.get(key);
    if (known !== undefined && known.expiresAt > this.now()) return await known.value;
    const entry: Entry<Value> = { value: ask(), expiresAt: Number.POSITIVE_INFINITY };
    this.keep(key, entry);
    try {
      const value = await entry.value;
      entry.expiresAt = this.now() + (typeof lifetimeMs === "number" ? lifetimeMs : lifetimeMs(value));
      return value;
    } catch (error) {
      if (this.entries.get(key) === entry) this.entries.delete(key);
      throw error;
    }
  }

  /** The oldest entry makes room. */
  private keep(key: string, entry: Entry<Value>): void {
    this.entries.delete(key);
    const [oldest] = this.entries.keys();
    if (oldest !== undefined && this.entries.size >= this.capacity) this.entries.delete(oldest);
    this.entries.set(key, entry);
  }
}
