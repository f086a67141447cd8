import fc from "fast-check";
import assert from "node:assert/strict";

import type { Configuration, ForeignCluster } from "../../../runtime/api";
import {
  asReported,
  ipTranslation,
  peerNetwork,
  withinNetworks,
} from "../../../runtime/virtual-kubelet/peer/peer-network";
import { shownAddress } from "../../../runtime/virtual-kubelet/pods/pod-status";

describe("peerNetwork", () => {
  const foreignCluster = (enabled: boolean, connection?: "Established" | "Error", observedGeneration = 1) =>
    ({
      apiVersion: "core.liqo.io/v1beta1",
      kind: "ForeignCluster",
      metadata: { name: "milan" },
      spec: { clusterID: "milan" },
      status: {
        role: "Provider",
        observedGeneration,
        modules: {
          networking: {
            enabled,
            conditions:
              connection === undefined ? [] : [{ type: "NetworkConnectionStatus", status: connection }],
          },
          authentication: { enabled: true },
          offloading: { enabled: true },
        },
      },
    }) satisfies ForeignCluster;
  const configuration: Configuration = {
    apiVersion: "networking.liqo.io/v1beta1",
    kind: "Configuration",
    metadata: { name: "milan" },
    spec: { remote: { cidr: { pod: ["10.244.0.0/16"], external: ["10.70.0.0/16"] } } },
    status: { remote: { cidr: { pod: ["10.71.0.0/16"], external: ["10.72.0.0/16"] } } },
  };

  it("is enabled and down until the peer was looked at", () => {
    for (const peer of [undefined, foreignCluster(false, undefined, 0)]) {
      const { enabled, ready } = peerNetwork(peer, undefined);
      assert.deepEqual({ enabled, ready }, { enabled: true, ready: false });
    }
  });

  const cases: [enabled: boolean, connection: "Established" | "Error" | undefined, ready: boolean][] = [
    [true, "Established", true],
    [true, "Error", false],
    [true, undefined, false],
    [false, undefined, false],
  ];
  for (const [enabled, connection, ready] of cases) {
    it(`is ${ready ? "" : "not "}ready with the module ${enabled ? "on" : "off"} and the connection ${connection}`, () => {
      const network = peerNetwork(foreignCluster(enabled, connection), undefined);
      assert.equal(network.enabled, enabled);
      assert.equal(network.ready, ready);
    });
  }

  it("translates the peer's pods and external addresses", () => {
    const { translate, remapped } = peerNetwork(foreignCluster(true, "Established"), configuration);
    assert.ok(remapped);
    assert.equal(translate("10.244.3.17"), "10.71.3.17");
    assert.equal(translate("10.70.0.5"), "10.72.0.5");
  });

  it("translates nothing without a network, or before it was answered", () => {
    assert.equal(peerNetwork(foreignCluster(false), configuration).translate("10.244.3.17"), "10.244.3.17");
    const unanswered = { ...configuration, status: undefined };
    assert.equal(peerNetwork(foreignCluster(true), unanswered).remapped, false);
  });
});

const networks = withinNetworks([
  { original: "10.244.0.0/16", remapped: "10.71.0.0/16" },
  { original: "10.70.0.0/20", remapped: "10.68.0.0/20" },
]);

describe("an address that a provider reports", () => {
  const rows: [reported: string, networked: string | undefined, alone: string | undefined][] = [
    ["10.244.3.17", "10.71.3.17", "10.244.3.17"],
    ["10.70.0.5", "10.68.0.5", "10.70.0.5"],
    ["10.70.16.5", undefined, "10.70.16.5"],
    // A node, an API server, whatever the consumer's clients may be led to.
    ["172.18.0.2", undefined, "172.18.0.2"],
    ["8.8.8.8", undefined, "8.8.8.8"],
    ["fd00::17", undefined, "fd00::17"],
    ["127.0.0.1", undefined, undefined],
    ["169.254.169.254", undefined, undefined],
    ["0.0.0.0", undefined, undefined],
    ["224.0.0.9", undefined, undefined],
    ["240.0.0.9", undefined, undefined],
    ["255.255.255.255", undefined, undefined],
    ["::1", undefined, undefined],
    ["fe80::1", undefined, undefined],
    ["ff02::1", undefined, undefined],
    ["::ffff:169.254.169.254", undefined, undefined],
    ["::ffff:10.244.3.17", undefined, "::ffff:10.244.3.17"],
    ["10.244", undefined, undefined],
    ["metadata.internal", undefined, undefined],
  ];
  for (const [reported, networked, alone] of rows) {
    it(`${reported}: shown as ${networked} with networking, as ${alone} without`, () => {
      assert.equal(networks(reported), networked);
      assert.equal(asReported(reported), alone);
    });
  }

  it("is the first one of several that is the provider's", () => {
    const of = (podIP: string | undefined, ...more: string[]) =>
      shownAddress(
        { podIP, podIPs: more.map((ip) => ({ ip })) },
        { translateIp: networks, reflectIps: true },
      );
    assert.deepEqual(of("fd00::17", "fd00::17", "10.244.3.17"), { address: "10.71.3.17" });
    assert.deepEqual(of("172.18.0.2", "172.18.0.3"), { withheld: "172.18.0.2" });
    assert.deepEqual(of(undefined), {});
    assert.deepEqual(shownAddress({ podIP: "172.18.0.2" }, { translateIp: networks, reflectIps: false }), {});
  });
});

describe("the networks of a provider", () => {
  const foreignCluster = (enabled: boolean): ForeignCluster => ({
    apiVersion: "core.liqo.io/v1beta1",
    kind: "ForeignCluster",
    metadata: { name: "milan" },
    spec: { clusterID: "milan" },
    status: {
      role: "Provider",
      observedGeneration: 1,
      modules: {
        networking: { enabled },
        authentication: { enabled: true },
        offloading: { enabled: true },
      },
    },
  });
  const configuration = (pod: string): Configuration => ({
    apiVersion: "networking.liqo.io/v1beta1",
    kind: "Configuration",
    metadata: { name: "milan" },
    spec: { remote: { cidr: { pod: ["10.244.0.0/16"] } } },
    status: { remote: { cidr: { pod: [pod] } } },
  });
  const rows: [what: string, enabled: boolean, pod: string | undefined, shown: string | undefined][] = [
    ["have their places", true, "10.71.0.0/16", "10.71.3.17"],
    ["have none yet, or none any more", true, "", undefined],
    ["are not known at all", true, undefined, "10.244.3.17"],
    ["are not used", false, "10.71.0.0/16", "10.244.3.17"],
  ];
  for (const [what, enabled, pod, shown] of rows) {
    it(`${what}: a pod shows ${shown}`, () => {
      const { translate } = peerNetwork(
        foreignCluster(enabled),
        pod === undefined ? undefined : configuration(pod),
      );
      assert.equal(translate("10.244.3.17"), shown);
    });
  }
});

describe("ipTranslation", () => {
  const cases: [what: string, original: string, remapped: string, ip: string, expected: string][] = [
    ["keeps the host bits", "10.244.0.0/16", "10.71.0.0/16", "10.244.3.17", "10.71.3.17"],
    ["masks a network given by an address in it", "10.0.0.0/8", "40.32.0.0/10", "10.1.0.1", "40.1.0.1"],
    ["cuts inside a byte", "10.255.0.0/16", "78.5.78.143/18", "10.255.1.1", "78.5.65.1"],
    ["leaves a range that was not remapped", "10.244.0.0/16", "10.244.0.0/16", "10.244.3.17", "10.244.3.17"],
    ["leaves an address of no range", "10.244.0.0/16", "10.71.0.0/16", "192.168.1.1", "192.168.1.1"],
    ["leaves the other family", "10.244.0.0/16", "10.71.0.0/16", "fd00::1", "fd00::1"],
    ["leaves what is no address", "10.244.0.0/16", "10.71.0.0/16", "not-an-address", "not-an-address"],
    ["translates IPv6", "fd00:10::/64", "fd00:71::/64", "fd00:10::3:17", "fd00:71::3:17"],
  ];
  for (const [what, original, remapped, ip, expected] of cases) {
    it(what, () => assert.equal(ipTranslation([{ original, remapped }])(ip), expected));
  }

  it("takes the first range that holds the address", () => {
    const translate = ipTranslation([
      { original: "10.60.0.0/16", remapped: "10.61.0.0/16" },
      { original: "10.0.0.0/8", remapped: "11.0.0.0/8" },
    ]);
    assert.equal(translate("10.60.1.2"), "10.61.1.2");
    assert.equal(translate("10.70.1.2"), "11.70.1.2");
  });

  it("leaves every address alone without ranges", () =>
    assert.equal(ipTranslation([])("10.0.0.1"), "10.0.0.1"));

  it("names a range that is none", () => {
    assert.throws(
      () => ipTranslation([{ original: "10.0.0.0", remapped: "11.0.0.0/8" }]),
      /"10\.0\.0\.0" is not a CIDR/,
    );
  });

  it("is undone by the reverse translation", () => {
    fc.assert(
      fc.property(fc.nat(255), fc.nat(255), fc.integer({ min: 8, max: 30 }), (third, fourth, bits) => {
        const there = ipTranslation([{ original: `10.1.0.0/${bits}`, remapped: `11.1.0.0/${bits}` }]);
        const back = ipTranslation([{ original: `11.1.0.0/${bits}`, remapped: `10.1.0.0/${bits}` }]);
        const ip = `10.1.${third}.${fourth}`;
        assert.equal(back(there(ip)), ip);
      }),
    );
  });
});
