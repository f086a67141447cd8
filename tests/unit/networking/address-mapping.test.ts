import assert from "node:assert/strict";

import { formatCidr, parseCidr } from "../../../runtime/ipam/cidr";
import {
  cidrMappings,
  isConfigured,
  isRemapped,
  mapAddress,
  mapPodAddress,
  unknownSource,
} from "../../../runtime/networking/address-mapping";
import {
  networkIds,
  nodeMarks,
  OverlayAddresses,
  overlayInterface,
  overlayOwnerKey,
} from "../../../runtime/networking/overlay";
import { otherEnd, tunnelAddress, tunnelInterface } from "../../../runtime/networking/tunnel";
import { configuration } from "./objects";

describe("addresses of a peer", () => {
  const milan = configuration({
    pod: [
      ["10.243.0.0/16", "10.71.0.0/16"],
      ["10.200.0.0/20", "172.18.64.0/20"],
      ["10.9.0.0/16", "10.9.0.0/16"],
    ],
    external: [["10.70.0.0/16", "10.68.0.0/16"]],
  });

  const cases: [string, string][] = [
    ["10.243.1.20", "10.71.1.20"],
    ["10.200.11.9", "172.18.75.9"],
    ["10.9.8.7", "10.9.8.7"],
    ["10.70.0.1", "10.68.0.1"],
    ["10.71.0.1", "10.71.0.1"],
    ["fd00::1", "fd00::1"],
  ];
  for (const [address, expected] of cases) {
    it(`map ${address} to ${expected}`, () => assert.equal(mapAddress(address, milan), expected));
  }

  it("map to a pod's address, or to none", () => {
    assert.equal(mapPodAddress("10.200.0.1", milan), "172.18.64.1");
    assert.throws(() => mapPodAddress("10.70.0.1", milan), {
      message:
        "10.70.0.1 is in no pod network of Configuration liqo-tenant-milan/milan that has its place in this cluster",
    });
  });

  it("are looked up in pod networks first", () => {
    const both = configuration({
      pod: [["10.70.0.0/24", "10.71.0.0/24"]],
      external: [["10.70.0.0/16", "10.68.0.0/16"]],
    });
    assert.deepEqual(
      [mapAddress("10.70.0.9", both), mapAddress("10.70.1.9", both)],
      ["10.71.0.9", "10.68.1.9"],
    );
  });

  it("wait for the Configuration's answer", () => {
    const waiting = configuration({ configured: false });
    assert.throws(() => mapAddress("10.243.0.1", waiting), {
      message: "Configuration liqo-tenant-milan/milan is not remapped yet",
    });
    assert.equal(mapPodAddress("10.243.0.1", waiting), "10.71.0.1");
    assert.throws(() => mapPodAddress("10.243.0.1", { ...waiting, status: {} }));
  });

  it("have mappings in the order of the spec, without those that have no answer", () => {
    const half = configuration({
      pod: [["10.243.0.0/16"], ["10.1.0.0/16", "10.1.0.0/16"], ["10.2.7.0/16", "10.71.0.0/16"]],
    });
    const mappings = cidrMappings(half, "pod");
    assert.deepEqual(
      mappings.map(({ original, remapped }) => [original, remapped].map(formatCidr).join(" ")),
      ["10.1.0.0/16 10.1.0.0/16", "10.2.0.0/16 10.71.0.0/16"],
    );
    assert.deepEqual(mappings.map(isRemapped), [false, true]);
  });

  it("may be used when the answer is to the present question", () => {
    assert.ok(isConfigured(milan));
    assert.equal(isConfigured({ ...milan, metadata: { ...milan.metadata, generation: 4 } }), false);
    assert.equal(isConfigured(configuration({ configured: false })), false);
    assert.equal(isConfigured({ ...milan, status: undefined }), false);
  });

  it("of unknown senders are one", () => assert.equal(unknownSource(parseCidr("10.70.0.0/16")), "10.70.0.0"));
});

describe("the tunnel", () => {
  it("has the interfaces and addresses that both ends know", () => {
    assert.deepEqual([tunnelInterface(), tunnelInterface(2)], ["liqo-tunnel", "liqo-tunnel2"]);
    assert.deepEqual(
      [
        tunnelAddress("server"),
        tunnelAddress("client"),
        tunnelAddress("server", 63),
        tunnelAddress("client", 63),
      ],
      ["169.254.18.1", "169.254.18.2", "169.254.18.253", "169.254.18.254"],
    );
    assert.deepEqual([otherEnd("server"), otherEnd("client")], ["client", "server"]);
  });
});

describe("the overlay", () => {
  it("gives addresses in order, without the first and the last", () => {
    const addresses = new OverlayAddresses(parseCidr("10.80.0.0/16"));
    assert.deepEqual(
      ["a", "b", "a"].map((owner) => addresses.acquire(owner)),
      ["10.80.0.1", "10.80.0.2", "10.80.0.1"],
    );
    const small = new OverlayAddresses(parseCidr("10.80.0.0/30"));
    small.acquire("InternalNode worker-1");
    small.acquire("InternalFabric liqo-tenant-milan/worker-1");
    assert.throws(() => small.acquire("InternalNode worker-2"), {
      message:
        "the internal network 10.80.0.0/30 has no address left for InternalNode worker-2; choose a larger one at installation",
    });
    small.release("InternalNode worker-1");
    assert.equal(small.acquire("InternalNode worker-2"), "10.80.0.1");
  });

  it("takes up the addresses that objects have", () => {
    const addresses = new OverlayAddresses(parseCidr("10.80.0.0/16"));
    assert.ok(addresses.adopt("a", "10.80.0.1"));
    assert.equal(addresses.adopt("b", "10.80.0.1"), false);
    assert.equal(addresses.adopt("b", "10.81.0.1"), false);
    assert.equal(addresses.acquire("b"), "10.80.0.2");
  });

  it("tells a node from a gateway of the same name, also after a restart", () => {
    const owners = (["InternalNode", "InternalFabric"] as const).map((kind) =>
      overlayOwnerKey(kind, kind === "InternalNode" ? "p1" : "liqo-tenant-p1/p1"),
    );
    const given = new OverlayAddresses(parseCidr("10.80.0.0/16"));
    const [node = "", gateway = ""] = owners;
    const addresses = [given.acquire(node), given.acquire(gateway)];
    assert.deepEqual(addresses, ["10.80.0.1", "10.80.0.2"]);
    const restarted = new OverlayAddresses(parseCidr("10.80.0.0/16"));
    assert.ok(restarted.adopt(gateway, "10.80.0.2") && restarted.adopt(node, "10.80.0.1"));
    assert.deepEqual([restarted.acquire(node), restarted.acquire(gateway)], addresses);
    restarted.release(node);
    assert.equal(restarted.acquire(gateway), "10.80.0.2");
    assert.notEqual(overlayOwnerKey("InternalFabric", "a/p1"), overlayOwnerKey("InternalFabric", "b/p1"));
  });

  it("has interfaces whose names follow from what they are for", () => {
    const name = overlayInterface("InternalNode worker-1");
    assert.match(name, /^liqo\.[bcdfghjklmnpqrstvwxz2456789]{10}$/);
    assert.equal(overlayInterface("InternalNode worker-1"), name);
    assert.notEqual(overlayInterface("InternalFabric worker-1"), name);
  });

  it("counts networks from 0 and nodes from 1", () => {
    const [ids, marks] = [networkIds(), nodeMarks()];
    assert.deepEqual(
      ["a", "b"].map((owner) => [ids.acquire(owner), marks.acquire(owner)]),
      [
        [0, 1],
        [1, 2],
      ],
    );
    ids.adopt("a", 2 ** 24 - 2);
    assert.equal(ids.acquire("c"), 2);
  });
});
