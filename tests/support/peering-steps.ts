/** The objects of a peering as separate steps, so that a test can take them in any order. */
import {
  controlPlaneIdentityName,
  DataKey,
  type Desired,
  Identity,
  type Kind,
  type KubeObject,
  Label,
  Name,
  Namespace,
  ResourceSlice,
  RoleBinding,
  Secret,
  Tenant,
} from "../../runtime/api";
import {
  controlPlaneSubject,
  createCertificateRequest,
  generateNonce,
  type KeyPair,
  signNonce,
} from "../../runtime/identity";
import type { KubeClient } from "../../runtime/kube";
import {
  controlPlaneIdentity,
  nonceData,
  nonceSecret,
  type PeeringSides,
  resourceSlice,
  tenant,
  tenantNamespace,
} from "../../runtime/plan/peering";
import { base64 } from "./base64";
import type { ManagedCluster } from "./managed-cluster";
import { until } from "./until";

export class PeeringSteps {
  /** Known beforehand here, so that the Tenant may come before the Secret. */
  private readonly nonce = generateNonce();

  constructor(
    readonly consumer: ManagedCluster,
    readonly provider: ManagedCluster,
    readonly sides: PeeringSides,
    readonly sliceName: string,
  ) {}

  /** The whole peering, up to a slice that is asked for; each step waits for the one before. */
  async peer(): Promise<void> {
    await this.namespaces();
    await this.nonceSecret();
    await this.tenant();
    await this.identity();
    await this.slice();
  }

  async namespaces(): Promise<void> {
    await Promise.all([this.consumerNamespace(), this.providerNamespace()]);
  }

  async consumerNamespace(): Promise<void> {
    const { consumer, provider } = this.sides;
    await this.consumer.apply(tenantNamespace(consumer.tenantNamespace, provider.clusterId));
  }

  async providerNamespace(): Promise<void> {
    const { consumer, provider } = this.sides;
    await this.provider.apply(tenantNamespace(provider.tenantNamespace, consumer.clusterId));
  }

  /** The namespaces without their labels, as somebody makes them who has not read on yet. */
  async bareNamespaces(): Promise<void> {
    const { consumer, provider } = this.sides;
    const bare = (name: string): Desired<Namespace> => ({
      apiVersion: "v1",
      kind: "Namespace",
      metadata: { name },
    });
    await this.consumer.apply(bare(consumer.tenantNamespace));
    await this.provider.apply(bare(provider.tenantNamespace));
  }

  /** Takes the label of the peer from the namespaces, or gives them another: a peer may have one tenant namespace only. */
  async setPeer(peer: string | undefined): Promise<void> {
    const body = { metadata: { labels: { [Label.remoteClusterID]: peer ?? null } } };
    await this.consumer.admin.patch(Namespace, { name: this.sides.consumer.tenantNamespace }, body, {
      type: "merge",
    });
    await this.provider.admin.patch(Namespace, { name: this.sides.provider.tenantNamespace }, body, {
      type: "merge",
    });
  }

  async nonceSecret(): Promise<void> {
    const secret: Desired<Secret> = { ...nonceSecret(this.sides), data: nonceData(this.nonce) };
    await this.provider.apply(secret);
  }

  async tenant(change: Partial<Tenant["spec"]> = {}): Promise<void> {
    const keys = await this.consumerKeys();
    const { clusterId } = this.sides.consumer;
    const manifest = tenant(this.sides, {
      publicKey: base64(keys.publicKey),
      csr: base64(createCertificateRequest(controlPlaneSubject(clusterId), keys.privateKey)),
      signature: signNonce(this.nonce, keys.privateKey).toString("base64"),
    });
    const changed: Desired<Tenant> = { ...manifest, spec: { ...manifest.spec, ...change } };
    await this.provider.apply(changed);
  }

  /** Waits for the provider's answer, which goes into the Identity. */
  async identity(): Promise<void> {
    const { consumer, provider } = this.sides;
    const ref = { name: consumer.clusterId, namespace: provider.tenantNamespace };
    const authParams = await until(
      "credentials of the Tenant",
      async () => (await this.provider.admin.get(Tenant, ref))?.status?.authParams,
    );
    await this.consumer.apply(controlPlaneIdentity(this.sides, authParams));
  }

  async slice(name = this.sliceName, change: Partial<Desired<ResourceSlice>> = {}): Promise<void> {
    const { consumer, provider } = this.sides;
    const manifest = resourceSlice(
      {
        providerClusterId: provider.clusterId,
        tenantNamespace: consumer.tenantNamespace,
        sliceName: name,
        class: "default",
        resources: { cpu: "8" },
      },
      true,
    );
    await this.consumer.apply({ ...manifest, ...change });
  }

  /** The administrator's binding of a peering without handshake. */
  async roleBinding(user: string): Promise<void> {
    const { consumer, provider } = this.sides;
    const binding: Desired<RoleBinding> = {
      apiVersion: "rbac.authorization.k8s.io/v1",
      kind: "RoleBinding",
      metadata: {
        name: "liqo-binding-liqo-remote-controlplane",
        namespace: provider.tenantNamespace,
        labels: { [Label.remoteClusterID]: consumer.clusterId },
      },
      roleRef: {
        apiGroup: "rbac.authorization.k8s.io",
        kind: "ClusterRole",
        name: "liqo-remote-controlplane",
      },
      subjects: [{ apiGroup: "rbac.authorization.k8s.io", kind: "User", name: user }],
    };
    await this.provider.apply(binding);
  }

  async tolerantTenant(): Promise<void> {
    const { consumer, provider } = this.sides;
    const manifest: Desired<Tenant> = {
      apiVersion: "authentication.liqo.io/v1beta1",
      kind: "Tenant",
      metadata: {
        name: "my-tenant",
        namespace: provider.tenantNamespace,
        labels: { [Label.remoteClusterID]: consumer.clusterId },
      },
      spec: { clusterID: consumer.clusterId, authzPolicy: "TolerateNoHandshake", tenantCondition: "Active" },
    };
    await this.provider.apply(manifest);
  }

  /** The control-plane Secret made by hand. */
  async handmadeSecret(kubeconfig: string, change: Partial<Desired<Secret>["metadata"]> = {}): Promise<void> {
    const { consumer, provider } = this.sides;
    const secret: Desired<Secret> = {
      apiVersion: "v1",
      kind: "Secret",
      metadata: {
        name: "cplane-secret",
        namespace: consumer.tenantNamespace,
        labels: { [Label.identityType]: "ControlPlane", [Label.remoteClusterID]: provider.clusterId },
        annotations: { "liqo.io/remote-tenant-namespace": provider.tenantNamespace },
        ...change,
      },
      data: { [DataKey.kubeconfig]: base64(kubeconfig) },
    };
    await this.consumer.apply(secret);
  }

  /** Removes the peering in the order of an unpeering, and everything else in the two namespaces; they stay. */
  async remove(): Promise<void> {
    const { consumer, provider } = this.sides;
    const [atConsumer, atProvider] = [this.consumer.admin, this.provider.admin];
    await deleteAll(atConsumer, ResourceSlice, consumer.tenantNamespace);
    await atConsumer.delete(Identity, {
      name: controlPlaneIdentityName(provider.clusterId),
      namespace: consumer.tenantNamespace,
    });
    await deleteAll(atConsumer, Identity, consumer.tenantNamespace);
    await deleteAll(atConsumer, Secret, consumer.tenantNamespace);
    await deleteAll(atProvider, Tenant, provider.tenantNamespace);
    await deleteAll(atProvider, ResourceSlice, provider.tenantNamespace);
    await deleteAll(atProvider, RoleBinding, provider.tenantNamespace);
    await deleteAll(atProvider, Secret, provider.tenantNamespace);
  }

  async consumerKeys(): Promise<KeyPair> {
    const { admin, liqoNamespace } = this.consumer;
    return await until("key pair of the consumer", async () => {
      const secret = await admin.get(Secret, { name: Name.clusterKeys, namespace: liqoNamespace });
      const read = (key: string) => Buffer.from(secret?.data?.[key] ?? "", "base64").toString();
      return secret && { privateKey: read(DataKey.privateKey), publicKey: read(DataKey.publicKey) };
    });
  }
}

/** Returns when nothing of a kind is left in a namespace. */
async function deleteAll<T extends KubeObject>(
  client: KubeClient,
  kind: Kind<T>,
  namespace: string,
): Promise<void> {
  for (const { metadata } of await client.list(kind, { namespace })) await client.delete(kind, metadata);
  await until(
    `${kind.plural} in ${namespace} gone`,
    async () => (await client.list(kind, { namespace })).length === 0,
  );
}
