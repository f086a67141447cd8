import assert from "node:assert/strict";

import type { Configuration, ForeignCluster, ShadowEndpointSlice } from "../../../runtime/api";
import {
  foreignAddresses,
  isReachable,
  type SliceDependencies,
  desiredEndpointSlice,
} from "../../../runtime/offloading/shadow-endpoint-slice-desired";

const foreignCluster = (connection?: string, apiServer?: string): ForeignCluster => ({
  apiVersion: "core.liqo.io/v1beta1",
  kind: "ForeignCluster",
  metadata: { name: "rome" },
  spec: { clusterID: "rome" },
  status: {
    role: "Consumer",
    ...(apiServer !== undefined && {
      conditions: [{ type: "APIServerStatus", status: apiServer as "Error" }],
    }),
    modules: {
      networking: {
        enabled: connection !== undefined,
        conditions:
          connection === undefined
            ? []
            : [{ type: "NetworkConnectionStatus", status: connection as "Error" }],
      },
      authentication: { enabled: true },
      offloading: { enabled: false },
    },
  },
});

/** The networks of a peer, and where they are in milan. */
const configuration = (
  pod: [string, string],
  external: [string, string] = ["10.70.0.0/16", "10.68.0.0/16"],
): Configuration => ({
  apiVersion: "networking.liqo.io/v1beta1",
  kind: "Configuration",
  metadata: { name: "peer", namespace: "guests", generation: 1 },
  spec: { remote: { cidr: { pod: [pod[0]], external: [external[0]] } } },
  status: {
    remote: { cidr: { pod: [pod[1]], external: [external[1]] } },
    conditions: [
      {
        type: "NetworkCIDRsConfigured",
        status: "True",
        reason: "NetworkCIDRsConfigured",
        message: "",
        lastTransitionTime: "2026-05-04T12:00:00Z",
        observedGeneration: 1,
      },
    ],
  },
});

const shadow = (changes: Partial<ShadowEndpointSlice["metadata"]> = {}): ShadowEndpointSlice => ({
  apiVersion: "offloading.liqo.io/v1beta1",
  kind: "ShadowEndpointSlice",
  metadata: {
    name: "web-7",
    namespace: "shop-rome",
    uid: "u-7",
    labels: { "offloading.liqo.io/origin": "rome", "kubernetes.io/service-name": "web" },
    annotations: { team: "sales" },
    ...changes,
  },
  spec: {
    template: {
      addressType: "IPv4",
      endpoints: [
        { addresses: ["10.31.4.7"], conditions: { ready: true }, nodeName: "rome" },
        { addresses: ["10.70.0.5"], conditions: { ready: false }, nodeName: "rome" },
        { addresses: ["10.31.4.8"], nodeName: "rome" },
      ],
      ports: [{ name: "http", port: 80, protocol: "TCP" }],
    },
  },
});

const dependencies = (changes: Partial<SliceDependencies> = {}): SliceDependencies => ({
  foreignCluster: foreignCluster("Established", "Established"),
  configurationOf: (cluster) =>
    ({
      rome: configuration(["10.31.0.0/16", "10.71.0.0/16"]),
      turin: configuration(["10.50.0.0/16", "10.90.0.0/16"]),
    })[cluster],
  networking: true,
  directConnections: true,
  ...changes,
});

const shown = (slice: ReturnType<typeof desiredEndpointSlice>) =>
  (slice.endpoints ?? []).map((endpoint) => `${endpoint?.addresses?.join()} ${endpoint?.conditions?.ready}`);

describe("the EndpointSlice of a ShadowEndpointSlice", () => {
  it("leads to the consumer's pods and to what it exports, from here", () => {
    const slice = desiredEndpointSlice(shadow(), dependencies());
    assert.deepEqual(shown(slice), ["10.71.4.7 true", "10.68.0.5 false", "10.71.4.8 true"]);
    assert.deepEqual(slice.ports, [{ name: "http", port: 80, protocol: "TCP" }]);
    assert.equal(slice.metadata.labels?.["liqo.io/managed-by"], "shadowendpointslice");
    assert.equal(slice.metadata.labels?.["kubernetes.io/service-name"], "web");
    assert.deepEqual(slice.metadata.annotations, { team: "sales" });
    assert.equal(slice.metadata.ownerReferences?.[0]?.uid, "u-7");
  });

  it("is not ready while the consumer cannot be reached, or heard of", () => {
    for (const [connection, apiServer, reachable] of [
      ["Established", "Established", true],
      ["Established", undefined, true],
      ["Established", "None", true],
      ["Established", "Error", false],
      ["Error", "Established", false],
      ["Pending", "Established", false],
      [undefined, "Established", true],
      [undefined, "Error", false],
    ] as const) {
      const peer = foreignCluster(connection, apiServer);
      assert.equal(isReachable(peer), reachable, `${connection} ${apiServer}`);
      if (connection === undefined) continue;
      const ready = shown(desiredEndpointSlice(shadow(), dependencies({ foreignCluster: peer })));
      assert.deepEqual(ready, [`10.71.4.7 ${reachable}`, "10.68.0.5 false", `10.71.4.8 ${reachable}`]);
    }
  });

  it("keeps addresses where the clusters are not connected by us", () => {
    const expected = ["10.31.4.7 true", "10.70.0.5 false", "10.31.4.8 true"];
    assert.deepEqual(shown(desiredEndpointSlice(shadow(), dependencies({ networking: false }))), expected);
    const apart = dependencies({ foreignCluster: foreignCluster(undefined, "Established") });
    assert.deepEqual(shown(desiredEndpointSlice(shadow(), apart)), expected);
  });

  it("leads to nothing that is not the consumer's own, and says what that was", () => {
    const stolen = shadow();
    stolen.spec.template = {
      addressType: "IPv4",
      // A node of the provider's, a pod of another consumer's, and one of the consumer's.
      endpoints: [{ addresses: ["172.18.0.2"] }, { addresses: ["10.50.1.9"] }, { addresses: ["10.31.4.7"] }],
      ports: [],
    };
    assert.deepEqual(shown(desiredEndpointSlice(stolen, dependencies())), ["10.71.4.7 true"]);
    assert.deepEqual(foreignAddresses(stolen, dependencies()), ["172.18.0.2", "10.50.1.9"]);
    assert.deepEqual(foreignAddresses(shadow(), dependencies()), []);
    assert.deepEqual(foreignAddresses(stolen, dependencies({ networking: false })), []);
  });

  it("waits for the consumer's networks to have their places", () => {
    const waiting = dependencies({ configurationOf: () => undefined });
    assert.throws(
      () => desiredEndpointSlice(shadow(), waiting),
      /networks of rome have no place in this cluster yet/,
    );
  });

  const direct = shadow({
    annotations: {
      "liqo.io/direct-connections-data": JSON.stringify({ turin: ["10.50.1.9"] }),
      team: "sales",
    },
  });
  direct.spec = {
    template: {
      addressType: "IPv4",
      endpoints: [{ addresses: ["10.50.1.9"] }, { addresses: ["10.31.4.7"] }],
    },
  };

  it("leads to pods of another cluster without passing through the consumer", () => {
    const slice = desiredEndpointSlice(direct, dependencies());
    assert.deepEqual(shown(slice), ["10.90.1.9 true", "10.71.4.7 true"]);
    assert.deepEqual(slice.metadata.annotations, { team: "sales" });
  });

  it("leaves such pods out where that is not allowed, and says where it cannot be", () => {
    assert.deepEqual(shown(desiredEndpointSlice(direct, dependencies({ directConnections: false }))), [
      "10.71.4.7 true",
    ]);
    const alone = dependencies({
      configurationOf: (cluster) =>
        cluster === "rome" ? configuration(["10.31.0.0/16", "10.71.0.0/16"]) : undefined,
    });
    assert.throws(
      () => desiredEndpointSlice(direct, alone),
      /10\.50\.1\.9 is a pod of turin, with which .* no network/,
    );
    const outside = dependencies({ configurationOf: () => configuration(["10.51.0.0/16", "10.91.0.0/16"]) });
    assert.throws(() => desiredEndpointSlice(direct, outside), /10\.50\.1\.9 is in no pod network/);
  });

  it("refuses data that it cannot read", () => {
    for (const data of ["{", '{"turin":"10.50.1.9"}']) {
      const faulty = shadow({ annotations: { "liqo.io/direct-connections-data": data } });
      assert.throws(
        () => desiredEndpointSlice(faulty, dependencies()),
        /liqo\.io\/direct-connections-data is not/,
      );
    }
  });
});
