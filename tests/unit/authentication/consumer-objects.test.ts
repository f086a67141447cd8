import assert from "node:assert/strict";
import type { Identity, ResourceSlice } from "../../../runtime/api";
import { missingSubjects } from "../../../runtime/authentication/bindings";
import { withGlobalMetadata } from "../../../runtime/kube";
import { kubeconfigSecret } from "../../../runtime/authentication/kubeconfig-secret";
import {
  sliceIdentity,
  sliceQuota,
  sliceVirtualNode,
  wantsVirtualNode,
} from "../../../runtime/authentication/slice-objects";
import { ed25519KeyPair, parseKubeconfig, usableKubeconfig } from "../../../runtime/identity";

const base64 = (text: string) => Buffer.from(text).toString("base64");
const { privateKey } = ed25519KeyPair(Buffer.alloc(32, 5));
const ca = "-----BEGIN CERTIFICATE-----\nCA\n-----END CERTIFICATE-----\n";
const certificate = "-----BEGIN CERTIFICATE-----\nCRT\n-----END CERTIFICATE-----\n";

const identity = (spec: Partial<Identity["spec"]> = {}): Identity => ({
  apiVersion: "authentication.liqo.io/v1beta1",
  kind: "Identity",
  metadata: { name: "controlplane-milan", namespace: "to-milan", uid: "u-1" },
  spec: {
    clusterID: "milan",
    type: "ControlPlane",
    namespace: "guests",
    authParams: { apiServer: "https://10.0.0.2:6443", ca: base64(ca), signedCRT: base64(certificate) },
    ...spec,
  },
});

describe("the kubeconfig Secret of an Identity", () => {
  it("has the labels, the annotation and the kubeconfig that replicators look for", () => {
    const secret = kubeconfigSecret(identity(), privateKey);
    assert.deepEqual(secret.metadata, {
      name: "kubeconfig-controlplane-milan",
      namespace: "to-milan",
      labels: { "liqo.io/remote-cluster-id": "milan", "liqo.io/identity-type": "ControlPlane" },
      annotations: { "liqo.io/remote-tenant-namespace": "guests" },
      ownerReferences: [
        {
          apiVersion: "authentication.liqo.io/v1beta1",
          kind: "Identity",
          name: "controlplane-milan",
          uid: "u-1",
          controller: true,
          blockOwnerDeletion: true,
        },
      ],
    });
    const context = parseKubeconfig(Buffer.from(secret.data?.kubeconfig ?? "", "base64").toString());
    assert.deepEqual(context, {
      contextName: "default-context",
      clusterName: "milan",
      userName: "controlplane-milan",
      namespace: "guests",
      server: "https://10.0.0.2:6443",
      ca,
      certificate,
      privateKey,
    });
  });

  it("of a slice names no namespace", () => {
    const secret = kubeconfigSecret(identity({ type: "ResourceSlice" }), privateKey);
    assert.equal(secret.metadata.annotations, undefined);
    const text = Buffer.from(secret.data?.kubeconfig ?? "", "base64").toString();
    assert.equal(parseKubeconfig(text).namespace, undefined);
  });

  it("of a cloud identity has its keys, and gets a fresh token each time it is used", () => {
    const secret = kubeconfigSecret(
      identity({
        authParams: {
          apiServer: "https://eks.example",
          // As EKS gives it, and encoded once more on the way.
          ca: base64(base64(ca)),
          awsConfig: {
            awsUserArn: "arn:aws:iam::1:user/liqo-x",
            awsAccessKeyID: "AKIDEXAMPLE",
            awsSecretAccessKey: "secret",
            awsRegion: "eu-south-1",
            awsClusterName: "milan-eks",
          },
        },
      }),
      privateKey,
    );
    const data = Object.fromEntries(
      Object.entries(secret.data ?? {}).map(([key, value]) => [key, value ?? ""]),
    );
    assert.deepEqual(Object.keys(data).sort(), [
      "awsAccessKeyID",
      "awsEksClusterID",
      "awsIamUserArn",
      "awsRegion",
      "awsSecretAccessKey",
      "kubeconfig",
    ]);
    const usable = usableKubeconfig(data, new Date("2026-03-01T10:00:00Z"));
    const context = parseKubeconfig(usable?.text ?? "");
    assert.equal(context.ca, ca);
    assert.match(context.token ?? "", /^k8s-aws-v1\./);
    assert.equal(context.privateKey, undefined);
    assert.equal(usable?.refreshAfterMs, 600_000);
  });

  it("of a certificate is used as it is", () => {
    const data = { kubeconfig: base64("apiVersion: v1") };
    assert.deepEqual(usableKubeconfig(data, new Date()), { text: "apiVersion: v1" });
    assert.equal(usableKubeconfig({}, new Date()), undefined);
    assert.equal(usableKubeconfig(undefined, new Date()), undefined);
  });

  for (const [field, spec] of [
    ["spec.clusterID", { clusterID: undefined }],
    ["spec.type", { type: undefined }],
    ["spec.authParams.apiServer", { authParams: { signedCRT: "x" } }],
    ["spec.authParams.signedCRT", { authParams: { apiServer: "https://10.0.0.2:6443" } }],
  ] as const) {
    it(`cannot be made without ${field}`, () => {
      assert.throws(
        () => kubeconfigSecret(identity(spec), privateKey),
        new RegExp(`^Error: ${field} is missing; `),
      );
    });
  }
});

describe("the objects of a slice", () => {
  const slice: ResourceSlice = {
    apiVersion: "authentication.liqo.io/v1beta1",
    kind: "ResourceSlice",
    metadata: { name: "pool", namespace: "to-milan", uid: "u-2" },
    spec: {},
    status: {
      resources: { cpu: 8, memory: "1Gi" },
      nodeLabels: { zone: "a" },
      nodeSelector: { tier: "gold" },
      storageClasses: [{ storageClassName: "ssd", default: true }],
    },
  };

  it("a virtual node with what was granted", () => {
    const { metadata, spec } = sliceVirtualNode(slice, "milan", "kubeconfig-resourceslice-pool");
    assert.equal(metadata.name, "pool");
    assert.deepEqual(metadata.labels, {
      "liqo.io/remote-cluster-id": "milan",
      "liqo.io/resourceslice-name": "pool",
    });
    assert.deepEqual(spec, {
      clusterID: "milan",
      kubeconfigSecretRef: { name: "kubeconfig-resourceslice-pool" },
      resourceQuota: { hard: { cpu: "8", memory: "1Gi" } },
      labels: { zone: "a", "liqo.io/remote-cluster-id": "milan" },
      storageClasses: [{ storageClassName: "ssd", default: true }],
      ingressClasses: [],
      loadBalancerClasses: [],
      offloadingPatch: { nodeSelector: { tier: "gold" } },
    });
  });

  it("an identity without a namespace", () => {
    const { metadata, spec } = sliceIdentity(slice, "milan", { apiServer: "https://x" });
    assert.equal(metadata.name, "resourceslice-pool");
    assert.equal(metadata.ownerReferences?.[0]?.uid, "u-2");
    assert.deepEqual(spec, {
      clusterID: "milan",
      type: "ResourceSlice",
      authParams: { apiServer: "https://x" },
    });
  });

  it("a quota under the name of the slice's user, closed while the slice is cordoned", () => {
    const open = sliceQuota(slice, "rome", "Soft");
    assert.equal(open.metadata.name, "pool-a8a4c692b93b");
    assert.deepEqual(open.spec, {
      user: "pool-a8a4c692b93b",
      limitsEnforcement: "Soft",
      resources: { cpu: "8", memory: "1Gi" },
    });
    const metadata = { ...slice.metadata, annotations: { "liqo.io/cordon": "true" } };
    assert.equal(sliceQuota({ ...slice, metadata }, "rome", "None").spec?.cordoned, true);
  });

  for (const [value, wanted] of [
    [undefined, false],
    ["", false],
    ["false", false],
    ["False", false],
    ["true", true],
    ["yes", true],
  ] as const) {
    it(`a virtual node is wanted with ${JSON.stringify(value)}: ${wanted}`, () => {
      const annotations: Record<string, string> =
        value === undefined ? {} : { "liqo.io/create-virtual-node": value };
      assert.equal(wantsVirtualNode({ ...slice, metadata: { ...slice.metadata, annotations } }), wanted);
    });
  }
});

describe("global labels and annotations", () => {
  it("fill their places, and give way to the object's own", () => {
    const object = {
      apiVersion: "offloading.liqo.io/v1beta1",
      kind: "Quota",
      metadata: { name: "q", namespace: "n", labels: { own: "kept" } },
    };
    const { metadata } = withGlobalMetadata(object, {
      labels: { own: "lost", where: "${namespace}.${name}" },
      annotations: { what: "${kind}/${group}", other: "${unknown}" },
    });
    assert.deepEqual(metadata, {
      name: "q",
      namespace: "n",
      labels: { own: "kept", where: "n.q" },
      annotations: { what: "Quota/offloading.liqo.io", other: "${unknown}" },
    });
  });
});

describe("the subjects of a binding", () => {
  const rome = { apiGroup: "rbac.authorization.k8s.io", kind: "User", name: "rome" };
  const guest = { ...rome, name: "guest" };
  it("get what is missing, and keep what is there", () => {
    assert.deepEqual(missingSubjects(undefined, [rome]), [rome]);
    assert.deepEqual(missingSubjects([guest], [rome]), [guest, rome]);
    assert.equal(missingSubjects([rome, guest], [rome]), undefined);
  });
});
