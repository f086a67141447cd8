/** What upstream's controllers do at a provider that runs nothing else: its roles, and the answers that they write (control plane reference 3, 6, 8 to 10). */
import assert from "node:assert/strict";

import { checkCertificateRequest, verifyNonce } from "../../../runtime/identity";
import { base64 } from "../base64";
import { until } from "../until";
import { type GoClient, sorts, type Wire } from "./go-client";
import { at, sign, tenantNamespaceOf } from "./liqoctl";

const PEER = "liqo.io/remote-cluster-id";
const RBAC = "rbac.authorization.k8s.io";
const FINALIZER = "tenant.liqo.io/finalizer";
const SEVEN = ["create", "delete", "get", "list", "patch", "update", "watch"];
const EIGHT = ["deletecollection", ...SEVEN];
const READ = ["get", "list", "watch"];

/** Word for word as in 3.4, so that our consumer is seen to need no more. */
const ROLES: Record<string, [groups: string[], resources: string[], verbs: string[]][]> = {
  "liqo-remote-controlplane": [
    [
      ["authentication.liqo.io"],
      ["renews", "renews/status", "resourceslices", "resourceslices/status"],
      EIGHT,
    ],
    [["offloading.liqo.io"], ["namespacemaps", "namespacemaps/status"], EIGHT],
  ],
  "liqo-virtual-kubelet-remote-clusterwide": [[["metrics.liqo.io"], ["scrape/metrics"], READ]],
  "liqo-virtual-kubelet-remote": [
    [[""], ["configmaps", "events", "persistentvolumeclaims", "secrets", "services"], SEVEN],
    [[""], ["pods/attach", "pods/exec"], ["create"]],
    [[""], ["pods/log"], ["get", "list"]],
    [[""], ["pods/portforward"], ["create", "get"]],
    [["", "metrics.k8s.io"], ["pods"], READ],
    [["networking.k8s.io"], ["ingresses"], SEVEN],
    [["offloading.liqo.io"], ["shadowendpointslices", "shadowpods"], SEVEN],
  ],
};

export interface UpstreamProviderOptions {
  /** Of its administrator. */
  admin: GoClient;
  clusterId: string;
  consumer: string;
  server: string;
  /** Of the server, PEM. */
  ca: string;
}

export class UpstreamProvider {
  constructor(private readonly options: UpstreamProviderOptions) {}

  at = (name: string) => ({ name, namespace: tenantNamespaceOf(this.options.consumer) });

  async install(): Promise<void> {
    for (const [name, rules] of Object.entries(ROLES))
      await this.options.admin.create({
        ...sorts.clusterRole,
        metadata: { name },
        rules: rules.map(([apiGroups, resources, verbs]) => ({ apiGroups, resources, verbs })),
      });
  }

  /** The nonce-creator. */
  async fillNonce(nonce: string): Promise<void> {
    await this.options.admin.edit(sorts.secret, this.at("liqo-nonce"), (read) => ({
      ...read,
      data: { nonce: base64(nonce) },
    }));
  }

  /** The tenant controller: verifies, signs, binds, and answers. @param more beside what every provider gives */
  async acceptTenant(nonce: string, more: object = {}): Promise<Wire> {
    const { admin, consumer } = this.options;
    const tenant = await admin.edit(sorts.tenant, this.at(consumer), (read) => ({
      ...read,
      metadata: { ...read.metadata, finalizers: [FINALIZER] },
    }));
    const spec = (field: string) => Buffer.from(String(at(tenant, "spec", field)), "base64");
    assert.ok(verifyNonce(nonce, spec("signature"), spec("publicKey")));
    checkCertificateRequest(spec("csr"), {
      subject: { commonName: consumer, organization: "liqo.io" },
      publicKey: spec("publicKey"),
    });
    await this.bind();
    return await this.renewTenant(more);
  }

  /** Signs anew, with the same request, and answers with that. */
  async renewTenant(more: object = {}): Promise<Wire> {
    const { admin, consumer } = this.options;
    const tenant = await admin.get(sorts.tenant, this.at(consumer));
    const authParams = { ...(await this.credentialsFor(at(tenant, "spec", "csr"))), ...more };
    const status = { tenantNamespace: tenantNamespaceOf(consumer), authParams };
    return await admin.edit(sorts.tenant, this.at(consumer), (read) => ({ ...read, status }), "status");
  }

  /** `renew_remote`: the Tenant's credentials into the Renew. */
  async answerRenew(name: string): Promise<Wire> {
    const { admin, consumer } = this.options;
    const authParams = at(await admin.get(sorts.tenant, this.at(consumer)), "status", "authParams");
    return await admin.edit(
      sorts.renew,
      this.at(name),
      (read) => ({ ...read, status: { authParams } }),
      "status",
    );
  }

  /** The bindings of 3.3. */
  async bind(): Promise<void> {
    const { admin, consumer } = this.options;
    const labels = { "app.kubernetes.io/managed-by": "liqo", [PEER]: consumer };
    const owner = await admin.get(sorts.tenant, this.at(consumer));
    await admin.create({
      ...sorts.roleBinding,
      metadata: {
        ...this.at("liqo-binding-liqo-remote-controlplane"),
        labels,
        ownerReferences: [
          {
            ...sorts.tenant,
            name: consumer,
            uid: owner.metadata.uid,
            controller: true,
            blockOwnerDeletion: true,
          },
        ],
      },
      subjects: [{ kind: "User", apiGroup: RBAC, name: consumer }],
      roleRef: { apiGroup: RBAC, kind: "ClusterRole", name: "liqo-remote-controlplane" },
    });
    await admin.create({
      ...sorts.clusterRoleBinding,
      metadata: { name: this.clusterWide, labels },
      subjects: [{ kind: "Group", apiGroup: RBAC, name: consumer }],
      roleRef: { apiGroup: RBAC, kind: "ClusterRole", name: "liqo-virtual-kubelet-remote-clusterwide" },
    });
  }

  /** A drain (9.3): bindings, slices, maps. */
  async drain(): Promise<void> {
    const { admin } = this.options;
    await admin.delete(sorts.clusterRoleBinding, { name: this.clusterWide });
    await admin.delete(sorts.roleBinding, this.at("liqo-binding-liqo-remote-controlplane"));
    const { namespace } = this.at("");
    for (const sort of [sorts.slice, sorts.map])
      for (const name of await admin.list(sort, namespace)) await admin.delete(sort, { name, namespace });
  }

  /** Credentials of a request, by this cluster's signer. */
  async credentialsFor(csr: unknown): Promise<Record<string, string>> {
    const { admin, server, ca } = this.options;
    const pem = Buffer.from(String(csr), "base64").toString();
    const labels = { "liqo.io/remote-tenant-csr": "true" };
    const certificate = await sign(admin, pem, { generateName: "liqo-identity-", labels });
    return { ca: base64(ca), signedCRT: base64(certificate), apiServer: server };
  }

  /** The copy of a slice, once the consumer's request is in it. */
  async askedSlice(name: string): Promise<Wire> {
    return await until(`${name} is asked for`, async () => {
      const copy = await this.options.admin.find(sorts.slice, this.at(name));
      return at(copy, "spec", "csr") !== undefined && copy;
    });
  }

  /** `resourceslice_remote` and the quota-creator. @param status beside the two conditions */
  async grantSlice(name: string, status: object): Promise<Wire> {
    const { admin } = this.options;
    const conditions = [condition("Authentication", "Accepted"), condition("Resources", "Accepted")];
    return await admin.edit(
      sorts.slice,
      this.at(name),
      (read) => ({ ...read, status: { conditions, ...status } }),
      "status",
    );
  }

  /** The namespacemap controller: a finalizer, the namespaces with their bindings, the answer (offloading 4.4). */
  async answerMap(name: string): Promise<void> {
    const { admin, consumer } = this.options;
    const map = await admin.edit(sorts.map, this.at(name), (read) => ({
      ...read,
      metadata: { ...read.metadata, finalizers: ["namespacemap-controller.liqo.io/finalizer"] },
    }));
    const mark = { "liqo.io/managed-by-namespace-map": `${tenantNamespaceOf(consumer)}/${name}` };
    const asked = Object.entries(stringsAt(map, "spec", "desiredMapping"));
    for (const [local, remote] of asked) {
      if ((await admin.find(sorts.namespace, { name: remote })) !== undefined) continue;
      const annotations = { ...mark, "liqo.io/original-name": local };
      const labels = { [PEER]: consumer };
      await admin.create({ ...sorts.namespace, metadata: { name: remote, labels, annotations } });
      await admin.create({
        ...sorts.roleBinding,
        metadata: {
          name: tenantNamespaceOf(consumer),
          namespace: remote,
          labels: { "app.kubernetes.io/managed-by": "liqo", ...labels },
          annotations: mark,
        },
        subjects: [{ kind: "Group", apiGroup: RBAC, name: consumer }],
        roleRef: { apiGroup: RBAC, kind: "ClusterRole", name: "liqo-virtual-kubelet-remote" },
      });
    }
    await this.sayOfMap(
      name,
      Object.fromEntries(
        asked.map(([local, remoteNamespace]) => [local, { remoteNamespace, phase: "Accepted" }]),
      ),
    );
  }

  async sayOfMap(name: string, currentMapping: object): Promise<void> {
    const status = { currentMapping };
    await this.options.admin.edit(sorts.map, this.at(name), (read) => ({ ...read, status }), "status");
  }

  /** The end of a map: its namespaces, the answer, and the finalizer. */
  async endMap(name: string): Promise<void> {
    const { admin } = this.options;
    await until("the map's copy is being deleted", async () => {
      const read = await admin.get(sorts.map, this.at(name));
      return read.metadata.deletionTimestamp !== undefined;
    });
    await this.sayOfMap(name, {});
    await admin.edit(sorts.map, this.at(name), (read) => ({
      ...read,
      metadata: { ...read.metadata, finalizers: [] },
    }));
  }

  /** The ShadowPod webhook and controller: who made it, and the pod of it (offloading 12.1, 16.4). */
  async runShadowPod(namespace: string, name: string): Promise<Wire> {
    const { admin } = this.options;
    const ref = { name, namespace };
    const shadow = await until(`ShadowPod ${name}`, () => admin.find(sorts.shadowPod, ref));
    const { labels, annotations, uid } = shadow.metadata;
    const stamped = { ...labels, "liqo.io/creator-user": "pool-f00" };
    await admin.edit(sorts.shadowPod, ref, (read) => ({
      ...read,
      metadata: { ...read.metadata, labels: stamped },
    }));
    const made = await admin.create({
      ...sorts.pod,
      metadata: {
        ...ref,
        labels: { ...stamped, "liqo.io/managed-by": "shadowpod" },
        ...(annotations === undefined ? {} : { annotations }),
        ownerReferences: [{ ...sorts.shadowPod, name, uid, controller: true, blockOwnerDeletion: true }],
      },
      spec: at(shadow, "spec", "pod"),
    });
    const now = new Date().toISOString().replace(/\.\d+/, "");
    const ready = (type: string) => ({ type, status: "True", lastProbeTime: null, lastTransitionTime: now });
    const status = {
      phase: "Running",
      conditions: ["Initialized", "Ready", "ContainersReady", "PodScheduled"].map(ready),
      hostIP: "172.19.0.3",
      podIP: "10.201.0.7",
      podIPs: [{ ip: "10.201.0.7" }],
      startTime: now,
      qosClass: "BestEffort",
    };
    await admin.edit(sorts.pod, made.metadata, (read) => ({ ...read, status }), "status");
    const phase = { phase: "Running" };
    await admin.edit(sorts.shadowPod, ref, (read) => ({ ...read, status: phase }), "status");
    return made;
  }

  /** A Tenant that is deleted loses what it was bound to, and its finalizer. */
  async endTenant(): Promise<void> {
    const { admin, consumer } = this.options;
    await admin.delete(sorts.tenant, this.at(consumer));
    await admin.delete(sorts.clusterRoleBinding, { name: this.clusterWide });
    await admin.edit(sorts.tenant, this.at(consumer), (read) => ({
      ...read,
      metadata: { ...read.metadata, finalizers: [] },
    }));
    await admin.gone(sorts.tenant, this.at(consumer));
    await admin.delete(sorts.roleBinding, this.at("liqo-binding-liqo-remote-controlplane"));
  }

  private get clusterWide(): string {
    return `liqo-binding-liqo-virtual-kubelet-remote-clusterwide-${this.options.consumer}`;
  }
}

/** As the controller writes it (6.7). */
export function condition(type: "Authentication" | "Resources", status: "Accepted" | "Denied"): object {
  return {
    type,
    status,
    lastTransitionTime: new Date().toISOString().replace(/\.\d+/, ""),
    reason: `ResourceSlice${type}${status}`,
    message: `ResourceSlice ${type.toLowerCase()} ${status.toLowerCase()}`,
  };
}

function stringsAt(object: unknown, ...path: string[]): Record<string, string> {
  const value = at(object, ...path);
  return Object.fromEntries(
    Object.entries(typeof value === "object" && value !== null ? value : {}).map(([key, each]) => [
      key,
      String(each),
    ]),
  );
}
