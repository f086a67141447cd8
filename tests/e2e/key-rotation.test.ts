import assert from "node:assert/strict";

import {
  DataKey,
  ForeignCluster,
  Identity,
  Label,
  Namespace,
  Quota,
  Renew,
  ResourceSlice,
  Secret,
  Tenant,
  VirtualNode,
} from "../../runtime/api";
import {
  controlPlaneSubject,
  createCertificateRequest,
  generateKeyPair,
  parseCertificate,
  parseCertificateRequest,
  parseKubeconfig,
  publicKeyFingerprint,
  publicKeyOf,
} from "../../runtime/identity";
import { KubeClient } from "../../runtime/kube";
import type { PeeringSides } from "../../runtime/plan/peering";
import { eventAbout, eventWith } from "../support/events";
import type { ManagedCluster } from "../support/managed-cluster";
import { installPair } from "../support/managed-pair";
import { PeeringSteps } from "../support/peering-steps";
import { until } from "../support/until";
import { withControlPlanes } from "../support/with-control-planes";

const sides: PeeringSides = {
  consumer: { clusterId: "rome", tenantNamespace: "to-milan" },
  provider: { clusterId: "milan", tenantNamespace: "guests-from-rome" },
};
const keysOfRome = { name: "authentication-keys", namespace: "liqo" };
const tenantOfRome = { name: "rome", namespace: "guests-from-rome" };
const renewAtRome = { name: "controlplane-milan", namespace: "to-milan" };
const renewAtMilan = { name: "controlplane-milan", namespace: "guests-from-rome" };
const identities = ["controlplane-milan", "resourceslice-pool", "resourceslice-spare"] as const;

describe("rotation of the keys of a consumer", function () {
  this.timeout(180_000);
  let rome: ManagedCluster;
  let milan: ManagedCluster;
  let steps: PeeringSteps;
  let uids: (string | undefined)[];
  /** Of what must not change while keys do: seen by watching. */
  const seen = new Set<string>();
  let watching: NodeJS.Timeout;

  after(async () => {
    clearInterval(watching);
    await Promise.all([rome?.end(), milan?.end()]);
  });
  const controlPlane = withControlPlanes({
    rome: { controllerManager: true, serviceCidr: "10.97.0.0/16" },
    milan: { controllerManager: true, serviceCidr: "10.98.0.0/16" },
  });
  before(async () => {
    [rome, milan] = await installPair(controlPlane);
    await Promise.all([rome.start(["--foreign-cluster-ping-interval=500ms"]), milan.start()]);
    steps = new PeeringSteps(rome, milan, sides, "pool");
    await steps.namespaces();
    await steps.nonceSecret();
    await steps.tenant();
    await steps.identity();
    for (const name of ["pool", "spare"]) await steps.slice(name);
    for (const name of ["pool", "spare"])
      await until(`virtual node ${name}`, () => rome.admin.get(VirtualNode, { name, namespace: "to-milan" }));
    await until("peer answers", async () => (await apiServerStatus()) === "Established");
    uids = await uidsOfWhatStays();
    watching = setInterval(() => void watch(), 50);
  });

  /** What users would notice. */
  async function watch(): Promise<void> {
    const [status, slices] = await Promise.all([
      apiServerStatus(),
      rome.admin.list(ResourceSlice, { namespace: "to-milan" }),
    ]).catch(() => ["Established", []] as const);
    seen.add(`API server ${status}`);
    for (const { status: found } of slices)
      for (const condition of found?.conditions ?? []) seen.add(`${condition.type} ${condition.status}`);
  }

  async function uidsOfWhatStays(): Promise<(string | undefined)[]> {
    const inTenant = { namespace: "to-milan" };
    const objects = await Promise.all([
      rome.admin.list(Identity, inTenant),
      rome.admin.list(VirtualNode, inTenant),
      rome.admin.list(ResourceSlice, inTenant),
      milan.admin.list(Quota),
      milan.admin.list(Tenant),
    ]);
    return objects
      .flat()
      .map(({ kind, metadata }) => `${kind} ${metadata.name} ${metadata.uid}`)
      .sort();
  }

  const apiServerStatus = async () =>
    (await rome.admin.get(ForeignCluster, { name: "milan" }))?.status?.conditions?.[0]?.status;
  const text = (secret: Secret | undefined, key: string) =>
    Buffer.from(secret?.data?.[key] ?? "", "base64").toString();
  const clusterKey = async () => {
    const secret = await rome.admin.get(Secret, keysOfRome);
    return secret === undefined
      ? undefined
      : publicKeyFingerprint(publicKeyOf(text(secret, DataKey.privateKey)));
  };
  const kubeconfigOf = async (identity: string) =>
    text(
      await rome.admin.get(Secret, { name: `kubeconfig-${identity}`, namespace: "to-milan" }),
      DataKey.kubeconfig,
    );
  /** Whether everything on both sides is of one key. */
  async function allAreOf(fingerprint: string): Promise<boolean> {
    const keys = await Promise.all(
      identities.map(async (identity) => {
        const { privateKey = "", certificate = "" } = parseKubeconfig(await kubeconfigOf(identity));
        assert.equal(
          publicKeyFingerprint(publicKeyOf(privateKey)),
          publicKeyFingerprint(parseCertificate(certificate).publicKey),
          `the pair of ${identity}`,
        );
        return publicKeyFingerprint(publicKeyOf(privateKey));
      }),
    );
    const tenant = await milan.admin.get(Tenant, tenantOfRome);
    const atMilan = publicKeyFingerprint(Buffer.from(tenant?.spec.publicKey ?? "", "base64"));
    const copies = await milan.admin.list(ResourceSlice, { namespace: "guests-from-rome" });
    const asked = copies.map(({ spec }) =>
      publicKeyFingerprint(parseCertificateRequest(Buffer.from(spec.csr ?? "", "base64")).publicKey),
    );
    return [...keys, atMilan, ...asked].every((each) => each === fingerprint);
  }
  const annotate = () =>
    rome.admin.patch(
      Secret,
      keysOfRome,
      { metadata: { annotations: { "liqo.io/rotate-keys": "true" } } },
      { type: "merge" },
    );

  async function settled(before: string): Promise<void> {
    const fingerprint = await until("another key", async () => {
      const key = await clusterKey();
      return key !== undefined && key !== before && key;
    });
    const begin = performance.now();
    await until("everything is of it", async () => await allAreOf((await clusterKey()) ?? fingerprint));
    console.log(`      everything is of the new key after ${Math.round(performance.now() - begin)} ms`);
    await until("the mailbox is as before", async () => {
      const renew = await rome.admin.get(Renew, renewAtRome);
      return renew?.spec.csr === undefined && renew?.spec.publicKey === undefined;
    });
    for (const identity of identities) {
      const client = KubeClient.fromKubeconfig(await kubeconfigOf(identity));
      const slices = client.list(ResourceSlice, { namespace: "guests-from-rome" });
      if (identity === "controlplane-milan") assert.equal((await slices).length, 2);
      else await assert.rejects(slices, /403/); // known, with the rights of a slice
      client.close();
    }
  }

  it("reaches the provider, the control plane and every slice, and takes nothing away meanwhile", async () => {
    const before = (await clusterKey()) ?? "";
    await annotate();
    await settled(before);
    const { annotations } = (await rome.admin.get(Secret, keysOfRome))?.metadata ?? {};
    assert.equal(annotations?.["liqo.io/rotate-keys"], undefined);
    await eventAbout(milan.admin, { kind: "Tenant", ...tenantOfRome }, "KeyReplaced");
    assert.deepEqual(await uidsOfWhatStays(), uids);
    assert.deepEqual([...seen].sort(), [
      "API server Established",
      "Authentication Accepted",
      "Resources Accepted",
    ]);
  });

  it("may be asked for again before the last one is through", async () => {
    const before = (await clusterKey()) ?? "";
    await annotate();
    const second = await until("the second key", async () => {
      const key = await clusterKey();
      return key !== undefined && key !== before && key;
    });
    await annotate();
    await settled(second);
    assert.deepEqual(await uidsOfWhatStays(), uids);
    assert.ok(!seen.has("Authentication Denied"));
  });

  it("follows the loss of the keys", async () => {
    const before = (await clusterKey()) ?? "";
    await rome.admin.delete(Secret, keysOfRome);
    await settled(before);
    assert.deepEqual(await uidsOfWhatStays(), uids);
    assert.ok(!seen.has("Authentication Denied"));
  });

  it("goes on after both controller managers were restarted", async () => {
    await milan.stop();
    const before = (await clusterKey()) ?? "";
    await annotate();
    await until("asked", async () => (await milan.admin.get(Renew, renewAtMilan))?.spec.csr);
    // The replaced key stands in the Secret alone, and somebody deletes that.
    const ref = { name: "kubeconfig-controlplane-milan", namespace: "to-milan" };
    const { metadata, data } = (await rome.admin.get(Secret, ref)) ?? assert.fail();
    await rome.admin.delete(Secret, ref);
    const again = await until("the Secret is made again", async () => {
      const found = await rome.admin.get(Secret, ref);
      return found !== undefined && found.metadata.uid !== metadata.uid && found;
    });
    assert.deepEqual(again.data, data);
    await rome.stop();
    await Promise.all([rome.start(["--foreign-cluster-ping-interval=500ms"]), milan.start()]);
    await settled(before);
    assert.deepEqual(await uidsOfWhatStays(), uids);
  });

  it("goes on when the provider learns of the tenant namespace last", async () => {
    await milan.stop();
    const before = (await clusterKey()) ?? "";
    await annotate();
    const key = await until("another key", async () => {
      const found = await clusterKey();
      return found !== before && found;
    });
    const renew = await until("asked", async () => {
      const copy = await milan.admin.get(Renew, renewAtMilan);
      const { publicKey = "", csr } = copy?.spec ?? {};
      const asked =
        csr !== undefined && publicKeyFingerprint(Buffer.from(publicKey, "base64").toString()) === key;
      return asked && copy;
    });
    const label = (value: string | null) =>
      milan.admin.patch(
        Namespace,
        { name: "guests-from-rome" },
        { metadata: { labels: { [Label.tenantNamespace]: value } } },
        { type: "merge" },
      );
    await label(null);
    await milan.start();
    await eventWith(milan.admin, renew, "TenantNamespaceNotFound", /"rome" has no tenant namespace/);
    await label("true");
    await settled(before);
  });

  it("lets a new slice be granted, and a Tenant keep its key through a drain", async () => {
    await steps.slice("later");
    await until("granted", async () => {
      const slice = await rome.admin.get(ResourceSlice, { name: "later", namespace: "to-milan" });
      return (
        slice?.status?.conditions?.length === 2 &&
        slice.status.conditions.every((each) => each.status === "Accepted")
      );
    });
    for (const tenantCondition of ["Drained", "Active"]) {
      await milan.admin.patch(Tenant, tenantOfRome, { spec: { tenantCondition } }, { type: "merge" });
      await until(tenantCondition, async () => {
        const copies = await milan.admin.list(ResourceSlice, { namespace: "guests-from-rome" });
        return copies.length === (tenantCondition === "Drained" ? 0 : 3);
      });
    }
  });

  it("is refused where the new key is not proven, or for another cluster", async () => {
    await rome.stop();
    const pair = generateKeyPair();
    const other = generateKeyPair();
    const before = (await milan.admin.get(Tenant, tenantOfRome))?.spec.publicKey;
    const base64 = (value: string) => Buffer.from(value).toString("base64");
    const rows: [string, string, RegExp][] = [
      [
        pair.publicKey,
        createCertificateRequest(controlPlaneSubject("rome"), other.privateKey),
        /another public key/,
      ],
      [
        pair.publicKey,
        createCertificateRequest(controlPlaneSubject("turin"), pair.privateKey),
        /expected "rome"/,
      ],
      ["no key", createCertificateRequest(controlPlaneSubject("rome"), pair.privateKey), /not readable/],
    ];
    for (const [publicKey, csr, words] of rows) {
      const renew = await milan.admin.patch(
        Renew,
        renewAtMilan,
        { spec: { publicKey: base64(publicKey), csr: base64(csr) } },
        { type: "merge" },
      );
      await eventWith(milan.admin, renew, "InvalidCSR", words);
    }
    assert.equal((await milan.admin.get(Tenant, tenantOfRome))?.spec.publicKey, before);
  });
});
