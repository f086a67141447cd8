/**
 * What several peerings, stacks and liqoctl share: on the real engine, against control planes without nodes. Whoever needs a tenant namespace holds it,
 * and nobody takes over or removes what another one has.
 */
import assert from "node:assert/strict";

import * as k8s from "@pulumi/kubernetes";
import * as pulumi from "@pulumi/pulumi";

import * as liqo from "../../components";
import { ConfigMap, DataKey, Identity, Name, Namespace, Secret, Tenant } from "../../runtime/api";
import type { KubeClient } from "../../runtime/kube";
import { nonceSecret, tenantNamespace } from "../../runtime/plan/peering";
import type { ManagedCluster } from "../support/managed-cluster";
import { installPair } from "../support/managed-pair";
import { pulumiProject, type PulumiProject } from "../support/pulumi-project";
import { randomFrom } from "../support/random-sequence";
import { settled } from "../support/stack-outcome";
import { withControlPlanes } from "../support/with-control-planes";

const AT_ROME = "liqo-tenant-milan";
const AT_MILAN = "liqo-tenant-rome";

describe("what peerings share, on the real engine", function () {
  this.timeout(300_000);
  const controlPlane = withControlPlanes({
    rome: { serviceCidr: "10.81.0.0/16", controllerManager: true },
    milan: { serviceCidr: "10.92.0.0/16", controllerManager: true },
  });
  let project: PulumiProject;
  let clusters: ManagedCluster[] = [];
  let rome: KubeClient;
  let milan: KubeClient;

  before(async function () {
    this.timeout(30 * 60_000); // the first run on a machine builds the engine
    clusters = await installPair(controlPlane);
    await Promise.all(clusters.map((cluster) => cluster.start()));
    const [first, second] = clusters;
    assert.ok(first && second);
    [rome, milan] = [first.admin, second.admin];
    await Promise.all([tellClusterId(rome, "liqo", "rome"), tellClusterId(milan, "liqo-system", "milan")]);
    project = await pulumiProject("shared", {
      resourcePlugins: ["kubernetes", "random"],
      progress: console.log,
    });
  });
  after(async () => {
    project?.remove();
    await Promise.all(clusters.map((cluster) => cluster.stop()));
  });

  const romeArgs = () => ({ kubeconfig: controlPlane("rome").kubeconfig, clusterId: "rome" });
  const milanArgs = () => ({
    kubeconfig: controlPlane("milan").kubeconfig,
    clusterId: "milan",
    liqoNamespace: "liqo-system",
  });
  type Ends = Pick<liqo.AuthenticationPeeringArgs, "consumer" | "provider">;
  const forth = (): Ends => ({ consumer: romeArgs(), provider: milanArgs() });
  const back = (): Ends => ({ consumer: milanArgs(), provider: romeArgs() });

  /** A stack with these handshakes, by name. */
  const stackOf = (stack: string, peerings: Record<string, Ends>) =>
    project.stack(stack, () => {
      for (const [name, ends] of Object.entries(peerings)) new liqo.AuthenticationPeering(name, ends);
      return Promise.resolve({});
    });

  const uids = async () => {
    const both = await Promise.all([
      rome.get(Namespace, { name: AT_ROME }),
      milan.get(Namespace, { name: AT_MILAN }),
    ]);
    return both.map((found) => (found?.metadata.deletionTimestamp ? "leaving" : found?.metadata.uid));
  };
  const GONE = [undefined, undefined];

  it("both directions in one program: each alone leaves what the other needs", async () => {
    await (await stackOf("both", { forth: forth(), back: back() })).up();
    await settled(await stackOf("both", { forth: forth(), back: back() }));
    const before = await uids();
    assert.ok(before.every((uid) => uid !== undefined));
    await (await stackOf("both", { back: back() })).up();
    assert.deepEqual(await uids(), before);
    assert.ok(await rome.get(Tenant, { name: "milan", namespace: AT_ROME }), "the other direction's Tenant");
    assert.equal(await milan.get(Tenant, { name: "rome", namespace: AT_MILAN }), undefined);
    await settled(await stackOf("both", { back: back() }));
    await (await stackOf("both", { back: back() })).destroy();
    assert.deepEqual(await uids(), GONE);
  });

  it("two stacks: the first to go leaves the namespaces, the last removes them", async () => {
    await (await stackOf("first", { peers: forth() })).up();
    const before = await uids();
    const second = await stackOf("second", { peers: back() });
    const { stdout } = await second.preview();
    assert.match(
      stdout,
      /namespace liqo-tenant-rome at .* is there, held by .*stack .*first: it will be held/,
    );
    await second.up();
    await settled(await stackOf("first", { peers: forth() }));
    await settled(second);
    await (await stackOf("first", { peers: forth() })).destroy();
    assert.deepEqual(await uids(), before);
    assert.ok(await milan.get(Identity, { name: "controlplane-rome", namespace: AT_MILAN }));
    await settled(second);
    await second.destroy();
    assert.deepEqual(await uids(), GONE);
  });

  it("a second stack of the same handshake is refused, and touches nothing", async () => {
    await (await stackOf("first", { peers: forth() })).up();
    const uid = async () =>
      (await milan.get(Tenant, { name: "rome", namespace: AT_MILAN }))?.metadata.resourceVersion;
    const before = await uid();
    const second = await stackOf("second", { peers: forth() });
    await assert.rejects(second.up(), /is there already, written by .*pulumi.*adoptExisting/s);
    assert.equal(await uid(), before);
    await second.destroy();
    assert.equal(await uid(), before);
    await settled(await stackOf("first", { peers: forth() }));
    await (await stackOf("first", { peers: forth() })).destroy();
    assert.deepEqual(await uids(), GONE);
  });

  it("what liqoctl made before: its namespaces are used and stay, its objects are taken over on purpose only", async () => {
    await rome.create(Namespace, tenantNamespace(AT_ROME, "milan"));
    await milan.create(Namespace, tenantNamespace(AT_MILAN, "rome"));
    const sides = {
      consumer: { clusterId: "rome", tenantNamespace: AT_ROME },
      provider: { clusterId: "milan", tenantNamespace: AT_MILAN },
    };
    const nonce = await milan.create(Secret, nonceSecret(sides));
    const before = await uids();
    await assert.rejects(
      (await stackOf("later", { peers: forth() })).preview(),
      /Secret liqo-tenant-rome\/liqo-nonce at .* is there already.*adoptExisting: true/s,
    );
    await assert.rejects((await stackOf("later", { peers: forth() })).up(), /is there already/);
    const adopting = () =>
      stackOf("later", {
        peers: { consumer: romeArgs(), provider: { ...milanArgs(), adoptExisting: true } },
      });
    const { stdout } = await (await adopting()).preview();
    assert.match(stdout, /liqo-nonce at .* is there already.*it will be taken over/);
    await (await adopting()).up();
    const { name, namespace } = nonceSecret(sides).metadata;
    assert.equal(
      (await milan.get(Secret, { name, ...(namespace && { namespace }) }))?.metadata.uid,
      nonce.metadata.uid,
    );
    await settled(await adopting());
    await (await adopting()).destroy();
    assert.deepEqual(await uids(), before);
    await rome.delete(Namespace, { name: AT_ROME });
    await milan.delete(Namespace, { name: AT_MILAN });
  });

  it("a namespace that is not of the peer, and a second one for it, are refused in the preview", async () => {
    const named = (tenantNamespaceName: string) =>
      stackOf("refused", {
        peers: { consumer: { ...romeArgs(), tenantNamespace: tenantNamespaceName }, provider: milanArgs() },
      });
    await assert.rejects(
      (await named("kube-public")).preview(),
      /namespace kube-public exists and lacks the labels/,
    );
    await rome.create(Namespace, tenantNamespace("by-hand", "milan"));
    await assert.rejects(
      (await named("another")).preview(),
      /namespace by-hand is the tenant namespace for cluster milan already.*tenantNamespace: "by-hand"/s,
    );
    await rome.delete(Namespace, { name: "by-hand" });
  });

  it("another cluster ID than the installation's is refused, and replaces nothing", async () => {
    await (await stackOf("renamed", { peers: forth() })).up();
    const before = await uids();
    const renamed = () =>
      stackOf("renamed", {
        peers: { consumer: { ...romeArgs(), clusterId: "roma" }, provider: milanArgs() },
      });
    await assert.rejects(
      (await renamed()).preview(),
      /clusterId is "roma", but the cluster at .* has the ID "rome"/,
    );
    await assert.rejects((await renamed()).up(), /clusterId is "roma"/);
    assert.deepEqual(await uids(), before);
    await (await stackOf("renamed", { peers: forth() })).up();
    await settled(await stackOf("renamed", { peers: forth() }));
    assert.deepEqual(await uids(), before);
    await (await stackOf("renamed", { peers: forth() })).destroy();
    assert.deepEqual(await uids(), GONE);
  });

  it("a stack of before, with namespaces of the plugin, keeps them, and its last run removes them", async () => {
    const former = await project.stack("former", () => {
      new FormerNamespaces("peers", { rome: romeArgs(), milan: milanArgs() });
      return Promise.resolve({});
    });
    await former.up();
    const before = await uids();
    const later = await stackOf("former", { peers: forth() });
    const { changeSummary } = await later.preview();
    assert.deepEqual([changeSummary["replace"], changeSummary["delete"]], [undefined, undefined]);
    await later.up();
    assert.deepEqual(await uids(), before);
    await settled(later);
    await later.destroy();
    assert.deepEqual(await uids(), GONE);
  });

  describe("on a random walk over arguments", () => {
    const seed = Number(process.env["LIQO_WALK_SEED"] ?? 7);
    const steps = Number(process.env["LIQO_WALK_STEPS"] ?? 5);

    /** Arguments of a program with the handshakes of both directions. */
    interface Walk {
      forth: boolean;
      back: boolean;
      adopt: boolean;
      timeoutSeconds: number;
      romeId: string;
      atRome: string | undefined;
    }
    const walked = ({ forth, back, adopt, timeoutSeconds, romeId, atRome }: Walk) =>
      project.stack("walk", () => {
        const own = {
          ...romeArgs(),
          clusterId: romeId,
          adoptExisting: adopt,
          ...(atRome !== undefined && { tenantNamespace: atRome }),
        };
        const other = { ...milanArgs(), adoptExisting: adopt };
        if (forth)
          new liqo.AuthenticationPeering("forth", { consumer: own, provider: other, timeoutSeconds });
        if (back) new liqo.AuthenticationPeering("back", { consumer: other, provider: own, timeoutSeconds });
        return Promise.resolve({});
      });

    /** Changes that are taken, then those that are refused as long as something is there. */
    const changes: ((walk: Walk) => Partial<Walk>)[] = [
      ({ forth }) => ({ forth: !forth }),
      ({ back }) => ({ back: !back }),
      ({ adopt }) => ({ adopt: !adopt }),
      ({ timeoutSeconds }) => ({ timeoutSeconds: timeoutSeconds + 1 }),
      () => ({ romeId: "roma" }),
      () => ({ atRome: "kube-public" }),
      () => ({ atRome: "to-milan" }),
    ];
    const TAKEN = 4;

    /** What is there of each handshake, and the namespaces: by UID. */
    const living = async ({ forth, back }: Walk) => {
      const of = async (is: boolean, consumer: KubeClient, provider: KubeClient, ids: [string, string]) => {
        if (!is) return {};
        const [own, peer] = ids;
        const inNamespace = (other: string) => `liqo-tenant-${other}`;
        const identity = { name: `controlplane-${peer}`, namespace: inNamespace(peer) };
        const tenant = { name: own, namespace: inNamespace(own) };
        return {
          [`Identity of ${own}`]: (await consumer.get(Identity, identity))?.metadata.uid,
          [`Tenant ${own}`]: (await provider.get(Tenant, tenant))?.metadata.uid,
        };
      };
      return {
        ...(await of(forth, rome, milan, ["rome", "milan"])),
        ...(await of(back, milan, rome, ["milan", "rome"])),
        ...((forth || back) && { namespaces: (await uids()).join(" ") }),
      };
    };

    it(`loses nothing that is to stay (seed ${seed}, ${steps} steps)`, async function () {
      this.timeout(120_000 + steps * 60_000);
      const random = randomFrom(seed);
      let at: Walk = {
        forth: true,
        back: true,
        adopt: false,
        timeoutSeconds: 120,
        romeId: "rome",
        atRome: undefined,
      };
      await (await walked(at)).up();
      for (let step = 1; step <= steps; step++) {
        const index = Math.floor(random() * changes.length);
        const change = changes[index]?.(at) ?? {};
        const next = { ...at, ...change };
        const what = `seed ${seed}, step ${step}: ${JSON.stringify(change)} on ${JSON.stringify(at)}`;
        const before: Record<string, string | undefined> = await living(at);
        const isRefused = index >= TAKEN && (at.forth || at.back);
        if (isRefused) {
          await assert.rejects((await walked(next)).up(), /failed/, what);
          await (await walked(at)).up();
        } else if (index < TAKEN) {
          await (await walked(next)).up();
          at = next;
        }
        const after: Record<string, string | undefined> = await living(at);
        for (const [object, uid] of Object.entries(before))
          if (object in after) assert.equal(after[object], uid, `${object}; ${what}`);
        for (const [object, uid] of Object.entries(after)) assert.ok(uid, `${object} is gone; ${what}`);
        await (await walked(at)).preview({ expectNoChanges: true });
      }
      await (await walked(at)).destroy();
      assert.deepEqual(await uids(), GONE);
    });
  });
});

/** What the component was before it held its namespaces: with the names and types that stand in states. */
class FormerNamespaces extends pulumi.ComponentResource {
  constructor(
    name: string,
    { rome, milan }: Record<"rome" | "milan", { kubeconfig: string; clusterId: string }>,
  ) {
    super("pulumi-liqo:index:AuthenticationPeering", name, {});
    for (const [side, own, peer] of [
      ["consumer", rome, milan],
      ["provider", milan, rome],
    ] as const) {
      const provider = new k8s.Provider(
        `${name}-${side}`,
        {
          kubeconfig: pulumi.secret(own.kubeconfig),
          clusterIdentifier: own.clusterId,
          enableServerSideApply: true,
          enablePatchForce: true,
          enableConfigMapMutable: true,
          enableSecretMutable: true,
          suppressDeprecationWarnings: true,
        },
        { parent: this },
      );
      const { metadata } = tenantNamespace(`liqo-tenant-${peer.clusterId}`, peer.clusterId);
      new k8s.core.v1.Namespace(
        `${name}-${side}-tenant-namespace`,
        { metadata: { name: metadata.name, labels: metadata.labels ?? {} } },
        { parent: this, provider },
      );
    }
    this.registerOutputs({});
  }
}

/** As an installation does, so that peerings see whose cluster it is. */
async function tellClusterId(client: KubeClient, namespace: string, clusterId: string): Promise<void> {
  await client.create(ConfigMap, {
    apiVersion: "v1",
    kind: "ConfigMap",
    metadata: { name: Name.clusterIDConfigMap, namespace },
    data: { [DataKey.clusterID]: clusterId },
  });
}
