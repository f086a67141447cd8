import assert from "node:assert/strict";

import { Identity, ResourceSlice, Tenant } from "../../../runtime/api/authentication";
import { parseArguments } from "../../../runtime/plan/arguments";
import { sliceRequestSchema } from "../../../runtime/plan/offloading";
import {
  controlPlaneIdentity,
  nonceData,
  nonceSecret,
  peeringSidesSchema,
  resourceSlice,
  signedNonceSecret,
  tenant,
  tenantNamespace,
} from "../../../runtime/plan/peering";
import { peeringUserBindings, peeringUserRequest } from "../../../runtime/plan/peering-user";

const parse = (value: unknown) => parseArguments(peeringSidesSchema, "Peering", value);
const sides = parse({ consumer: { clusterId: "rome" }, provider: { clusterId: "milan" } });

describe("the plan of a peering", () => {
  it("names the tenant namespaces after the peer, unless they have names", () => {
    assert.deepEqual(sides, {
      consumer: { clusterId: "rome", tenantNamespace: "liqo-tenant-milan" },
      provider: { clusterId: "milan", tenantNamespace: "liqo-tenant-rome" },
    });
    const named = parse({
      consumer: { clusterId: "rome", tenantNamespace: "lombardy" },
      provider: { clusterId: "milan", tenantNamespace: "lazio" },
    });
    assert.equal(named.consumer.tenantNamespace, "lombardy");
    assert.equal(named.provider.tenantNamespace, "lazio");
  });

  it("refuses a cluster as its own peer", () => {
    assert.throws(
      () => parse({ consumer: { clusterId: "rome" }, provider: { clusterId: "rome" } }),
      /provider\.clusterId: "rome" is the consumer's ID too/,
    );
  });

  it("marks a tenant namespace with the peer and as one", () => {
    const { metadata } = tenantNamespace("liqo-tenant-milan", "milan");
    assert.equal(metadata.labels?.["liqo.io/remote-cluster-id"], "milan");
    assert.equal(metadata.labels?.["liqo.io/tenant-namespace"], "true");
    assert.equal(metadata.labels?.["pod-security.kubernetes.io/enforce"], "privileged");
  });

  it("asks for a nonce at the provider, with the consumer's ID", () => {
    assert.deepEqual(nonceSecret(sides).metadata, {
      name: "liqo-nonce",
      namespace: "liqo-tenant-rome",
      labels: { "liqo.io/nonce": "true", "liqo.io/remote-cluster-id": "rome" },
    });
    assert.equal(nonceSecret(sides).data, undefined, "the provider's controller fills it");
  });

  it("asks for its signature at the consumer; the Secret's value is the nonce's text", () => {
    assert.deepEqual(signedNonceSecret(sides).metadata, {
      name: "liqo-signed-nonce",
      namespace: "liqo-tenant-milan",
      labels: { "liqo.io/signed-nonce": "true", "liqo.io/remote-cluster-id": "milan" },
    });
    assert.deepEqual(nonceData("bm9uY2U="), { nonce: Buffer.from("bm9uY2U=").toString("base64") });
  });

  it("makes a Tenant that its kind accepts, with the policy of the handshake", () => {
    const credentials = { publicKey: "a2V5", csr: "Y3Ny", signature: "c2lnbmF0dXJl" };
    const { metadata, spec } = Tenant.parse(tenant(sides, credentials, "http://10.9.0.1:8118"));
    assert.deepEqual([metadata.namespace, metadata.name], ["liqo-tenant-rome", "rome"]);
    assert.deepEqual(spec, {
      clusterID: "rome",
      authzPolicy: "KeysExchange",
      ...credentials,
      proxyURL: "http://10.9.0.1:8118",
      tenantCondition: "Active",
    });
  });

  it("leaves the tenant's condition to the provider's administrator", () => {
    const credentials = { publicKey: "a2V5", csr: "Y3Ny", signature: "c2lnbmF0dXJl" };
    assert.equal("tenantCondition" in (tenant(sides, credentials).spec ?? {}), false);
  });

  it("makes an Identity that its kind accepts, with the namespace at the provider", () => {
    const authParams = { apiServer: "https://192.0.2.7:6443", signedCRT: "Y3J0", ca: "Y2E=" };
    const { metadata, spec } = Identity.parse(controlPlaneIdentity(sides, authParams));
    assert.deepEqual([metadata.namespace, metadata.name], ["liqo-tenant-milan", "controlplane-milan"]);
    assert.deepEqual(spec, {
      clusterID: "milan",
      type: "ControlPlane",
      authParams,
      namespace: "liqo-tenant-rome",
    });
  });

  it("makes the slice of the seed documents", () => {
    const request = parseArguments(sliceRequestSchema, "slice", {
      providerClusterId: "milan",
      tenantNamespace: "liqo-tenant-milan",
      sliceName: "mynode",
      resources: { cpu: 20, memory: "128Gi" },
    });
    const slice = ResourceSlice.parse(resourceSlice(request, true));
    assert.deepEqual(slice.metadata, {
      name: "mynode",
      namespace: "liqo-tenant-milan",
      annotations: { "liqo.io/create-virtual-node": "true" },
      labels: {
        "liqo.io/remote-cluster-id": "milan",
        "liqo.io/remoteID": "milan",
        "liqo.io/replication": "true",
      },
    });
    assert.deepEqual(slice.spec, {
      class: "default",
      providerClusterID: "milan",
      resources: { cpu: "20", memory: "128Gi" },
    });
    assert.equal(
      resourceSlice(request, false).metadata.annotations?.["liqo.io/create-virtual-node"],
      "false",
    );
  });
});

describe("a peering user", () => {
  const user = {
    consumerClusterId: "rome",
    userName: "liqo-peer-user-rome-0011",
    liqoNamespace: "liqo-system",
    tenantNamespace: "liqo-tenant-rome",
  };

  it("reads in the Liqo namespace, and peers in the tenant namespace", () => {
    const told = peeringUserBindings(user).map(({ metadata, roleRef, subjects }) => [
      `${metadata.namespace}/${metadata.name}`,
      `${roleRef?.kind} ${roleRef?.name}`,
      subjects?.map((subject) => `${subject?.kind} ${subject?.name}`).join(),
    ]);
    assert.deepEqual(told, [
      [
        "liqo-system/liqo-peer-user-rome-liqo-ns-reader",
        "Role liqo-peering-user-liqo-ns",
        "User liqo-peer-user-rome-0011",
      ],
      [
        "liqo-tenant-rome/liqo-peer-user-rome-tenant-ns-writer",
        "ClusterRole liqo-peering-user-tenant-ns",
        "User liqo-peer-user-rome-0011",
      ],
    ]);
  });

  it("is marked as upstream marks it, unless the cluster's ID is too long for a label", () => {
    const labels = (consumer: string) => peeringUserRequest(consumer, "csr").metadata.labels;
    assert.deepEqual(labels("rome"), {
      "liqo.io/remote-cluster-id": "rome",
      "liqo.io/peering-user-name": "liqo-peer-user-rome",
    });
    const long = "r".repeat(51);
    assert.deepEqual(labels(long), { "liqo.io/remote-cluster-id": long });
  });
});
