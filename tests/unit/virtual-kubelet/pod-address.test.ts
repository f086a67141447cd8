import assert from "node:assert/strict";

import type { Configuration, ForeignCluster } from "../../../runtime/api";
import { asReported, peerNetwork, withinNetworks } from "../../../runtime/virtual-kubelet/peer/peer-network";
import { localStatus, shownAddress } from "../../../runtime/virtual-kubelet/pods/pod-status";

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

describe("a pod whose address is withheld", () => {
  const now = "2026-03-04T05:06:07Z";
  const context = {
    nodeIp: "10.200.0.5",
    translateIp: networks,
    reflectIps: true,
    restartOffset: 0,
    readinessGates: [],
    unavailable: false,
    now,
  };
  const ready = { type: "Ready", status: "True", lastTransitionTime: now };
  const withheld = localStatus(
    { podIP: "172.18.0.2", podIPs: [{ ip: "172.18.0.2" }], conditions: [ready] },
    { podIP: "10.71.3.17", podIPs: [{ ip: "10.71.3.17" }] },
    context,
  );

  it("shows none and says why", () => {
    assert.equal(withheld.podIP, undefined);
    assert.equal(withheld.podIPs, undefined);
    const [first, why, ...others] = withheld.conditions ?? [];
    assert.deepEqual([first, others], [ready, []]);
    assert.equal(why?.type, "liqo.io/AddressReflected");
    assert.equal(why.status, "False");
    assert.match(why.message ?? "", /reports the address 172\.18\.0\.2, which is in none of its networks/);
  });

  it("says so since the same time, and no longer than it lasts", () => {
    const later = localStatus({ podIP: "172.18.0.2", conditions: [ready] }, withheld, {
      ...context,
      now: "2026-03-04T06:00:00Z",
    });
    assert.deepEqual(later.conditions, withheld.conditions);
    const over = localStatus({ podIP: "10.244.3.17", conditions: [ready] }, later, context);
    assert.deepEqual([over.podIP, over.conditions], ["10.71.3.17", [ready]]);
  });

  it("is not talked into it by a condition of the provider's", () => {
    const forged = { type: "liqo.io/AddressReflected", status: "True" };
    const status = localStatus({ podIP: "10.244.3.17", conditions: [ready, forged] }, undefined, context);
    assert.deepEqual(status.conditions, [ready]);
  });
});
