/** A peering brought up object by object, as two administrators would (control plane reference 5). */
import { Identity, ResourceSlice, Tenant } from "../../runtime/api/authentication";
import { DataKey, Name } from "../../runtime/api/keys";
import { Namespace, Node, Secret } from "../../runtime/api/kubernetes";
import type { Desired, KubeObject } from "../../runtime/api/meta";
import { controlPlaneSubject, createCertificateRequest } from "../../runtime/identity";
import type { KubeClient } from "../../runtime/kube";
import {
  controlPlaneIdentity,
  nonceData,
  nonceSecret,
  type PeeringSides,
  resourceSlice,
  signedNonceSecret,
  tenant,
  tenantNamespace,
} from "../../runtime/plan/peering";
import { kindOf } from "./kind-of";
import { until } from "./until";

export interface HandshakeOptions {
  consumer: KubeClient;
  provider: KubeClient;
  sides: PeeringSides;
  /** Liqo namespace of the consumer, where its key pair is. */
  consumerLiqoNamespace: string;
  sliceName: string;
  resources: Record<string, string>;
}

/** Returns when the consumer has an Identity that its controllers completed, and the slice is asked for. */
export async function handshake(options: HandshakeOptions): Promise<void> {
  const { consumer, provider, sides } = options;
  await Promise.all([
    apply(consumer, tenantNamespace(sides.consumer.tenantNamespace, sides.provider.clusterId)),
    apply(provider, tenantNamespace(sides.provider.tenantNamespace, sides.consumer.clusterId)),
  ]);
  await apply(provider, nonceSecret(sides));
  const nonce = await until("nonce", async () =>
    secretText(provider, sides.provider.tenantNamespace, Name.nonceSecret, DataKey.nonce),
  );
  const toSign: Desired<Secret> = { ...signedNonceSecret(sides), data: nonceData(nonce) };
  await apply(consumer, toSign);
  const signature = await until("signed nonce", async () =>
    secretText(
      consumer,
      sides.consumer.tenantNamespace,
      Name.signedNonceSecret,
      DataKey.signedNonce,
      "base64",
    ),
  );
  const privateKey = await until("key pair", async () =>
    secretText(consumer, options.consumerLiqoNamespace, Name.clusterKeys, DataKey.privateKey),
  );
  const publicKey = await until("public key", async () =>
    secretText(consumer, options.consumerLiqoNamespace, Name.clusterKeys, DataKey.publicKey, "base64"),
  );
  const csr = createCertificateRequest(controlPlaneSubject(sides.consumer.clusterId), privateKey);
  await apply(provider, tenant(sides, { publicKey, csr: Buffer.from(csr).toString("base64"), signature }));
  const authParams = await until(
    "credentials of the Tenant",
    async () =>
      (
        await provider.get(Tenant, {
          name: sides.consumer.clusterId,
          namespace: sides.provider.tenantNamespace,
        })
      )?.status?.authParams,
  );
  const identity = controlPlaneIdentity(sides, authParams);
  await apply(consumer, identity);
  await apply(
    consumer,
    resourceSlice(
      {
        providerClusterId: sides.provider.clusterId,
        tenantNamespace: sides.consumer.tenantNamespace,
        sliceName: options.sliceName,
        class: "default",
        resources: options.resources,
      },
      true,
    ),
  );
  await until(
    "kubeconfig of the Identity",
    async () => (await consumer.get(Identity, identity.metadata))?.status?.kubeconfigSecretRef?.name,
  );
}

/** Returns when the virtual node of the slice is Ready. */
export async function virtualNodeReady(consumer: KubeClient, sliceName: string): Promise<void> {
  await until(`virtual node ${sliceName} Ready`, async () =>
    (await consumer.get(Node, { name: sliceName }))?.status?.conditions?.some(
      (condition) => condition.type === "Ready" && condition.status === "True",
    ),
  );
}

/** Asks for the removal of what `handshake` made, in the order of an unpeering; returns when the slice and the tenant are gone. */
export async function unpeer({ consumer, provider, sides, sliceName }: HandshakeOptions): Promise<void> {
  const slice = { name: sliceName, namespace: sides.consumer.tenantNamespace };
  await consumer.delete(ResourceSlice, slice);
  await until("slice gone", async () => (await consumer.get(ResourceSlice, slice)) === undefined);
  await until("node gone", async () => (await consumer.get(Node, { name: sliceName })) === undefined);
  await consumer.delete(Identity, controlPlaneIdentity(sides, {}).metadata);
  const tenantRef = { name: sides.consumer.clusterId, namespace: sides.provider.tenantNamespace };
  await provider.delete(Tenant, tenantRef);
  await until("tenant gone", async () => (await provider.get(Tenant, tenantRef)) === undefined);
  await Promise.all([
    consumer.delete(Namespace, { name: sides.consumer.tenantNamespace }),
    provider.delete(Namespace, { name: sides.provider.tenantNamespace }),
  ]);
}

async function apply(client: KubeClient, object: Desired<KubeObject>): Promise<void> {
  await client.apply(kindOf(object), object, { fieldManager: "test-administrator", force: true });
}

async function secretText(
  client: KubeClient,
  namespace: string,
  name: string,
  key: string,
  encoding: "utf8" | "base64" = "utf8",
): Promise<string | undefined> {
  const value = (await client.get(Secret, { name, namespace }))?.data?.[key];
  return value === undefined || value === "" || encoding === "base64"
    ? value || undefined
    : Buffer.from(value, "base64").toString(encoding);
}
