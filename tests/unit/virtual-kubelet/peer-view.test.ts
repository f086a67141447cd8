import assert from "node:assert/strict";

import {
  type Configuration,
  type ForeignCluster,
  type NamespaceMap,
  NamespaceOffloading,
} from "../../../runtime/api";
import type { Pod, Secret } from "../../../runtime/api/kubernetes";
import {
  acceptedNamespaces as acceptedIn,
  mapToProvider,
} from "../../../runtime/virtual-kubelet/peer/offloaded-namespaces";
import { peerNetwork } from "../../../runtime/virtual-kubelet/peer/peer-network";
import {
  isWhole,
  projectLocalPod,
  projectRemotePod,
  projectSecret,
} from "../../../runtime/virtual-kubelet/peer/projections";
import { boundTo, isTokenSecret } from "../../../runtime/virtual-kubelet/peer/token-secret";
import { tokenMetadata } from "../../support/token-metadata";

const pair = { origin: "rome", destination: "milan" };

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

describe("projections", () => {
  const pod: Pod = {
    apiVersion: "v1",
    kind: "Pod",
    metadata: {
      name: "web-0",
      namespace: "shop",
      uid: "u",
      resourceVersion: "7",
      labels: { app: "web", "offloading.liqo.io/origin": "rome", "offloading.liqo.io/nodename": "milan" },
      annotations: { note: "n", "offloading.liqo.io/source": "{}" },
      ownerReferences: [{ apiVersion: "v1", kind: "X", name: "x", uid: "x" }],
    },
    spec: {
      nodeName: "milan",
      serviceAccountName: "robot",
      containers: [{ name: "app" }],
      volumes: [
        { name: "data", emptyDir: {} },
        { name: "token", projected: { sources: [{ serviceAccountToken: { path: "token" } }] } },
      ],
    },
    status: { phase: "Running" },
  };

  it("keep of a remote pod who it is and its status", () => {
    assert.deepEqual(projectRemotePod(pod), {
      apiVersion: "v1",
      kind: "Pod",
      metadata: {
        name: "web-0",
        namespace: "shop",
        uid: "u",
        resourceVersion: "7",
        labels: { "offloading.liqo.io/origin": "rome", "offloading.liqo.io/nodename": "milan" },
        annotations: { "offloading.liqo.io/source": "{}" },
      },
      spec: { containers: [] },
      status: { phase: "Running" },
    });
  });

  it("keep of a stranger that it is there", () => {
    const stranger = { ...pod, metadata: { name: "web-0", labels: { app: "web" } } };
    assert.equal(projectRemotePod(stranger).status, undefined);
  });

  it("keep the spec of a local pod until it is taken over, then its tokens", () => {
    assert.deepEqual(projectLocalPod(pod).spec, pod.spec);
    assert.ok(isWhole(projectLocalPod(pod)));
    const taken = {
      ...pod,
      metadata: { ...pod.metadata, labels: { ...pod.metadata.labels, "liqo.io/shadowPod": "true" } },
    };
    const projected = projectLocalPod(taken);
    assert.deepEqual(projected.spec, {
      containers: [],
      nodeName: "milan",
      serviceAccountName: "robot",
      volumes: [pod.spec.volumes?.[1]],
    });
    assert.ok(!isWhole(projected));
    assert.deepEqual(projected.metadata.annotations, pod.metadata.annotations);
  });

  it("keep of token secrets no token", () => {
    const secret: Secret = {
      apiVersion: "v1",
      kind: "Secret",
      metadata: {
        name: "web-0-token",
        ...tokenMetadata(pair),
      },
      data: { "token-3c469e": "c2VjcmV0" },
    };
    assert.deepEqual(projectSecret(secret).data, { "token-3c469e": "" });
    assert.deepEqual(projectSecret({ ...secret, metadata: { name: "s" } }).data, secret.data);
  });
});

describe("token secrets", () => {
  const metadata = (serviceAccount: string) => tokenMetadata(pair, { serviceAccount });

  it("say whose they are and when they expire", () => {
    const secret = { metadata: { name: "web-0-token", ...metadata("robot") } };
    assert.ok(isTokenSecret(secret));
    assert.equal(secret.metadata.labels["offloading.liqo.io/service-account-name"], "robot");
    assert.equal(
      secret.metadata.annotations["offloading.liqo.io/service-account-expiration"],
      "2027-01-15T08:00:00Z",
    );
    assert.deepEqual(boundTo(secret), { podName: "web-0", podUid: "u1", expiresAt: 1_800_000_000_000 });
  });

  it("name an account that is no label value among the annotations", () => {
    const long = "a".repeat(64);
    const secret = { metadata: { name: "s", ...metadata(long) } };
    assert.ok(isTokenSecret(secret));
    assert.equal(secret.metadata.labels["offloading.liqo.io/service-account-name"], undefined);
    assert.equal(secret.metadata.annotations["offloading.liqo.io/service-account-name"], long);
  });

  it("are told from others", () =>
    assert.ok(!isTokenSecret({ metadata: { name: "s", labels: { app: "x" } } })));
});
