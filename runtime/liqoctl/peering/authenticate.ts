/** The handshake: what `liqoctl authenticate` does, and `peer` in its second part (control plane reference 5, 17.6). */
import { type AuthParams, authParams as authParamsSchema, Identity, Tenant } from "../../api/authentication";
import { controlPlaneIdentityName, DataKey, Name } from "../../api/keys";
import { Secret } from "../../api/kubernetes";
import {
  authParamsFaults,
  checkCertificateRequest,
  controlPlaneSubject,
  createCertificateRequest,
  InvalidCertificateRequest,
  KeyError,
  parseCertificate,
  publicKeyOf,
  readPublicKey,
  samePublicKey,
  verifyNonce,
} from "../../identity";
import { isDeleting } from "../../kube";
import {
  controlPlaneIdentity,
  nonceData,
  nonceSecret,
  type PeeringSides,
  signedNonceSecret,
  tenant,
  type TenantCredentials,
} from "../../plan/peering";
import type { Cluster } from "../cluster/cluster";
import type { Pair } from "../cluster/pair";
import { CommandError } from "../failure";
import type { Run } from "../run";
import { waitUntil } from "../wait";

const CONTROLLERS = "see that Liqo's controller manager runs there, and what its log says";

/** Returns when the consumer has credentials of the provider. Every part that is there already is kept. */
export async function authenticate(
  run: Run,
  pair: Pair,
  sides: PeeringSides,
  proxyURL: string | undefined,
): Promise<void> {
  const nonce = await readNonce(run, pair.provider, sides);
  const signature = await signNonce(run, pair.consumer, sides, nonce);
  const params = await applyTenant(run, pair, sides, signature, proxyURL);
  await applyIdentity(run, pair.consumer, sides, params);
}

/** At the provider: the nonce for the consumer. */
export function readNonce(run: Run, provider: Cluster, sides: PeeringSides): Promise<string> {
  const manifest = nonceSecret(sides);
  return run.progress.step(
    provider.scope,
    "get a nonce",
    async (waiting) => {
      await provider.ensure(run, Secret, manifest);
      return await waitUntil(run, { waiting, next: CONTROLLERS }, async () => {
        const value = text(await provider.client.get(Secret, manifest.metadata, run.call), DataKey.nonce);
        return value === undefined
          ? { is: "open", seen: `Secret ${manifest.metadata.name}: data.${DataKey.nonce} is empty` }
          : { is: "met", value };
      });
    },
    () => "nonce is there",
  );
}

interface Signed {
  signature: string;
  privateKey: string;
}

/** At the consumer: the nonce signed with the cluster's key. The key is read for the certificate request, which is made here. */
export async function signNonce(
  run: Run,
  consumer: Cluster,
  sides: PeeringSides,
  nonce: string,
): Promise<Signed> {
  const manifest = { ...signedNonceSecret(sides), data: nonceData(nonce) };
  const keys = { name: Name.clusterKeys, namespace: consumer.liqoNamespace };
  return await run.progress.step(
    consumer.scope,
    "sign the nonce",
    async (waiting) => {
      await consumer.ensure(run, Secret, manifest);
      return await waitUntil(run, { waiting, next: CONTROLLERS }, async () => {
        const privateKey = text(await consumer.client.get(Secret, keys, run.call), DataKey.privateKey);
        if (privateKey === undefined)
          return {
            is: "open",
            seen: `Secret ${keys.namespace}/${keys.name} with the cluster's keys is not there`,
          };
        const signed = await consumer.client.get(Secret, manifest.metadata, run.call);
        const signature = Buffer.from(signed?.data?.[DataKey.signedNonce] ?? "", "base64");
        if (signature.length === 0)
          return {
            is: "open",
            seen: `Secret ${manifest.metadata.name}: data.${DataKey.signedNonce} is empty`,
          };
        if (!verifyNonce(nonce, signature, publicKeyOf(privateKey)))
          return {
            is: "open",
            seen: `Secret ${manifest.metadata.name} holds the signature of another nonce`,
          };
        return { is: "met", value: { privateKey, signature: signature.toString("base64") } };
      });
    },
    () => "nonce is signed",
  );
}

/** The consumer as the provider gets to see it. A certificate request that is there and fits is kept: ECDSA never makes the same twice. */
export function tenantCredentials(
  consumerId: string,
  { signature, privateKey }: Signed,
  present?: Tenant,
): TenantCredentials {
  const subject = controlPlaneSubject(consumerId);
  const publicKey = publicKeyOf(privateKey);
  const csr = present?.spec.csr;
  return {
    publicKey: base64(publicKey),
    csr:
      csr !== undefined && fits(csr, subject, publicKey)
        ? csr
        : base64(createCertificateRequest(subject, privateKey)),
    signature,
  };
}

function fits(csr: string, subject: ReturnType<typeof controlPlaneSubject>, publicKey: string): boolean {
  try {
    checkCertificateRequest(Buffer.from(csr, "base64"), { subject, publicKey });
    return true;
  } catch (error) {
    if (error instanceof InvalidCertificateRequest || error instanceof KeyError) return false;
    throw error;
  }
}

/** At the provider: the Tenant, and what it answers. */
function applyTenant(
  run: Run,
  { provider, consumerId }: Pair,
  sides: PeeringSides,
  signed: Signed,
  proxyURL: string | undefined,
): Promise<AuthParams> {
  const { tenantNamespace } = sides.provider;
  return run.progress.step(
    provider.scope,
    `make ${consumerId} a tenant`,
    async (waiting) => {
      const present = await presentTenant(run, provider, tenantNamespace, consumerId);
      if (present?.spec.tenantCondition === "Drained") {
        throw new CommandError(
          `Tenant ${tenantNamespace}/${present.metadata.name} is drained, and gets no credentials`,
          `let it in again at the provider: liqoctl activate tenant ${present.metadata.name}`,
        );
      }
      const manifest = tenant(sides, tenantCredentials(consumerId, signed, present), proxyURL);
      if (present !== undefined) manifest.metadata.name = present.metadata.name;
      if (present?.spec.publicKey && !isOfKey(present.spec.publicKey, signed.privateKey)) {
        run.progress.warn(
          provider.scope,
          `Tenant ${tenantNamespace}/${present.metadata.name} has another key than ${consumerId}, and gets that of this cluster: unless ${consumerId} was given new keys, another cluster of the same ID is peered already, and loses its place`,
        );
      }
      await provider.ensure(run, Tenant, manifest);
      const next = `see the events of the Tenant at the provider: kubectl describe tenant ${manifest.metadata.name} -n ${tenantNamespace}; ${CONTROLLERS}`;
      return await waitUntil(run, { waiting, next }, async () => {
        const found = await provider.client.get(Tenant, manifest.metadata, run.call);
        if (found === undefined) return { is: "open", seen: "the Tenant does not exist" };
        const { authParams, tenantNamespace: given } = found.status ?? {};
        if (authParams === undefined || !given)
          return { is: "open", seen: "the Tenant has no credentials yet (status.authParams)" };
        if (authParams.signedCRT !== undefined && !isFor(authParams.signedCRT, signed.privateKey))
          return {
            is: "open",
            seen: "the Tenant has a certificate for another key (status.authParams.signedCRT)",
          };
        const faults = authParamsFaults(authParams);
        if (faults.length > 0)
          return {
            is: "open",
            seen: `the Tenant's credentials are none: status.authParams.${faults.join("; ")}`,
          };
        return { is: "met", value: authParamsSchema().parse(authParams) };
      });
    },
    () => `${consumerId} is a tenant and has credentials`,
  );
}

/** Whether a public key, base64, belongs to a private one. One that can't be read belongs to none. */
function isOfKey(key: string, privateKey: string): boolean {
  try {
    return samePublicKey(readPublicKey(Buffer.from(key, "base64")), publicKeyOf(privateKey));
  } catch (error) {
    if (error instanceof KeyError) return false;
    throw error;
  }
}

/** Whether a certificate, base64 of PEM, is for a key. */
function isFor(certificate: string, privateKey: string): boolean {
  return samePublicKey(
    parseCertificate(Buffer.from(certificate, "base64")).publicKey,
    publicKeyOf(privateKey),
  );
}

/** The consumer's Tenant, whatever its name: one made by hand may have another than the cluster's. */
export async function presentTenant(
  run: Run,
  { client }: Cluster,
  namespace: string,
  consumerId: string,
): Promise<Tenant | undefined> {
  const tenants = await client.list(Tenant, { namespace }, run.call);
  return tenants.find(({ spec }) => spec.clusterID === consumerId);
}

/** At the consumer: the credentials, which its controllers make a kubeconfig of. */
function applyIdentity(
  run: Run,
  consumer: Cluster,
  sides: PeeringSides,
  params: AuthParams,
): Promise<string> {
  const manifest = controlPlaneIdentity(sides, params);
  const { name, namespace } = manifest.metadata;
  const next = `see the events of the Identity: kubectl describe identity ${name} -n ${namespace}; ${CONTROLLERS}`;
  return run.progress.step(
    consumer.scope,
    "take the credentials",
    async (waiting) => {
      await consumer.ensure(run, Identity, manifest);
      return await waitUntil(run, { waiting, next }, async () => {
        const found = await consumer.client.get(Identity, manifest.metadata, run.call);
        const secret = found?.status?.kubeconfigSecretRef?.name;
        if (!secret) return { is: "open", seen: "the Identity has no kubeconfig yet" };
        const kubeconfig = await consumer.client.get(Secret, { name: secret, namespace }, run.call);
        if (kubeconfig === undefined)
          return { is: "open", seen: `Secret ${secret} of the Identity does not exist yet` };
        return isDeleting(kubeconfig)
          ? { is: "open", seen: `Secret ${secret} is still being removed` }
          : { is: "met", value: secret };
      });
    },
    (secret) => `credentials of ${sides.provider.clusterId} are in Secret ${namespace}/${secret}`,
  );
}

/** Refused while the consumer asks the provider for resources. Absent objects are fine. */
export async function unauthenticate(run: Run, pair: Pair, sides: PeeringSides): Promise<void> {
  const { consumer, provider, consumerId, providerId } = pair;
  await run.progress.step(
    consumer.scope,
    "remove the credentials",
    async () => {
      const ref = { name: controlPlaneIdentityName(providerId), namespace: sides.consumer.tenantNamespace };
      const present = await consumer.client.get(Identity, ref, run.call);
      return present !== undefined && (await consumer.client.delete(Identity, present.metadata, run.call));
    },
    (was) => (was ? "credentials removed" : "no credentials are there"),
  );
  await run.progress.step(
    provider.scope,
    `remove tenant ${consumerId}`,
    async (waiting) => {
      const { tenantNamespace: namespace } = sides.provider;
      const present = await presentTenant(run, provider, namespace, consumerId);
      if (present === undefined) return false;
      await provider.client.delete(Tenant, present.metadata, run.call);
      await waitUntil(run, { waiting, next: CONTROLLERS }, async () =>
        (await provider.client.get(Tenant, present.metadata, run.call)) === undefined
          ? { is: "met", value: undefined }
          : { is: "open", seen: "its finalizers are waited for" },
      );
      return true;
    },
    (was) => (was ? `tenant ${consumerId} removed` : `no tenant ${consumerId} is there`),
  );
}

function text(secret: Secret | undefined, key: string): string | undefined {
  const value = secret?.data?.[key];
  return value ? Buffer.from(value, "base64").toString() : undefined;
}

function base64(value: string): string {
  return Buffer.from(value).toString("base64");
}
