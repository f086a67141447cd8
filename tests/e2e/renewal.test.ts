import assert from "node:assert/strict";
import { DataKey, ForeignCluster, ResourceSlice, Secret, VirtualNode } from "../../runtime/api";
import { parseCertificate, parseKubeconfig } from "../../runtime/identity";
import { KubeClient } from "../../runtime/kube";
import type { PeeringSides } from "../../runtime/plan/peering";
import type { ManagedCluster } from "../support/managed-cluster";
import { installPair } from "../support/managed-pair";
import { PeeringSteps } from "../support/peering-steps";
import { until } from "../support/until";
import { withControlPlanes } from "../support/with-control-planes";

const sides: PeeringSides = {
  consumer: { clusterId: "rome", tenantNamespace: "to-milan" },
  provider: { clusterId: "milan", tenantNamespace: "guests-from-rome" },
};
const identities = ["controlplane-milan", "resourceslice-pool"] as const;

// The signer dates certificates five minutes back, so the last third of eight minutes begins 20 s after the signing.
describe("renewal of certificates that are good for three minutes", function () {
  this.timeout(180_000);
  let rome: ManagedCluster;
  let milan: ManagedCluster;
  after(async () => {
    await Promise.all([rome?.end(), milan?.end()]);
  });
  const controlPlane = withControlPlanes({
    rome: { controllerManager: true, serviceCidr: "10.97.0.0/16" },
    milan: { controllerManager: true, serviceCidr: "10.98.0.0/16", signingDuration: "3m" },
  });
  before(async () => {
    [rome, milan] = await installPair(controlPlane);
    await Promise.all([rome.start(["--foreign-cluster-ping-interval=1s"]), milan.start()]);
  });

  it("reaches both kinds of identity, again and again, and nothing stops meanwhile", async () => {
    const steps = new PeeringSteps(rome, milan, sides, "pool");
    await steps.peer();
    await until("virtual node", () => rome.admin.get(VirtualNode, { name: "pool", namespace: "to-milan" }));
    await until("peer answers", async () => (await apiServerStatus()) === "Established");

    const seen = new Map<string, string[]>(identities.map((name) => [name, []]));
    const statuses = new Set<string | undefined>();
    await until(
      "three certificates of each identity",
      async () => {
        for (const name of identities) {
          const certificate = await certificateOf(name);
          const known = seen.get(name) ?? [];
          if (!known.includes(certificate)) known.push(certificate);
        }
        statuses.add(await apiServerStatus());
        return [...seen.values()].every((certificates) => certificates.length >= 3);
      },
      { timeoutMs: 120_000, everyMs: 100 },
    );
    assert.deepEqual([...statuses], ["Established"]);

    for (const [name, certificates] of seen) {
      const [first, second, third] = certificates.map((pem) => parseCertificate(pem));
      assert.ok(first !== undefined && second !== undefined && third !== undefined, name);
      assert.equal(third.publicKey, first.publicKey);
      assert.equal(third.commonName, first.commonName);
      assert.ok(third.notAfter > second.notAfter && second.notAfter > first.notAfter);
    }
    await until("the provider keeps the newest ones only", async () => {
      const kept = await Promise.all(
        ["liqo-remote-certificate", "liqo-remote-certificate-pool"].map((name) =>
          milan.admin.get(Secret, { name, namespace: "guests-from-rome" }),
        ),
      );
      const newest = await Promise.all(identities.map(certificateOf));
      return kept.every((secret, index) => decode(secret?.data?.[DataKey.certificate]) === newest[index]);
    });

    // The replicator works with the newest certificate.
    await steps.slice("later");
    await until("copy", () =>
      milan.admin.get(ResourceSlice, { name: "later", namespace: "guests-from-rome" }),
    );
    const client = KubeClient.fromKubeconfig((await kubeconfigOf("controlplane-milan")) ?? "");
    assert.equal((await client.list(ResourceSlice, { namespace: "guests-from-rome" })).length, 2);
    client.close();
  });

  async function kubeconfigOf(identity: string): Promise<string> {
    const ref = { name: `kubeconfig-${identity}`, namespace: "to-milan" };
    return decode((await rome.admin.get(Secret, ref))?.data?.[DataKey.kubeconfig]);
  }

  async function certificateOf(identity: string): Promise<string> {
    return parseKubeconfig(await kubeconfigOf(identity)).certificate ?? "";
  }

  async function apiServerStatus(): Promise<string | undefined> {
    const peer = await rome.admin.get(ForeignCluster, { name: "milan" });
    return peer?.status?.conditions?.[0]?.status;
  }
});

function decode(data: string | undefined): string {
  return Buffer.from(data ?? "", "base64").toString();
}
