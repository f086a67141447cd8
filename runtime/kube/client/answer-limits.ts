import type { KubeObject } from "../../api/meta";
import { keyOf } from "./object-reference";

/**
 * How much one API server may make this process hold. Sizes are bytes of the body as it comes.
 *
 * They are far beyond what an API server sends that keeps to its own limits: it takes no request beyond 3 MiB and etcd no object beyond 1.5 MiB.
 */
export interface AnswerLimits {
  /** Of an answer that is no page of a list: an object, a status, a refusal. */
  answerBytes: number;
  /** Of one page of a list. A longer page is asked for again with fewer objects. */
  pageBytes: number;
  /** Of one event of a watch. */
  eventBytes: number;
  /** Of one list, in pages or streamed. Each object counts for at least 2 KiB, each page for at least 64 KiB. */
  listBytes: number;
  /** Of all objects that the watches of one client keep, counted in the same way. */
  keptBytes: number;
}

const MIB = 1 << 20;

/** For the cluster that the process belongs to: what it holds is bounded by what the cluster holds. */
export const OWN_CLUSTER_LIMITS: Readonly<AnswerLimits> = {
  answerBytes: 64 * MIB,
  pageBytes: 256 * MIB,
  eventBytes: 32 * MIB,
  listBytes: 4096 * MIB,
  keptBytes: Infinity,
};

/** For the API server of a peer, which belongs to a stranger. */
export const PEER_LIMITS: Readonly<AnswerLimits> = {
  answerBytes: 32 * MIB,
  pageBytes: 32 * MIB,
  eventBytes: 8 * MIB,
  listBytes: 256 * MIB,
  keptBytes: 256 * MIB,
};

/** What an object costs in memory, however short its text is. */
const OBJECT_COST = 2048;
/** What a page costs, however empty it is, so that pages without objects come to an end. */
const PAGE_COST = 65_536;

function objectCost(bytes: number): number {
  return Math.max(OBJECT_COST, bytes);
}

export function pageCost(bytes: number, objects: number): number {
  return Math.max(PAGE_COST, bytes, objects * OBJECT_COST);
}

/** An API server sent more than it may. What came is thrown away. */
export class AnswerLimitError extends Error {
  override readonly name = "AnswerLimitError";

  /**
   * @param what the request with its server, such as `GET milan:6443/api/v1/pods`
   * @param part what is too large, such as `the answer`
   */
  constructor(
    readonly what: string,
    readonly part: string,
    readonly limitBytes: number,
    readonly bytes: number,
  ) {
    super(
      `${what}: ${part} is too large: ${bytes} bytes, and at most ${limitBytes} are taken from this API server; ` +
        `look there for what makes it so large, and delete it`,
    );
  }
}

/** What the watches of one client keep, all together. */
export class KeptBytes {
  private bytes = 0;

  constructor(readonly limit: number) {}

  get total(): number {
    return this.bytes;
  }

  add(difference: number): void {
    this.bytes += difference;
  }
}

/** What one watch keeps, by key. Without a limit nothing is counted by key. */
export class KeptObjects {
  private costs = new Map<string, number>();
  readonly counted: boolean;

  constructor(
    readonly what: string,
    private readonly account: KeptBytes,
  ) {
    this.counted = Number.isFinite(account.limit);
  }

  /** @throws AnswerLimitError where the object is one too many; it is not counted then */
  set(object: KubeObject, bytes: number): void {
    if (!this.counted) return;
    const key = keyOf(object);
    const cost = objectCost(bytes);
    const difference = cost - (this.costs.get(key) ?? 0);
    if (difference > 0) this.check(this.account.total + difference);
    this.costs.set(key, cost);
    this.account.add(difference);
  }

  delete(object: KubeObject): void {
    if (!this.counted) return;
    const key = keyOf(object);
    const cost = this.costs.get(key);
    if (cost === undefined) return;
    this.costs.delete(key);
    this.account.add(-cost);
  }

  /** Takes the costs of a whole list in the place of those before. */
  replace(costs: Map<string, number>): void {
    if (!this.counted) return;
    const difference = sum(costs) - sum(this.costs);
    if (difference > 0) this.check(this.account.total + difference);
    this.costs = costs;
    this.account.add(difference);
  }

  private check(bytes: number): void {
    if (bytes > this.account.limit)
      throw new AnswerLimitError(this.what, "what all watches keep", this.account.limit, bytes);
  }
}

/** What a list costs while it comes. */
export class ListCosts {
  /** Empty where nothing is counted by key. */
  readonly byKey = new Map<string, number>();
  private total = 0;

  constructor(
    private readonly keeps: Pick<KeptObjects, "what" | "counted">,
    private readonly limit: number,
  ) {}

  /** @throws AnswerLimitError where the list is too large by this object */
  set(key: string, bytes: number): void {
    const cost = objectCost(bytes);
    this.total += cost;
    const { what, counted } = this.keeps;
    if (this.total > this.limit) throw new AnswerLimitError(what, "the list", this.limit, this.total);
    if (counted) this.byKey.set(key, cost);
  }

  delete(key: string): void {
    this.byKey.delete(key);
  }
}

function sum(costs: ReadonlyMap<string, number>): number {
  let total = 0;
  for (const cost of costs.values()) total += cost;
  return total;
}
