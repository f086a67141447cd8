/** What upstream's liqoctl writes and reads at a provider: as its administrator, and as the peering user that it made (control plane reference 17). */
import assert from "node:assert/strict";
import { createHash } from "node:crypto";

import {
  buildKubeconfig,
  createCertificateRequest,
  generateKeyPair,
  type KeyPair,
  parseKubeconfig,
  peeringUserSubject,
  signNonce,
} from "../../../runtime/identity";
import { base64 } from "../base64";
import { until } from "../until";
import { GoClient, sorts, specOf, type Unwritten, type Wire } from "./go-client";

const PEER = "liqo.io/remote-cluster-id";
const RBAC = "rbac.authorization.k8s.io";

/** A provider, as its consumer's liqoctl knows it. */
export interface Provider {
  clusterId: string;
  liqoNamespace: string;
  kubeconfig: string;
}

export const tenantNamespaceOf = (peer: string) => `liqo-tenant-${peer}`;

/** Whichever liqoctl runs first makes them, with these labels and no owner (3.2). */
export async function ensureTenantNamespace(admin: GoClient, peer: string): Promise<void> {
  const name = tenantNamespaceOf(peer);
  if ((await admin.find(sorts.namespace, { name })) !== undefined) return;
  const security = Object.fromEntries(
    ["audit", "enforce", "warn"].map((mode) => [`pod-security.kubernetes.io/${mode}`, "privileged"]),
  );
  const labels = { [PEER]: peer, "liqo.io/tenant-namespace": "true", ...security };
  await admin.create({ ...sorts.namespace, metadata: { name, labels } });
}

/** `generate peering-user`, by the provider's administrator (17.10); returns the user. */
export async function generatePeeringUser(
  admin: GoClient,
  { clusterId, liqoNamespace, kubeconfig }: Provider,
  consumer: string,
): Promise<GoClient> {
  await ensureTenantNamespace(admin, consumer);
  const { privateKey } = generateKeyPair();
  const subject = peeringUserSubject(consumer);
  assert.match(subject.commonName, new RegExp(`^liqo-peer-user-${consumer}-[0-9a-f]{32}$`));
  const name = `liqo-peer-user-${consumer}`;
  const labels = { "liqo.io/peering-user-name": name, [PEER]: consumer };
  const signed = await sign(admin, createCertificateRequest(subject, privateKey), { name, labels });
  const component = "app.kubernetes.io/component=peering-user";
  const [role = assert.fail("no Role"), ...roles] = await admin.list(sorts.role, liqoNamespace, component);
  const [wide = assert.fail("no ClusterRole"), ...wides] = await admin.list(
    sorts.clusterRole,
    undefined,
    component,
  );
  assert.deepEqual([roles, wides], [[], []]);
  for (const [suffix, namespace, kind, roleName] of [
    ["liqo-ns-reader", liqoNamespace, "Role", role],
    ["tenant-ns-writer", tenantNamespaceOf(consumer), "ClusterRole", wide],
  ] as const)
    await admin.create({
      ...sorts.roleBinding,
      metadata: { name: `${name}-${suffix}`, namespace, labels },
      subjects: [{ kind: "User", apiGroup: RBAC, name: subject.commonName }],
      roleRef: { apiGroup: RBAC, kind, name: roleName },
    });
  const { server, ca } = parseKubeconfig(kubeconfig);
  return GoClient.of(
    "the peering user",
    buildKubeconfig({
      providerClusterId: clusterId,
      identityName: `${consumer}-user`,
      server,
      certificate: signed,
      privateKey,
      ...(ca === undefined ? {} : { ca }),
    }),
  );
}

/** `delete peering-user`. */
export async function deletePeeringUser(
  admin: GoClient,
  { liqoNamespace }: Provider,
  consumer: string,
): Promise<void> {
  const name = `liqo-peer-user-${consumer}`;
  await admin.delete(sorts.roleBinding, { name: `${name}-liqo-ns-reader`, namespace: liqoNamespace });
  await admin.delete(sorts.roleBinding, {
    name: `${name}-tenant-ns-writer`,
    namespace: tenantNamespaceOf(consumer),
  });
  await admin.delete(sorts.request, { name });
}

/** Has Kubernetes sign a request, as upstream's identity provider and its liqoctl do (7.2). */
export async function sign(admin: GoClient, csr: string, metadata: Unwritten["metadata"]): Promise<Buffer> {
  const { metadata: made } = await admin.create({
    ...sorts.request,
    metadata,
    spec: {
      request: base64(csr),
      signerName: "kubernetes.io/kube-apiserver-client",
      usages: ["digital signature", "key encipherment", "client auth"],
      groups: ["system:authenticated"],
    },
  });
  const condition = {
    type: "Approved",
    status: "True",
    reason: "IdentityManagerApproval",
    message: "This CSR was approved by Liqo Identity Manager",
    lastUpdateTime: new Date().toISOString().replace(/\.\d+/, ""),
  };
  const approve = (read: Wire): Wire => ({ ...read, status: { conditions: [condition] } });
  await admin.edit(sorts.request, made, approve, "approval");
  return await until("the certificate is signed", async () => {
    const certificate = at(await admin.get(sorts.request, made), "status", "certificate");
    return typeof certificate === "string" && Buffer.from(certificate, "base64");
  });
}

/** How a user who may list no namespaces finds the one of a peer, and the ID of the cluster (3.1, 3.2). */
export async function lookAround(user: GoClient, { liqoNamespace }: Provider, own: string): Promise<string> {
  assert.equal(await user.status("GET", "/api/v1/namespaces"), 403);
  const { metadata } = await user.get(sorts.namespace, { name: tenantNamespaceOf(own) });
  assert.deepEqual([metadata.labels?.[PEER], metadata.labels?.["liqo.io/tenant-namespace"]], [own, "true"]);
  const selector = "app.kubernetes.io/name=clusterid-configmap";
  const [name = assert.fail("no ConfigMap with the cluster ID"), ...others] = await user.list(
    sorts.configMap,
    liqoNamespace,
    selector,
  );
  assert.deepEqual(others, []);
  const found = await user.get(sorts.configMap, { name, namespace: liqoNamespace });
  return String(at(found, "data", "CLUSTER_ID"));
}

/** `create nonce`, and `get nonce` once it is there; returns the text that the consumer signs. */
export async function askForNonce(user: GoClient, consumer: string): Promise<string> {
  const ref = { name: "liqo-nonce", namespace: tenantNamespaceOf(consumer) };
  const labels = { "liqo.io/nonce": "true", [PEER]: consumer };
  if ((await user.find(sorts.secret, ref)) === undefined)
    await user.create({ ...sorts.secret, metadata: { ...ref, labels } });
  return await until("the nonce", async () => {
    const nonce = at(await user.get(sorts.secret, ref), "data", "nonce");
    return typeof nonce === "string" && Buffer.from(nonce, "base64").toString();
  });
}

/** `generate tenant`: as a Go program writes it. */
export function tenantManifest(
  consumer: string,
  nonce: string,
  keys: KeyPair,
  publicKey: string | Uint8Array = keys.publicKey,
): Unwritten & { spec: object; metadata: { name: string; namespace: string } } {
  const csr = createCertificateRequest({ commonName: consumer, organization: "liqo.io" }, keys.privateKey);
  return {
    ...sorts.tenant,
    metadata: {
      name: consumer,
      namespace: tenantNamespaceOf(consumer),
      labels: { [PEER]: consumer },
    },
    spec: {
      clusterID: consumer,
      authzPolicy: "KeysExchange",
      publicKey: base64(publicKey),
      csr: base64(csr),
      signature: base64(signNonce(nonce, keys.privateKey)),
      tenantCondition: "Active",
    },
  };
}

/** Applies a Tenant as `authenticate` does, the whole spec over what was there; returns it once it has credentials. */
export async function applyTenant(
  user: GoClient,
  manifest: ReturnType<typeof tenantManifest>,
): Promise<Wire> {
  const { spec, metadata } = manifest;
  if ((await user.find(sorts.tenant, metadata)) === undefined) await user.create(manifest);
  else
    await user.edit(sorts.tenant, metadata, (read) => ({
      ...read,
      metadata: { ...read.metadata, labels: { [PEER]: metadata.name } },
      spec,
    }));
  return await until("the Tenant's credentials", async () => {
    const read = await user.get(sorts.tenant, metadata);
    const placed = at(read, "status", "tenantNamespace") === metadata.namespace;
    return placed && at(read, "status", "authParams") !== undefined && read;
  });
}

/** `cordon tenant`, `uncordon`, `drain` and `activate`, by the provider's administrator (17.14). */
export async function setTenantCondition(
  admin: GoClient,
  consumer: string,
  tenantCondition: "Active" | "Cordoned" | "Drained",
): Promise<void> {
  const ref = { name: consumer, namespace: tenantNamespaceOf(consumer) };
  await admin.edit(sorts.tenant, ref, (read) => ({ ...read, spec: { ...specOf(read), tenantCondition } }));
}

/** `cordon resourceslice` and `uncordon`. */
export async function cordonSlice(
  admin: GoClient,
  consumer: string,
  name: string,
  cordoned: boolean,
): Promise<void> {
  const ref = { name, namespace: tenantNamespaceOf(consumer) };
  await admin.edit(sorts.slice, ref, (read) => {
    const { "liqo.io/cordon": _before, ...others } = read.metadata.annotations ?? {};
    const annotations = { ...others, ...(cordoned && { "liqo.io/cordon": "true" }) };
    return { ...read, metadata: { ...read.metadata, annotations } };
  });
}

/** The user that a slice's credentials are for (4.3). */
export function sliceUser(slice: string, consumer: string): string {
  return `${slice}-${createHash("sha256").update(consumer).digest("hex").slice(0, 12)}`;
}

/** The spec of a slice, as the consumer's controllers complete it. */
export function sliceSpec(
  slice: string,
  consumerClusterID: string,
  providerClusterID: string,
  { privateKey }: KeyPair,
): object {
  const subject = { commonName: sliceUser(slice, consumerClusterID), organization: consumerClusterID };
  const csr = base64(createCertificateRequest(subject, privateKey));
  const resources = { cpu: "4", memory: "8Gi" };
  return { consumerClusterID, providerClusterID, class: "default", csr, resources };
}

/** A value inside of an object of which nothing is known. */
export function at(object: unknown, ...path: string[]): unknown {
  return path.reduce<unknown>(
    (value, key) =>
      typeof value === "object" && value !== null ? (Reflect.get(value, key) as unknown) : undefined,
    object,
  );
}
