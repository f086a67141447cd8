import assert from "node:assert/strict";

import type { Pod, Secret } from "../../../runtime/api/kubernetes";
import {
  isWhole,
  projectLocalPod,
  projectRemotePod,
  projectSecret,
} from "../../../runtime/virtual-kubelet/peer/projections";
import { boundTo, isTokenSecret } from "../../../runtime/virtual-kubelet/peer/token-secret";
import { tokenMetadata } from "../../support/token-metadata";

const pair = { origin: "rome", destination: "milan" };

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
