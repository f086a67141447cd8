/**
 * The life of a provider that runs upstream Liqo, replayed from the contract for a consumer of ours: its roles word for word, and the answers that its
 * controllers write.
 */
import assert from "node:assert/strict";

import { Identity, Node, Pod, Secret, VirtualNode } from "../../runtime/api";
import { createCertificateRequest, generateNonce, verifyNonce } from "../../runtime/identity";
import { base64 } from "../support/base64";
import { until } from "../support/until";
import { type Step, withUpstreamPeer } from "../support/upstream/clusters";
import { type GoClient, sorts, specOf } from "../support/upstream/go-client";
import { at, ensureTenantNamespace } from "../support/upstream/liqoctl";
import { condition, UpstreamProvider } from "../support/upstream/provider";

const PEER = "liqo.io/remote-cluster-id";
const atMilan = (name: string) => ({ name, namespace: "liqo-tenant-turin" });
const atTurin = (name: string) => ({ name, namespace: "liqo-tenant-milan" });
const granted = {
  resources: { cpu: "4", memory: "8Gi", pods: "110", "ephemeral-storage": "20Gi" },
  storageClasses: [{ storageClassName: "liqo" }, { storageClassName: "fast.ssd", default: true }],
  ingressClasses: [{ ingressClassName: "nginx", default: true }, { ingressClassName: "traefik" }],
  loadBalancerClasses: [{ loadBalancerClassName: "metallb.example.org/public" }],
  nodeLabels: { "liqo.io/provider": "kubeadm", "topology.kubernetes.io/region": "north" },
  nodeSelector: { disk: "ssd" },
};

describe("a provider that runs upstream Liqo", function () {
  this.timeout(180_000);
  // Each step lives on what the ones before it left.
  this.bail(true);
  const clusters = withUpstreamPeer();
  const nonce = generateNonce();
  let admin: GoClient;
  let turin: GoClient;
  let upstream: UpstreamProvider;
  before(() => {
    ({ admin, turin } = clusters);
    const { url, caCertificate } = clusters.controlPlane("turin");
    const ca = caCertificate;
    upstream = new UpstreamProvider({ admin: turin, clusterId: "turin", consumer: "milan", server: url, ca });
  });

  const keyOf = async (field: string) => {
    const ref = { name: "authentication-keys", namespace: "liqo-system" };
    return Buffer.from(textAt(await admin.get(sorts.secret, ref), "data", field), "base64").toString();
  };
  const identity = async () =>
    (await admin.client.get(Identity, atMilan("controlplane-turin"))) ?? assert.fail();
  const kubeconfig = async (name: string) =>
    (await admin.client.get(Secret, atMilan(`kubeconfig-${name}`)))?.data?.kubeconfig;
  const slice = async (name: string, labels = {}) => {
    const annotations = { "liqo.io/create-virtual-node": name === "turin" ? "true" : "false" };
    const marks = { [PEER]: "turin", "liqo.io/remoteID": "turin", "liqo.io/replication": "true", ...labels };
    await admin.create({
      ...sorts.slice,
      metadata: { ...atMilan(name), labels: marks, annotations },
      spec: { class: "default", providerClusterID: "turin", resources: { cpu: "4" } },
    });
    return await upstream.askedSlice(name);
  };
  const credentials = async (name: string) =>
    upstream.credentialsFor(at(await upstream.askedSlice(name), "spec", "csr"));
  const sliceSays = (name: string, field: string, value: unknown) =>
    until(`${name} says ${field}`, async () => {
      const said = at(await admin.get(sorts.slice, atMilan(name)), "status", field);
      return JSON.stringify(sorted(said)) === JSON.stringify(sorted(value));
    });
  const offload = async (namespace: string, spec: object) => {
    await admin.create({ ...sorts.namespace, metadata: { name: namespace } });
    await admin.create({
      ...sorts.offloading,
      metadata: { name: "offloading", namespace },
      spec: { podOffloadingStrategy: "LocalAndRemote", clusterSelector: { nodeSelectorTerms: [] }, ...spec },
    });
  };
  const asked = (namespace: string, expected: string | undefined) =>
    until(`${namespace} is asked for`, async () => {
      const map = await turin.find(sorts.map, atTurin("turin"));
      return map !== undefined && at(map, "spec", "desiredMapping", namespace) === expected;
    });
  const phase = (namespace: string, expected: string) =>
    until(`${namespace} is ${expected}`, async () => {
      const found = await admin.get(sorts.offloading, { name: "offloading", namespace });
      return at(found, "status", "offloadingPhase") === expected;
    });

  const life: Step[] = [
    [
      "liqoctl peer",
      "makes both tenant namespaces and the nonce, which milan signs",
      async () => {
        await upstream.install();
        await ensureTenantNamespace(admin, "turin");
        await ensureTenantNamespace(turin, "milan");
        const labels = (kind: string, peer: string) => ({ [`liqo.io/${kind}`]: "true", [PEER]: peer });
        await turin.create({
          ...sorts.secret,
          metadata: { ...atTurin("liqo-nonce"), labels: labels("nonce", "milan") },
        });
        await upstream.fillNonce(nonce);
        const ref = atMilan("liqo-signed-nonce");
        const data = { nonce: base64(nonce) };
        await admin.create({
          ...sorts.secret,
          metadata: { ...ref, labels: labels("signed-nonce", "turin") },
          data,
        });
        const signed = await until("the signature", async () => {
          const found = at(await admin.get(sorts.secret, ref), "data", "signedNonce");
          return typeof found === "string" && found;
        });
        assert.ok(verifyNonce(nonce, Buffer.from(signed, "base64"), await keyOf("publicKey")));
        const subject = { commonName: "milan", organization: "liqo.io" };
        await turin.create({
          ...sorts.tenant,
          metadata: { ...atTurin("milan"), labels: { [PEER]: "milan" } },
          spec: {
            clusterID: "milan",
            authzPolicy: "KeysExchange",
            publicKey: base64(await keyOf("publicKey")),
            csr: base64(createCertificateRequest(subject, await keyOf("privateKey"))),
            signature: signed,
            tenantCondition: "Active",
          },
        });
      },
    ],
    [
      "the tenant controller, and liqoctl peer",
      "answer with credentials, which milan uses: its Renew arrives",
      async () => {
        const tenant = await upstream.acceptTenant(nonce);
        const authParams = at(tenant, "status", "authParams");
        await admin.create({
          ...sorts.identity,
          metadata: { ...atMilan("controlplane-turin"), labels: { [PEER]: "turin" } },
          spec: { clusterID: "turin", authParams, namespace: "liqo-tenant-milan", type: "ControlPlane" },
          status: {},
        });
        const renew = await until("the Renew", () => turin.find(sorts.renew, atTurin("controlplane-turin")));
        assert.deepEqual(renew.metadata.labels, copyLabels);
        assert.deepEqual(specOf(renew), { consumerClusterID: "milan", identityType: "ControlPlane" });
      },
    ],
    [
      "the renewal",
      "replaces the certificate, by an authority with the bytes that Go leaves behind it",
      async () => {
        const before = await kubeconfig("controlplane-turin");
        const padded = Buffer.concat([
          Buffer.from(clusters.controlPlane("turin").caCertificate),
          Buffer.alloc(2),
        ]);
        await upstream.renewTenant({ ca: base64(padded) });
        const renewed = await upstream.answerRenew("controlplane-turin");
        await until("milan has it", async () => {
          const { authParams } = (await identity()).spec;
          return authParams?.signedCRT === at(renewed, "status", "authParams", "signedCRT");
        });
        await until("milan uses it", async () => (await kubeconfig("controlplane-turin")) !== before);
      },
    ],
    [
      "resourceslice_remote",
      "grants a slice with all that a status may have, and milan has a node of it",
      async () => {
        const copy = await slice("turin", { "liqo.io/managed": "true" });
        assert.deepEqual(copy.metadata.labels, { ...copyLabels, "liqo.io/managed": "true" });
        assert.deepEqual(copy.metadata.annotations, { "liqo.io/create-virtual-node": "true" });
        assert.equal(at(copy, "metadata", "finalizers"), undefined);
        assert.equal(at(copy, "spec", "consumerClusterID"), "milan");
        const status = { ...granted, authParams: await credentials("turin") };
        await upstream.grantSlice("turin", status);
        for (const [field, value] of Object.entries(status)) await sliceSays("turin", field, value);
        const { spec } = await until("the virtual node", () =>
          admin.client.get(VirtualNode, atMilan("turin")),
        );
        assert.deepEqual(spec.resourceQuota?.hard, granted.resources);
        assert.deepEqual(spec.offloadingPatch?.nodeSelector, granted.nodeSelector);
        await until("its node", async () => {
          const node = await admin.client.get(Node, { name: "turin" });
          const ready = node?.status?.conditions?.find(({ type }) => type === "Ready");
          return (
            ready?.status === "True" && node?.metadata.labels?.["topology.kubernetes.io/region"] === "north"
          );
        });
      },
    ],
    [
      "the namespacemap controller",
      "accepts namespaces under the names of every strategy",
      async () => {
        await offload("shop", { namespaceMappingStrategy: "DefaultName" });
        await offload("books", { namespaceMappingStrategy: "EnforceSameName" });
        await offload("wine", { namespaceMappingStrategy: "SelectedName", remoteNamespaceName: "cellar" });
        for (const [local, remote] of [
          ["shop", "shop-milan"],
          ["books", "books"],
          ["wine", "cellar"],
        ] as const)
          await asked(local, remote);
        const { labels } = (await turin.get(sorts.map, atTurin("turin"))).metadata;
        assert.deepEqual(labels, copyLabels);
        await upstream.answerMap("turin");
        for (const namespace of ["shop", "books", "wine"]) await phase(namespace, "Ready");
      },
    ],
    [
      "the namespacemap controller",
      "fails a namespace, and accepts it later",
      async () => {
        await offload("tea", { namespaceMappingStrategy: "EnforceSameName" });
        await asked("tea", "tea");
        const { currentMapping } = objectAt(await turin.get(sorts.map, atTurin("turin")), "status");
        const failed = { remoteNamespace: "tea", phase: "CreationLoopBackOff" };
        await upstream.sayOfMap("turin", { ...objectAt({ currentMapping }, "currentMapping"), tea: failed });
        await phase("tea", "AllFailed");
        await upstream.answerMap("turin");
        await phase("tea", "Ready");
      },
    ],
    [
      "the ShadowPod controller",
      "runs a pod of milan's, with the rights that upstream gives in a namespace",
      async () => {
        const data = { a: base64("1") };
        await admin.create({ ...sorts.secret, metadata: { name: "password", namespace: "shop" }, data });
        const main = { name: "web", image: "web:1" };
        await until("the account", () =>
          admin.find({ apiVersion: "v1", kind: "ServiceAccount" }, { name: "default", namespace: "shop" }),
        );
        await admin.create({
          ...sorts.pod,
          metadata: { name: "web-0", namespace: "shop", labels: { app: "web" } },
          spec: { nodeName: "turin", tolerations: [{ operator: "Exists" }], containers: [main] },
        });
        await until("the Secret is there", () =>
          turin.find(sorts.secret, { name: "password", namespace: "shop-milan" }),
        );
        await upstream.runShadowPod("shop-milan", "web-0");
        await until("the pod runs", async () => {
          const pod = await admin.client.get(Pod, { name: "web-0", namespace: "shop" });
          return pod?.status?.phase === "Running";
        });
        await turin.delete(sorts.pod, { name: "web-0", namespace: "shop-milan" });
      },
    ],
    [
      "resourceslice_remote",
      "denies what it accepted, and milan tells so and keeps its node",
      async () => {
        const conditions = [condition("Authentication", "Accepted"), condition("Resources", "Denied")];
        const authParams = at(await turin.get(sorts.slice, atTurin("turin")), "status", "authParams");
        await upstream.grantSlice("turin", { ...granted, authParams, conditions });
        await sliceSays("turin", "conditions", conditions);
        assert.notEqual(await admin.client.get(VirtualNode, atMilan("turin")), undefined);
        await upstream.grantSlice("turin", { ...granted, authParams });
      },
    ],
    [
      "the identity providers",
      "give credentials in every form, and milan takes each over as it is",
      async () => {
        await slice("forms");
        const { ca, signedCRT, apiServer } = await credentials("forms");
        const twice = base64(ca ?? "");
        const awsConfig = {
          awsUserArn: "arn:aws:iam::123456789012:user/liqo-Zm9v",
          awsAccessKeyID: "AKIAIOSFODNN7EXAMPLE",
          awsSecretAccessKey: "wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY",
          awsRegion: "eu-west-1",
          awsClusterName: "turin",
        };
        for (const authParams of [
          { ca, signedCRT, apiServer },
          { signedCRT, apiServer: "https://turin.example.org" },
          { ca, signedCRT, apiServer: "https://172.19.0.2:6443", proxyURL: "http://10.68.0.3:8118" },
          { ca: twice, apiServer: "https://A1B2.gr7.eu-west-1.eks.amazonaws.com", awsConfig },
        ]) {
          await upstream.grantSlice("forms", { resources: { cpu: "1" }, authParams });
          await sliceSays("forms", "authParams", authParams);
          await until("the identity has it", async () => {
            const found = await admin.client.get(Identity, atMilan("resourceslice-forms"));
            return JSON.stringify(sorted(found?.spec.authParams)) === JSON.stringify(sorted(authParams));
          });
        }
        const secret = await until("the keys of EKS", async () => {
          const found = await admin.client.get(Secret, atMilan("kubeconfig-resourceslice-forms"));
          return found?.data?.awsAccessKeyID !== undefined && found;
        });
        assert.equal(secret.data?.awsEksClusterID, base64("turin"));
        await admin.delete(sorts.slice, atMilan("forms"));
        await turin.gone(sorts.slice, atTurin("forms"));
        await admin.gone(sorts.slice, atMilan("forms"));
      },
    ],
    [
      "liqoctl drain and activate tenant",
      "take the copies, which milan brings again",
      async () => {
        await upstream.drain();
        await upstream.endMap("turin");
        for (const sort of [sorts.slice, sorts.map]) await turin.gone(sort, atTurin("turin"));
        await upstream.bind();
        for (const sort of [sorts.slice, sorts.map])
          await until("the copy is there again", () => turin.find(sort, atTurin("turin")));
        await upstream.grantSlice("turin", { ...granted, authParams: await credentials("turin") });
        await upstream.answerMap("turin");
        await phase("shop", "Ready");
      },
    ],
    [
      "liqoctl unoffload namespace",
      "ends once the provider's answer is gone",
      async () => {
        const ref = { name: "offloading", namespace: "wine" };
        await admin.delete(sorts.offloading, ref);
        await asked("wine", undefined);
        await upstream.answerMap("turin");
        await admin.gone(sorts.offloading, ref);
      },
    ],
    [
      "liqoctl unpeer",
      "removes slice, virtual node, Identity and Tenant, and nothing of milan's stays there",
      async () => {
        await admin.delete(sorts.slice, atMilan("turin"));
        await turin.gone(sorts.slice, atTurin("turin"));
        await admin.gone(sorts.slice, atMilan("turin"));
        await admin.delete(sorts.virtualNode, atMilan("turin"));
        await upstream.endMap("turin");
        await admin.gone(sorts.virtualNode, atMilan("turin"));
        await admin.delete(sorts.identity, atMilan("controlplane-turin"));
        await turin.gone(sorts.renew, atTurin("controlplane-turin"));
        await upstream.endTenant();
        await admin.gone(sorts.identity, atMilan("controlplane-turin"));
        const remove = async (client: GoClient, name: string) => {
          await client.delete(sorts.namespace, { name });
          await client.gone(sorts.namespace, { name });
        };
        await Promise.all([remove(admin, "liqo-tenant-turin"), remove(turin, "liqo-tenant-milan")]);
        await until("turin has no role", async () => {
          const peer = await admin.get(sorts.foreignCluster, { name: "turin" });
          return at(peer, "status", "role") === "Unknown";
        });
      },
    ],
  ];
  for (const [who, does, step] of life) it(`${who}: ${does}`, step);
});

/** Of what milan's replicator makes (control plane reference 11.4). */
const copyLabels = {
  "liqo.io/replication": "false",
  "liqo.io/replicated": "true",
  "liqo.io/originID": "milan",
  "liqo.io/remoteID": "turin",
  "liqo.io/remote-cluster-id": "milan",
};

function textAt(object: unknown, ...path: string[]): string {
  const value = at(object, ...path);
  return typeof value === "string" ? value : assert.fail(`${path.join(".")} is no text`);
}

function objectAt(object: unknown, ...path: string[]): Record<string, unknown> {
  const value = at(object, ...path);
  return typeof value === "object" && value !== null ? { ...value } : {};
}

/** The same with the keys of objects in order. */
function sorted(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(sorted);
  if (typeof value !== "object" || value === null) return value;
  return Object.fromEntries(
    Object.entries(value)
      .sort(([a], [b]) => (a < b ? -1 : 1))
      .map(([key, each]) => [key, sorted(each)]),
  );
}
