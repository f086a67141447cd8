import assert from "node:assert/strict";

import { formatRange, parseRange } from "../../../provider/local-cluster/ipv4-range";
import { parseRoutes } from "../../../provider/local-cluster/native/host-network";
import {
  chooseRange,
  clusterSlots,
  loadBalancerAddresses,
  nodeAddress,
} from "../../../provider/local-cluster/native/fabric";

describe("routes of the machine", () => {
  it("are read without the default ones", () => {
    const text = `Iface\tDestination\tGateway \tFlags\tRefCnt\tUse\tMetric\tMask\t\tMTU\tWindow\tIRTT
eth0\t00000000\t010200C0\t0003\t0\t0\t0\t00000000\t0\t0\t0
pliqo-ab\t00001EAC\t00000000\t0001\t0\t0\t0\t00F0FFFF\t0\t0\t0
eth0\t000200C0\t00000000\t0001\t0\t0\t0\t00FFFFFF\t0\t0\t0
`;
    assert.deepEqual(
      parseRoutes(text).map(({ device, range }) => `${device} ${formatRange(range)}`),
      ["pliqo-ab 172.30.0.0/20", "eth0 192.0.2.0/24"],
    );
  });
});

const route = (range: string, device = "eth1") => ({ range: parseRange(range), device });

describe("the network of native clusters", () => {
  it("takes the first range that neither a route nor a cluster uses", () => {
    const routes = [route("172.30.0.0/24"), route("172.30.31.7/32")];
    assert.equal(formatRange(chooseRange(routes, [parseRange("172.30.32.0/20")])), "172.30.48.0/20");
  });

  it("keeps the range that clusters were made with", () => {
    assert.equal(formatRange(chooseRange([], [], parseRange("172.29.16.0/20"))), "172.29.16.0/20");
    assert.throws(
      () => chooseRange([route("172.29.16.0/24", "vpn0")], [], parseRange("172.29.16.0/20")),
      /now taken by vpn0 \(172\.29\.16\.0\/24\)/,
    );
  });

  it("says so when nothing is free", () => {
    const routes = ["172.16.0.0/12", "10.0.0.0/8", "192.168.0.0/16"].map((range) => route(range));
    assert.throws(() => chooseRange(routes, []), /no \/20 is free/);
  });

  it("gives every node and every service of every cluster an address of its own", () => {
    const range = parseRange("172.30.0.0/20");
    const all = Array.from({ length: clusterSlots }, (_, slot) => [
      ...Array.from({ length: 5 }, (_node, node) => nodeAddress(range, slot, node)),
      ...loadBalancerAddresses(range, slot),
    ]).flat();
    assert.equal(new Set(all).size, clusterSlots * (5 + 64));
    assert.ok(!all.includes("172.30.0.0") && !all.includes("172.30.0.1"), "the network's and the host's own");
  });
});
