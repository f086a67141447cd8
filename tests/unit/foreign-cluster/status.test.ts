import assert from "node:assert/strict";
import { type PeerFacts, peerStatus } from "../../../runtime/foreign-cluster/status";

const t0 = "2026-03-01T10:00:00Z";
const t1 = "2026-03-01T10:05:00Z";

const providerFacts: PeerFacts = {
  networking: { configuration: false },
  authentication: {
    identity: {
      namespace: "liqo-tenant-milan",
      remoteNamespace: "liqo-tenant-rome",
      apiServer: "https://10.0.0.2:6443",
      hasSecret: true,
    },
  },
  offloading: [],
  apiServer: "ready",
};

describe("the status of a ForeignCluster", () => {
  const roles: [string, PeerFacts, string][] = [
    ["nothing", { apiServer: "unknown" }, "Unknown"],
    ["a Tenant", { authentication: { tenant: tenant() }, apiServer: "unknown" }, "Consumer"],
    ["an identity", providerFacts, "Provider"],
    ["a VirtualNode alone", { offloading: [virtualNode()], apiServer: "unknown" }, "Provider"],
    [
      "a Tenant and a VirtualNode",
      { authentication: { tenant: tenant() }, offloading: [virtualNode()], apiServer: "unknown" },
      "ConsumerAndProvider",
    ],
  ];
  for (const [title, facts, role] of roles) {
    it(`with ${title} has the role ${role}`, () => {
      assert.equal(peerStatus(undefined, 1, facts, t0).status.role, role);
    });
  }

  it("is the same again when nothing changed, whatever the time", () => {
    const first = peerStatus(undefined, 1, providerFacts, t0).status;
    assert.deepEqual(peerStatus(first, 1, providerFacts, t1).status, first);
  });

  it("moves the transition time of the condition that changed only", () => {
    const first = peerStatus(undefined, 1, providerFacts, t0).status;
    const second = peerStatus(first, 1, { ...providerFacts, apiServer: { error: "refused" } }, t1).status;
    assert.deepEqual(
      second.conditions?.map(({ status, lastTransitionTime }) => [status, lastTransitionTime]),
      [["Error", t1]],
    );
    assert.deepEqual(second.modules, first.modules);
  });

  it("clears a module that this installation does not have", () => {
    const first = peerStatus(undefined, 1, { ...providerFacts, offloading: [virtualNode()] }, t0).status;
    assert.equal(first.modules?.offloading.conditions?.length, 2);
    const second = peerStatus(
      first,
      1,
      { authentication: providerFacts.authentication, apiServer: "ready" },
      t1,
    );
    assert.deepEqual(second.status.modules?.offloading, { enabled: false });
    assert.deepEqual(second.status.modules?.networking, { enabled: false });
  });

  it("after unpeering keeps nothing but the role Unknown", () => {
    const first = peerStatus(undefined, 1, providerFacts, t0).status;
    const { status, checked } = peerStatus(first, 1, { apiServer: "unknown" }, t1);
    assert.equal(checked, false);
    assert.deepEqual(status, {
      observedGeneration: 1,
      role: "Unknown",
      modules: {
        networking: { enabled: false },
        authentication: { enabled: false },
        offloading: { enabled: false },
      },
    });
  });

  it("keeps the condition of the API server until the first check after a restart", () => {
    const first = peerStatus(undefined, 1, providerFacts, t0).status;
    const again = peerStatus(first, 1, { ...providerFacts, apiServer: "unknown" }, t1);
    assert.equal(again.checked, true);
    assert.deepEqual(again.status.conditions, first.conditions);
  });

  it("checks a peer that is known by its proxy only", () => {
    const facts: PeerFacts = {
      authentication: {
        identity: { namespace: "liqo-tenant-milan", proxyUrl: "http://10.0.0.9:8118", hasSecret: false },
      },
      apiServer: "unknown",
    };
    assert.equal(peerStatus(undefined, 1, facts, t0).checked, true);
  });
});

function tenant() {
  return { authzPolicy: "KeysExchange", hasAuthParams: true, tenantNamespace: "liqo-tenant-rome" } as const;
}

function virtualNode() {
  return { name: "milan", hosted: true, createNode: true, nodeReady: true };
}
