import assert from "node:assert/strict";

import { type NamespaceMap, NamespaceOffloading } from "../../../runtime/api";
import {
  acceptedNamespaces as acceptedIn,
  mapToProvider,
} from "../../../runtime/virtual-kubelet/peer/offloaded-namespaces";

const acceptedNamespaces = (maps: readonly NamespaceMap[], provider: string) =>
  acceptedIn(mapToProvider(maps, provider), (namespace) => ({
    apiVersion: NamespaceOffloading.apiVersion,
    kind: NamespaceOffloading.kind,
    metadata: { name: "offloading", namespace },
    spec: NamespaceOffloading.parseSpec({}),
  }));

describe("acceptedNamespaces", () => {
  type Mapping = NonNullable<NonNullable<NamespaceMap["status"]>["currentMapping"]>;
  const map = (name: string, labels: Record<string, string>, currentMapping: Mapping): NamespaceMap => ({
    apiVersion: "offloading.liqo.io/v1beta1",
    kind: "NamespaceMap",
    metadata: { name, namespace: "liqo-tenant-milan", labels },
    spec: { desiredMapping: { shop: "shop-rome", gone: "gone-rome", broken: "broken-rome", nameless: "n" } },
    status: { currentMapping },
  });
  const ours = { "liqo.io/remote-cluster-id": "milan", "liqo.io/replication": "true" };

  it("takes what the provider has accepted, and nothing else", () => {
    const accepted = acceptedNamespaces(
      [
        map("milan", ours, {
          shop: { remoteNamespace: "shop-rome", phase: "Accepted" },
          gone: { remoteNamespace: "gone-rome", phase: "Terminating" },
          broken: { remoteNamespace: "broken-rome", phase: "CreationLoopBackOff" },
          nameless: { phase: "Accepted" },
        }),
      ],
      "milan",
    );
    assert.deepEqual([...accepted], [["shop", "shop-rome"]]);
  });

  it("does not take the map of the peering in the other direction for ours", () => {
    const theirs = { ...ours, "liqo.io/replication": "false", "liqo.io/replicated": "true" };
    const mapping: Mapping = { shop: { remoteNamespace: "shop-rome", phase: "Accepted" } };
    assert.equal(acceptedNamespaces([map("rome", theirs, mapping)], "milan").size, 0);
    assert.equal(acceptedNamespaces([map("rome", theirs, {}), map("milan", ours, mapping)], "milan").size, 1);
    assert.equal(acceptedNamespaces([map("milan", ours, mapping)], "turin").size, 0);
  });

  it("prefers the map that is named after the provider", () => {
    const first = map("a", ours, { shop: { remoteNamespace: "wrong", phase: "Accepted" } });
    const second = map("milan", ours, { shop: { remoteNamespace: "shop-rome", phase: "Accepted" } });
    assert.equal(acceptedNamespaces([first, second], "milan").get("shop"), "shop-rome");
  });
});
