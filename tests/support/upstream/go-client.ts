/**
 * Writes as the Go clients of upstream do, request by request: none of this project's planners and writers come between. What an answer has is
 * kept whole, so that an update sends back what was read.
 */
import assert from "node:assert/strict";

import { z } from "zod";

import type { ObjectRef } from "../../../runtime/api";
import { collectionPath, KubeClient, objectPath, withQuery } from "../../../runtime/kube";
import { kindOf } from "../kind-of";
import { until } from "../until";

const strings = z.record(z.string(), z.string());
const wire = z.looseObject({
  apiVersion: z.string(),
  kind: z.string(),
  metadata: z.looseObject({
    name: z.string(),
    namespace: z.string().optional(),
    uid: z.string().optional(),
    resourceVersion: z.string().optional(),
    generation: z.number().optional(),
    labels: strings.optional(),
    annotations: strings.optional(),
    finalizers: z.array(z.string()).optional(),
  }),
});
const list = z.looseObject({
  metadata: z.looseObject({ resourceVersion: z.string() }),
  items: z.array(z.looseObject({ metadata: z.looseObject({ name: z.string() }) })),
});

/** An object as it is on the wire. */
export type Wire = z.infer<typeof wire>;
/** Fields of a spec. */
export function specOf({ spec }: Wire): Record<string, unknown> {
  return z.record(z.string(), z.unknown()).parse(spec);
}

/** Of which kind. */
export interface Sort {
  apiVersion: string;
  kind: string;
}

export const sorts = {
  configuration: { apiVersion: "networking.liqo.io/v1beta1", kind: "Configuration" },
  connection: { apiVersion: "networking.liqo.io/v1beta1", kind: "Connection" },
  gatewayServer: { apiVersion: "networking.liqo.io/v1beta1", kind: "GatewayServer" },
  publicKey: { apiVersion: "networking.liqo.io/v1beta1", kind: "PublicKey" },
  serverTemplate: { apiVersion: "networking.liqo.io/v1beta1", kind: "WgGatewayServerTemplate" },
  network: { apiVersion: "ipam.liqo.io/v1alpha1", kind: "Network" },
  ip: { apiVersion: "ipam.liqo.io/v1alpha1", kind: "IP" },
  tenant: { apiVersion: "authentication.liqo.io/v1beta1", kind: "Tenant" },
  identity: { apiVersion: "authentication.liqo.io/v1beta1", kind: "Identity" },
  renew: { apiVersion: "authentication.liqo.io/v1beta1", kind: "Renew" },
  slice: { apiVersion: "authentication.liqo.io/v1beta1", kind: "ResourceSlice" },
  map: { apiVersion: "offloading.liqo.io/v1beta1", kind: "NamespaceMap" },
  quota: { apiVersion: "offloading.liqo.io/v1beta1", kind: "Quota" },
  virtualNode: { apiVersion: "offloading.liqo.io/v1beta1", kind: "VirtualNode" },
  offloading: { apiVersion: "offloading.liqo.io/v1beta1", kind: "NamespaceOffloading" },
  shadowPod: { apiVersion: "offloading.liqo.io/v1beta1", kind: "ShadowPod" },
  shadowEndpointSlice: { apiVersion: "offloading.liqo.io/v1beta1", kind: "ShadowEndpointSlice" },
  foreignCluster: { apiVersion: "core.liqo.io/v1beta1", kind: "ForeignCluster" },
  namespace: { apiVersion: "v1", kind: "Namespace" },
  secret: { apiVersion: "v1", kind: "Secret" },
  configMap: { apiVersion: "v1", kind: "ConfigMap" },
  service: { apiVersion: "v1", kind: "Service" },
  pod: { apiVersion: "v1", kind: "Pod" },
  event: { apiVersion: "v1", kind: "Event" },
  volumeClaim: { apiVersion: "v1", kind: "PersistentVolumeClaim" },
  ingress: { apiVersion: "networking.k8s.io/v1", kind: "Ingress" },
  deployment: { apiVersion: "apps/v1", kind: "Deployment" },
  role: { apiVersion: "rbac.authorization.k8s.io/v1", kind: "Role" },
  clusterRole: { apiVersion: "rbac.authorization.k8s.io/v1", kind: "ClusterRole" },
  roleBinding: { apiVersion: "rbac.authorization.k8s.io/v1", kind: "RoleBinding" },
  clusterRoleBinding: { apiVersion: "rbac.authorization.k8s.io/v1", kind: "ClusterRoleBinding" },
  request: { apiVersion: "certificates.k8s.io/v1", kind: "CertificateSigningRequest" },
} as const satisfies Record<string, Sort>;

export interface Unwritten extends Sort {
  metadata: Partial<Wire["metadata"]> & { generateName?: string };
  [field: string]: unknown;
}

export class GoClient {
  private constructor(
    readonly who: string,
    readonly client: KubeClient,
  ) {}

  /** @param who in messages of failures */
  static of(who: string, kubeconfig: string): GoClient {
    return new GoClient(who, KubeClient.fromKubeconfig(kubeconfig, { userAgent: "upstream" }));
  }

  close(): void {
    this.client.close();
  }

  /** By a typed client: Go writes the zero values of structs, such as an empty status. */
  async create(object: Unwritten, fieldManager?: string): Promise<Wire> {
    const { metadata, ...rest } = object;
    const whole: Unwritten = {
      ...(rest.apiVersion.includes("liqo.io") && !("status" in rest) ? { status: {} } : {}),
      ...rest,
      metadata: { creationTimestamp: null, ...metadata },
    };
    return await this.createBare(whole, fieldManager);
  }

  /** By a dynamic client, as the replicator is. */
  async createBare(object: Unwritten, fieldManager?: string): Promise<Wire> {
    const path = collectionPath(kindOf(object), object.metadata.namespace);
    return await this.send("POST", withQuery(path, { fieldManager }), object);
  }

  async update(object: Wire, fieldManager?: string): Promise<Wire> {
    const path = objectPath(kindOf(object), object.metadata);
    return await this.send("PUT", withQuery(path, { fieldManager }), object);
  }

  /** What controllerutil.CreateOrUpdate does: reads, changes what it read, and writes it whole. */
  async edit(sort: Sort, ref: ObjectRef, change: (read: Wire) => Wire, subresource?: string): Promise<Wire> {
    return await until(`${this.who} updates ${sort.kind} ${ref.name}`, async () => {
      const read = await this.get(sort, ref);
      const body = change(structuredClone(read));
      const path = objectPath(kindOf(body), body.metadata, subresource);
      const answer = await this.request("PUT", path, body);
      // Somebody else wrote meanwhile: Go clients read once more, too.
      return answer.status === 409 ? undefined : this.accepted("PUT", path, answer);
    });
  }

  /** Server-side apply, by force. */
  async apply(object: Unwritten & { metadata: { name: string } }, fieldManager: string): Promise<Wire> {
    const path = objectPath(kindOf(object), object.metadata);
    const query = withQuery(path, { fieldManager, force: true });
    return await this.send("PATCH", query, object, "application/apply-patch+yaml");
  }

  async mergePatch(sort: Sort, ref: ObjectRef, body: object): Promise<Wire> {
    return await this.send("PATCH", objectPath(kindOf(sort), ref), body, "application/merge-patch+json");
  }

  async get(sort: Sort, ref: ObjectRef): Promise<Wire> {
    return (await this.find(sort, ref)) ?? assert.fail(`${this.who}: there is no ${sort.kind} ${ref.name}`);
  }

  async find(sort: Sort, ref: ObjectRef): Promise<Wire | undefined> {
    const path = objectPath(kindOf(sort), ref);
    const answer = await this.request("GET", path);
    return answer.status === 404 ? undefined : this.accepted("GET", path, answer);
  }

  /** Names of what a list has. */
  async list(sort: Sort, namespace?: string, labelSelector?: string): Promise<string[]> {
    const path = withQuery(collectionPath(kindOf(sort), namespace), { limit: 500, labelSelector });
    const answer = await this.request("GET", path);
    assert.equal(answer.status, 200, `${this.who}: GET ${path}: ${answer.text}`);
    return list.parse(JSON.parse(answer.text)).items.map(({ metadata }) => metadata.name);
  }

  /** What an informer does first: a list, and a watch from there on. */
  async inform(sort: Sort, namespace: string, labelSelector?: string): Promise<void> {
    const path = collectionPath(kindOf(sort), namespace);
    const listed = await this.request("GET", withQuery(path, { resourceVersion: 0, labelSelector }));
    assert.equal(listed.status, 200, `${this.who}: list ${path}: ${listed.text}`);
    const { resourceVersion } = list.parse(JSON.parse(listed.text)).metadata;
    const query = {
      watch: true,
      allowWatchBookmarks: true,
      timeoutSeconds: 1,
      resourceVersion,
      labelSelector,
    };
    const watched = await this.request("GET", withQuery(path, query));
    assert.equal(watched.status, 200, `${this.who}: watch ${path}: ${watched.text}`);
  }

  /** Where a UID is given, that one and no other of its name. */
  async delete(sort: Sort, ref: ObjectRef, uid?: string): Promise<void> {
    const path = objectPath(kindOf(sort), ref);
    const body = { apiVersion: "v1", kind: "DeleteOptions", ...(uid && { preconditions: { uid } }) };
    const answer = await this.request("DELETE", path, body);
    if (answer.status !== 404)
      assert.ok(answer.status < 300, `${this.who}: DELETE ${path}: ${answer.status} ${answer.text}`);
  }

  async gone(sort: Sort, ref: ObjectRef, timeoutMs = 60_000): Promise<void> {
    const what = `${sort.kind} ${ref.name} is gone`;
    await until(what, async () => (await this.find(sort, ref)) === undefined, { timeoutMs });
  }

  /** Status of the answer to any request. */
  async status(method: string, path: string, body?: object): Promise<number> {
    return (await this.request(method, path, body)).status;
  }

  private async send(method: string, path: string, body: object, contentType?: string): Promise<Wire> {
    return this.accepted(method, path, await this.request(method, path, body, contentType));
  }

  private accepted(method: string, path: string, { status, text }: { status: number; text: string }): Wire {
    assert.ok(status < 300, `${this.who}: ${method} ${path} is refused: ${status} ${text}`);
    return wire.parse(JSON.parse(text));
  }

  private async request(method: string, path: string, body?: object, contentType = "application/json") {
    const { status, body: answer } = await this.client.raw({
      method,
      path,
      headers: body === undefined ? {} : { "content-type": contentType },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });
    return { status, text: answer.toString() };
  }
}
