import assert from "node:assert/strict";

import type { EndpointSlice } from "../../../runtime/api/kubernetes";
import {
  remoteEndpoints,
  type SliceDependencies,
} from "../../../runtime/virtual-kubelet/objects/endpoint-slice-reflection";

type Endpoint = NonNullable<EndpointSlice["endpoints"]>[number];

/** Rome offloads to milan and to turin; 172.16.5.9 is an IP of the namespace, known to peers as 10.70.0.5. */
const dependencies: SliceDependencies = {
  consumer: "rome",
  provider: "milan",
  clusterOf: (node) => ({ "milan-pool": "milan", "turin-pool": "turin" })[node],
  translate: (address) => {
    if (address.startsWith("10.31.")) return address;
    return address === "172.16.5.9" ? "10.70.0.5" : undefined;
  },
  direct: false,
};

const slice = (endpoints: Endpoint[], addressType = "IPv4"): EndpointSlice => ({
  apiVersion: "discovery.k8s.io/v1",
  kind: "EndpointSlice",
  metadata: { name: "web-7", namespace: "shop" },
  addressType,
  endpoints,
  ports: [{ port: 80 }],
});

const read = (endpoints: Endpoint[], changes: Partial<SliceDependencies> = {}, addressType = "IPv4") =>
  remoteEndpoints(slice(endpoints, addressType), { ...dependencies, ...changes });

describe("the endpoints of a slice, as a provider is told of them", () => {
  it("are those that do not run there", () => {
    const { endpoints, unreachable } = read([
      { addresses: ["10.31.4.7"], nodeName: "rome-1" },
      { addresses: ["10.71.8.8"], nodeName: "milan-pool" },
      { addresses: ["172.16.5.9"], nodeName: "turin-pool" },
      { addresses: ["10.31.4.9"] },
    ]);
    assert.deepEqual(
      endpoints.map(({ addresses }) => addresses),
      [["10.31.4.7"], ["10.70.0.5"], ["10.31.4.9"]],
    );
    assert.deepEqual(unreachable, []);
  });

  it("say where they are from, and of their conditions only whether they are ready", () => {
    const { endpoints } = read([
      {
        addresses: ["10.31.4.7"],
        nodeName: "rome-1",
        conditions: { ready: false, serving: true, terminating: true },
        targetRef: { kind: "Pod", name: "web-0", namespace: "shop" },
        hostname: "web-0",
        zone: "lazio",
        hints: { forZones: [{ name: "lazio" }] },
        deprecatedTopology: { rack: "3" },
      },
    ]);
    assert.deepEqual(endpoints, [
      {
        addresses: ["10.31.4.7"],
        nodeName: "rome",
        conditions: { ready: false },
        targetRef: { kind: "RemotePod", name: "web-0", namespace: "shop" },
        hostname: "web-0",
        zone: "lazio",
        hints: { forZones: [{ name: "lazio" }] },
      },
    ]);
  });

  it("leave out one that cannot be reached, and keep the others", () => {
    const { endpoints, unreachable } = read([
      { addresses: ["172.18.0.2"], nodeName: "rome-1" },
      { addresses: ["10.31.4.7"], nodeName: "rome-1" },
    ]);
    assert.deepEqual(unreachable, ["172.18.0.2"]);
    assert.equal(endpoints.length, 1);
  });

  it("keep names and IPv6 addresses as they are", () => {
    const { endpoints } = read([{ addresses: ["db.example"] }], {}, "FQDN");
    assert.deepEqual(endpoints[0]?.addresses, ["db.example"]);
    assert.deepEqual(read([{ addresses: ["fd00::7"] }], {}, "IPv6").endpoints[0]?.addresses, ["fd00::7"]);
  });

  it("keep all addresses where the provider connects by itself, and say whose they are", () => {
    const { endpoints, direct, unreachable } = read(
      [
        {
          addresses: ["10.50.1.9"],
          nodeName: "turin-pool",
          targetRef: { kind: "Pod", name: "web-1" },
        },
        { addresses: ["10.31.4.7"], nodeName: "rome-1", targetRef: { kind: "Pod", name: "web-0" } },
      ],
      { direct: true },
    );
    assert.deepEqual(
      endpoints.map(({ addresses }) => addresses),
      [["10.50.1.9"], ["10.31.4.7"]],
    );
    assert.deepEqual(direct, { turin: ["10.50.1.9"] });
    assert.deepEqual(unreachable, []);
  });
});
