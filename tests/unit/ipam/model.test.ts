/** Random lives of an Ipam beside a model that keeps one list of holders an address, and beside restarts of itself. */
import assert from "node:assert/strict";

import fc from "fast-check";

import type { IP, Network } from "../../../runtime/api";
import {
  type Cidr,
  formatAddress,
  formatCidr,
  lastAddress,
  networkOf,
  overlaps,
  parseAddress,
  parseCidr,
  sizeOf,
} from "../../../runtime/ipam/cidr";
import { AllocationError, Ipam } from "../../../runtime/ipam/ipam";
import { ipClaimOf, isEmptyPlan, networkClaimOf, requestOf, syncPlan } from "../../../runtime/ipam/claims";
import { parsePools } from "../../../runtime/ipam/pools";
import { ip, network } from "./objects";

const POOLS = ["10.0.0.0/27", "172.16.0.0/28"];
const pools = POOLS.map(parseCidr);
/** The pools, and a little beside them. */
const FIRST = [parseAddress("9.255.255.240"), parseAddress("172.15.255.248")];
const universe = FIRST.flatMap((first) => Array.from({ length: 72 }, (_, index) => first + index));

/** Who holds each address, and how: as plain as it gets. */
class Model {
  readonly held = new Map<string, { cidr: Cidr; exclusive: boolean }>();
  readonly addresses = new Map<string, string>();

  holders(address: number): { cidr: Cidr; exclusive: boolean }[] {
    return [...this.held.values()].filter(
      ({ cidr }) => address >= cidr.address && address <= lastAddress(cidr),
    );
  }
  canHold(cidr: Cidr, exclusive: boolean): boolean {
    for (let address = cidr.address; address <= lastAddress(cidr); address += 1) {
      if (this.holders(address).some((other) => exclusive || other.exclusive)) return false;
    }
    return true;
  }
  inPool(cidr: Cidr): boolean {
    return pools.some((pool) => cidr.address >= pool.address && lastAddress(cidr) <= lastAddress(pool));
  }
  someFree(length: number): boolean {
    return universe.some((address) => {
      const cidr = networkOf(address, length);
      return cidr.address === address && this.inPool(cidr) && this.canHold(cidr, true);
    });
  }
}

/** A cluster whose database is its objects. */
class Cluster {
  readonly networks = new Map<string, Network>();
  readonly ips = new Map<string, IP>();
  ipam = new Ipam(parsePools(POOLS));

  key(name: string): string {
    return `liqo/${name}`;
  }

  acquire(name: string): string {
    const object = this.networks.get(name);
    assert.ok(object);
    const cidr = formatCidr(this.ipam.acquireNetwork(this.key(name), requestOf(object)));
    object.status = { cidr };
    return cidr;
  }

  sync(ipam: Ipam): Ipam {
    const plan = syncPlan(ipam, [...this.networks.values()], [...this.ips.values()]);
    for (const owner of plan.releaseIPs) ipam.releaseIP(owner);
    for (const owner of plan.releaseNetworks) ipam.releaseNetwork(owner);
    for (const [owner, claim] of plan.adoptNetworks) ipam.adoptNetwork(owner, claim);
    for (const [owner, claim] of plan.adoptIPs) ipam.adoptIP(owner, claim);
    return ipam;
  }

  replayed(): Ipam {
    return this.sync(new Ipam(parsePools(POOLS)));
  }
}

type Step =
  | { a: "network appears"; name: string; cidr: Cidr; pinned: boolean; shared: boolean; set: number }
  | { a: "network disappears"; name: string }
  | { a: "process dies before writing"; name: string; cidr: Cidr }
  | { a: "IP appears"; name: string; of: string }
  | { a: "IP disappears"; name: string }
  | { a: "restart" };

const attempt = (work: () => string): string => {
  try {
    return work();
  } catch (error) {
    assert.ok(error instanceof AllocationError, String(error));
    return error.reason;
  }
};

const name = fc.constantFrom("a", "b", "c", "d", "e", "f", "g", "h");
const cidr = fc
  .tuple(fc.constantFrom(...universe), fc.integer({ min: 26, max: 32 }))
  .map(([address, length]) => networkOf(address, length));
const a = <const Name extends Step["a"]>(what: Name) => fc.constant(what);
const step = fc.oneof(
  {
    arbitrary: fc.record({
      a: a("network appears"),
      name,
      cidr,
      pinned: fc.boolean(),
      shared: fc.boolean(),
      set: fc.nat(3),
    }),
    weight: 6,
  },
  { arbitrary: fc.record({ a: a("network disappears"), name }), weight: 2 },
  { arbitrary: fc.record({ a: a("process dies before writing"), name, cidr }), weight: 1 },
  { arbitrary: fc.record({ a: a("IP appears"), name, of: name }), weight: 3 },
  { arbitrary: fc.record({ a: a("IP disappears"), name }), weight: 1 },
  { arbitrary: fc.record({ a: a("restart") }), weight: 1 },
);

function take(cluster: Cluster, model: Model, step: Step): void {
  switch (step.a) {
    case "network appears":
      disappear(cluster, model, step.name);
      return appear(cluster, model, step);
    case "network disappears":
      return disappear(cluster, model, step.name);
    case "process dies before writing": {
      // What it decided is forgotten: no object shows it.
      if (cluster.networks.has(step.name)) return;
      const request = { cidr: step.cidr, immutable: false, exclusive: true, preAllocated: 0 };
      attempt(() => formatCidr(cluster.ipam.acquireNetwork(cluster.key(step.name), request)));
      cluster.sync(cluster.ipam);
      return;
    }
    case "IP appears":
      return takeAddress(cluster, model, step.name, step.of);
    case "IP disappears":
      cluster.ips.delete(step.name);
      cluster.ipam.releaseIP(cluster.key(step.name));
      return;
    case "restart":
      cluster.ipam = cluster.replayed();
  }
}

function disappear(cluster: Cluster, model: Model, name: string): void {
  cluster.networks.delete(name);
  cluster.ipam.releaseNetwork(cluster.key(name));
  model.held.delete(name);
}

function appear(cluster: Cluster, model: Model, step: Extract<Step, { a: "network appears" }>): void {
  const { name, cidr, pinned, shared } = step;
  const preAllocated = Math.min(step.set, sizeOf(cidr));
  const object = network({ name, cidr: formatCidr(cidr), pinned, shared, preAllocated });
  const twin = cluster.replayed();
  cluster.networks.set(name, object);
  const result = attempt(() => cluster.acquire(name));
  // A restarted process would have decided the same.
  const decided = attempt(() => formatCidr(twin.acquireNetwork(cluster.key(name), requestOf(object))));
  assert.equal(decided, result);

  const exclusive = !pinned || !shared;
  if (pinned) {
    const possible = model.canHold(cidr, exclusive) && (!exclusive || model.inPool(cidr));
    assert.equal(result === formatCidr(cidr), possible, result);
  } else if (model.inPool(cidr) && model.canHold(cidr, true)) {
    assert.equal(result, formatCidr(cidr));
  } else {
    assert.equal(result !== "PoolsExhausted", model.someFree(cidr.length), result);
    if (result !== "PoolsExhausted") {
      const given = parseCidr(result);
      assert.equal(given.length, cidr.length);
      assert.ok(model.inPool(given) && model.canHold(given, true), `${result} is not free`);
    }
  }
  if (object.status?.cidr === undefined) cluster.networks.delete(name);
  else model.held.set(name, { cidr: parseCidr(object.status.cidr), exclusive });
}

function takeAddress(cluster: Cluster, model: Model, name: string, of: string): void {
  const source = model.held.get(of)?.cidr;
  if (source === undefined || cluster.ips.has(name)) return;
  const reserved = Math.max(
    ...[...cluster.networks.values()]
      .filter(({ status }) => status?.cidr === formatCidr(source))
      .map(({ spec }) => spec.preAllocated ?? 0),
  );
  const inUse = new Set(
    [...cluster.ips.values()]
      .filter((other) => other.status?.cidr === formatCidr(source))
      .map((other) => other.status?.ip),
  );
  const free = Array.from({ length: sizeOf(source) - reserved }, (_, index) =>
    formatAddress(source.address + reserved + index),
  ).filter((address) => !inUse.has(address));
  const result = attempt(() => formatAddress(cluster.ipam.acquireIP(cluster.key(name), source)));
  if (free.length === 0) return assert.equal(result, "NetworkExhausted");
  assert.ok(free.includes(result), `${result} of ${formatCidr(source)}`);
  cluster.ips.set(name, ip(name, { ip: "192.0.2.1" }, { ip: result, cidr: formatCidr(source) }));
}

describe("a random life of an Ipam", () => {
  it("agrees with a model of single addresses, and with its own restart", () => {
    fc.assert(
      fc.property(fc.array(step, { maxLength: 40, size: "max" }), (steps) => {
        const cluster = new Cluster();
        const model = new Model();
        for (const one of steps) {
          take(cluster, model, one);
          consistent(cluster, model);
        }
      }),
      { numRuns: 200 },
    );
  }).timeout(180_000);
});

function consistent(cluster: Cluster, model: Model): void {
  const { ipam } = cluster;
  const objects = [[...cluster.networks.values()], [...cluster.ips.values()]] as const;
  assert.ok(isEmptyPlan(syncPlan(ipam, ...objects)));
  assert.deepEqual(
    [...ipam.networks.keys()].sort(),
    [...model.held.keys()].map((name) => `liqo/${name}`).sort(),
  );
  for (const object of objects[0]) {
    assert.deepEqual(ipam.networks.get(cluster.key(object.metadata.name)), networkClaimOf(object));
  }
  for (const object of objects[1]) {
    assert.deepEqual(ipam.ips.get(cluster.key(object.metadata.name)), ipClaimOf(object));
  }
  for (const pool of pools) {
    const used = [...model.held.values()].some(({ cidr }) => overlaps(pool, cidr));
    assert.equal(ipam.isAvailable(pool), !used);
  }
}
