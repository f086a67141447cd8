import assert from "node:assert/strict";

import { formatAddress, formatCidr, parseAddress, parseCidr } from "../../../runtime/ipam/cidr";
import { Ipam } from "../../../runtime/ipam/ipam";
import { DEFAULT_POOLS, parsePools } from "../../../runtime/ipam/pools";

interface Asked {
  cidr: string;
  immutable?: boolean;
  exclusive?: boolean;
  preAllocated?: number;
}

class Subject {
  readonly ipam: Ipam;
  constructor(pools: readonly string[] = DEFAULT_POOLS) {
    this.ipam = new Ipam(parsePools(pools));
  }
  acquire(owner: string, { cidr, immutable = false, exclusive = true, preAllocated = 0 }: Asked): string {
    return formatCidr(
      this.ipam.acquireNetwork(owner, { cidr: parseCidr(cidr), immutable, exclusive, preAllocated }),
    );
  }
  reserve(cidr: string): string {
    return this.acquire(`reserved ${cidr}`, { cidr, immutable: true, exclusive: false });
  }
  address(owner: string, cidr: string): string {
    return formatAddress(this.ipam.acquireIP(owner, parseCidr(cidr)));
  }
}

describe("networks of a cluster", () => {
  // networking reference 21.1: reserved, then external and internal, then those of peers, in the order in which they come.
  const vectors: {
    reserved: string[];
    external: string;
    internal: string;
    then: [string, string | undefined][];
  }[] = [
    {
      reserved: ["10.243.0.0/16", "10.95.0.0/16"],
      external: "10.70.0.0/16",
      internal: "10.80.0.0/16",
      then: [
        ["10.243.0.0/16", "10.71.0.0/16"],
        ["10.70.0.0/16", "10.68.0.0/16"],
        ["10.243.0.0/16", "10.69.0.0/16"],
        ["10.70.0.0/16", "10.64.0.0/16"],
        ["10.200.0.0/16", "10.200.0.0/16"],
        ["10.70.0.0/16", "10.65.0.0/16"],
        ["10.0.0.0/8", undefined],
        ["100.64.0.0/16", "10.66.0.0/16"],
        ["10.244.0.0/24", "10.244.0.0/24"],
        ["10.244.0.0/16", "10.67.0.0/16"],
      ],
    },
    {
      reserved: ["10.244.0.0/16", "10.96.0.0/12"],
      external: "10.70.0.0/16",
      internal: "10.80.0.0/16",
      then: [
        ["10.244.0.0/16", "10.71.0.0/16"],
        ["10.70.0.0/16", "10.68.0.0/16"],
      ],
    },
    {
      reserved: ["10.42.0.0/16", "10.43.0.0/16"],
      external: "10.70.0.0/16",
      internal: "10.80.0.0/16",
      then: [
        ["10.42.0.0/16", "10.40.0.0/16"],
        ["10.70.0.0/16", "10.41.0.0/16"],
        ["10.42.0.0/16", "10.44.0.0/16"],
        ["10.70.0.0/16", "10.45.0.0/16"],
      ],
    },
    {
      reserved: ["10.64.0.0/10", "172.20.0.0/16"],
      external: "10.0.0.0/16",
      internal: "10.1.0.0/16",
      then: [
        ["10.64.0.0/16", "10.2.0.0/16"],
        ["10.70.0.0/16", "10.3.0.0/16"],
      ],
    },
    {
      reserved: ["10.0.0.0/8", "172.16.0.0/16"],
      external: "192.168.0.0/16",
      internal: "172.17.0.0/16",
      then: [
        ["10.244.0.0/16", "172.18.0.0/16"],
        ["10.70.0.0/16", "172.19.0.0/16"],
      ],
    },
    {
      reserved: ["100.64.0.0/16", "10.96.0.0/12"],
      external: "10.70.0.0/16",
      internal: "10.80.0.0/16",
      then: [
        ["100.64.0.0/16", "10.71.0.0/16"],
        ["10.70.0.0/16", "10.68.0.0/16"],
      ],
    },
    {
      reserved: ["10.244.0.0/24", "10.96.0.0/24"],
      external: "10.70.0.0/16",
      internal: "10.80.0.0/16",
      then: [
        ["10.244.0.0/24", "10.71.0.0/24"],
        ["10.70.0.0/16", "10.68.0.0/16"],
        ["10.244.0.0/24", "10.69.0.0/24"],
        ["10.244.0.0/20", "10.69.16.0/20"],
      ],
    },
  ];
  for (const { reserved, external, internal, then } of vectors) {
    it(`are remapped as upstream does with ${reserved.join(" and ")}`, () => {
      const subject = new Subject();
      for (const cidr of reserved) assert.equal(subject.reserve(cidr), cidr);
      assert.equal(subject.acquire("external", { cidr: "10.70.0.0/16", preAllocated: 1 }), external);
      assert.equal(subject.acquire("internal", { cidr: "10.80.0.0/16" }), internal);
      for (const [index, [cidr, given]] of then.entries()) {
        const owner = `peer ${index}`;
        if (given !== undefined) assert.equal(subject.acquire(owner, { cidr }), given, cidr);
        else assert.throws(() => subject.acquire(owner, { cidr }), { reason: "PoolsExhausted" });
      }
    });
  }

  it("are the same when asked for again, and another when the request is another", () => {
    const subject = new Subject();
    subject.reserve("10.42.0.0/16");
    assert.equal(subject.acquire("milan", { cidr: "10.42.0.0/16" }), "10.43.0.0/16");
    assert.equal(subject.acquire("milan", { cidr: "10.42.0.0/16" }), "10.43.0.0/16");
    assert.equal(subject.acquire("milan", { cidr: "10.9.0.0/24" }), "10.9.0.0/24");
    assert.ok(subject.ipam.isAvailable(parseCidr("10.43.0.0/16")));
  });

  it("are shared until the last owner gives them back", () => {
    const subject = new Subject();
    const shared = { cidr: "10.42.0.0/16", immutable: true, exclusive: false };
    subject.acquire("first", shared);
    subject.acquire("second", shared);
    subject.ipam.releaseNetwork("first");
    subject.ipam.releaseNetwork("first");
    assert.equal(subject.ipam.isAvailable(parseCidr("10.42.0.0/16")), false);
    subject.ipam.releaseNetwork("second");
    assert.ok(subject.ipam.isAvailable(parseCidr("10.42.0.0/16")));
  });

  it("outside the pools are reserved without being held, unless they are exclusive", () => {
    const subject = new Subject();
    assert.equal(subject.reserve("100.64.0.0/10"), "100.64.0.0/10");
    assert.equal(subject.ipam.isAvailable(parseCidr("100.64.0.0/10")), false);
    assert.throws(() => subject.acquire("external", { cidr: "100.70.0.0/16", immutable: true }), {
      name: "AllocationError",
      reason: "OutsidePools",
      message:
        "100.70.0.0/16 must not be remapped, and lies outside the pools 10.0.0.0/8, 192.168.0.0/16, 172.16.0.0/12; add a pool that holds it",
    });
  });

  it("that cover a pool keep all of it", () => {
    const subject = new Subject(["10.0.0.0/8", "172.16.0.0/12"]);
    subject.reserve("8.0.0.0/6");
    assert.equal(subject.acquire("milan", { cidr: "10.42.0.0/16" }), "172.16.0.0/16");
    assert.throws(() => subject.reserve("0.0.0.0/0"), { reason: "NetworkConflict" });
    assert.equal(subject.acquire("turin", { cidr: "10.42.0.0/16" }), "172.17.0.0/16");
  });

  it("that must not be remapped say who is in the way", () => {
    const subject = new Subject();
    subject.acquire("liqo/external-cidr", { cidr: "10.70.0.0/16" });
    subject.acquire("liqo-tenant-milan/milan-pod-10-70-0-0-16", { cidr: "10.71.0.0/24" });
    assert.throws(
      () => subject.acquire("liqo/reserved", { cidr: "10.64.0.0/12", immutable: true, exclusive: false }),
      {
        reason: "NetworkConflict",
        message:
          "10.64.0.0/12 overlaps Network liqo-tenant-milan/milan-pod-10-70-0-0-16 (10.71.0.0/24), Network liqo/external-cidr (10.70.0.0/16); give one of them another range",
      },
    );
    assert.equal(subject.ipam.networks.size, 2);
  });

  it("set aside as many addresses as they have, and no more", () => {
    const subject = new Subject();
    assert.equal(subject.acquire("all", { cidr: "10.70.0.0/24", preAllocated: 256 }), "10.70.0.0/24");
    assert.throws(() => subject.address("ip", "10.70.0.0/24"), { reason: "NetworkExhausted" });
    assert.throws(() => subject.acquire("more", { cidr: "10.71.0.0/30", preAllocated: 5 }), {
      reason: "TooManyPreAllocated",
      message: "preAllocated is 5, but 10.71.0.0/30 has 4 addresses",
    });
    assert.ok(subject.ipam.isAvailable(parseCidr("10.71.0.0/30")));
  });

  it("taken up after a restart are refused where they overlap, and kept where pools have changed", () => {
    const { ipam } = new Subject(["10.0.0.0/8"]);
    const claim = (cidr: string, exclusive = true) => ({ cidr: parseCidr(cidr), exclusive, preAllocated: 0 });
    ipam.adoptNetwork("liqo/pod-cidr", claim("10.42.0.0/16", false));
    ipam.adoptNetwork("liqo/pod-cidr", claim("10.42.0.0/16", false));
    assert.throws(() => ipam.adoptNetwork("liqo/internal-cidr", claim("10.42.128.0/17")), {
      reason: "NetworkConflict",
      message: /Network liqo\/pod-cidr \(10\.42\.0\.0\/16\)/,
    });
    ipam.adoptNetwork("milan", claim("172.16.0.0/16"));
    assert.throws(() => ipam.adoptNetwork("turin", claim("172.16.0.0/24")), { reason: "NetworkConflict" });
    ipam.adoptNetwork("milan", claim("172.17.0.0/16"));
    ipam.adoptNetwork("turin", claim("172.16.0.0/24"));
  });
});

describe("addresses of a network", () => {
  const external = "10.70.0.0/16";
  const subject = () => {
    const made = new Subject();
    made.acquire("liqo/external-cidr", { cidr: external, preAllocated: 1 });
    return made;
  };

  it("are given next fit (networking reference 21.1)", () => {
    const before = subject();
    assert.deepEqual(
      [before.address("a", external), before.address("b", external)],
      ["10.70.0.1", "10.70.0.2"],
    );
    before.ipam.releaseIP("a");
    assert.equal(before.address("c", external), "10.70.0.3");

    const restarted = subject();
    for (const [owner, claim] of before.ipam.ips) restarted.ipam.adoptIP(owner, claim);
    assert.equal(restarted.address("d", external), "10.70.0.1");
  });

  it("stay with their owner", () => {
    const { ipam } = subject();
    const cidr = parseCidr(external);
    assert.equal(ipam.acquireIP("a", cidr), ipam.acquireIP("a", cidr));
    ipam.releaseIP("a");
    ipam.releaseIP("a");
    assert.equal(ipam.ips.size, 0);
  });

  it("include the first and the last of a network, and end there", () => {
    const made = new Subject();
    made.acquire("small", { cidr: "10.3.0.0/30" });
    const given = ["a", "b", "c", "d"].map((owner) => made.address(owner, "10.3.0.0/30"));
    assert.deepEqual(given, ["10.3.0.0", "10.3.0.1", "10.3.0.2", "10.3.0.3"]);
    assert.throws(() => made.address("e", "10.3.0.0/30"), {
      reason: "NetworkExhausted",
      message: "all 4 addresses of 10.3.0.0/30 are in use; delete IPs that are not needed",
    });
    made.ipam.releaseIP("c");
    assert.equal(made.address("e", "10.3.0.0/30"), "10.3.0.2");
  });

  it("are those of a network in use", () => {
    assert.throws(() => subject().address("a", "10.70.0.0/17"), {
      reason: "NetworkNotFound",
      message: "no Network has 10.70.0.0/17, so it has no addresses to give",
    });
  });

  it("move with their owner to another network", () => {
    const made = subject();
    made.acquire("other", { cidr: "10.9.0.0/24" });
    made.address("a", external);
    assert.equal(made.address("a", "10.9.0.0/24"), "10.9.0.0");
    assert.deepEqual([...made.ipam.ips.keys()], ["a"]);
    assert.equal(made.address("b", external), "10.70.0.2");
  });

  it("outlive their network, so that its next life does not give them twice", () => {
    const made = subject();
    made.address("a", external);
    made.ipam.releaseNetwork("liqo/external-cidr");
    made.acquire("liqo/external-cidr", { cidr: external, preAllocated: 1 });
    assert.equal(made.address("b", external), "10.70.0.2");
    for (const owner of ["a", "b"]) made.ipam.releaseIP(owner);
    made.ipam.releaseNetwork("liqo/external-cidr");
    made.acquire("liqo/external-cidr", { cidr: external });
    assert.equal(made.address("b", external), "10.70.0.0");
  });

  it("cannot be taken up twice, nor outside their network", () => {
    const { ipam } = subject();
    const claim = (address: string, cidr = external) => ({
      address: parseAddress(address),
      cidr: parseCidr(cidr),
    });
    ipam.adoptIP("liqo/a", claim("10.70.0.9"));
    assert.throws(() => ipam.adoptIP("liqo/b", claim("10.70.0.9")), {
      reason: "AddressConflict",
      message: "10.70.0.9 is the address of IP liqo/a already",
    });
    assert.throws(() => ipam.adoptIP("liqo/b", claim("10.71.0.9")), {
      message: "10.71.0.9 is no address of 10.70.0.0/16",
    });
    ipam.adoptIP("liqo/a", claim("10.70.0.8"));
    ipam.adoptIP("liqo/b", claim("10.70.0.9"));
  });
});
