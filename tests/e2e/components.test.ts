import assert from "node:assert/strict";

import type { Stack } from "@pulumi/pulumi/automation";
import { parse, stringify } from "yaml";

import { downCluster, resumeClusters, upCluster } from "../../provider/local-cluster/local-clusters";
import { type LocalImages, localImages } from "../../provider/local-cluster/local-images";
import type { RunningCluster } from "../../provider/local-cluster/running-cluster";
import { ensureTools } from "../../provider/local-cluster/toolchain";
import {
  ConfigMap,
  Deployment,
  type Desired,
  ForeignCluster,
  Namespace,
  NamespaceOffloading,
  Node,
  Pod,
  ResourceSlice,
  Secret,
  Service,
  Tenant,
  VirtualNode,
} from "../../runtime/api";
import { KubeClient } from "../../runtime/kube";
import { type Fabric, fabricProgram, killCluster, type Side } from "../support/components-fabric";
import { everything } from "../support/everything";
import { addedNamespaces } from "../support/installed-runtime";
import { ownCheckout } from "../support/local-checkout";
import { type PulumiProject, pulumiProject } from "../support/pulumi-project";
import { until } from "../support/until";

/** What a new cluster makes by itself, maybe only after the first look at it. */
const OF_KUBERNETES =
  /^(ConfigMap (default|kube-[^/]+)\/kube-root-ca\.crt|ServiceAccount (default\/default|kube-[^/]+\/.+)|Lease kube-node-lease\/(rome|milan)-1)$/;

describe("components, on the real engine and real clusters", function () {
  this.timeout(5 * 60_000);
  ownCheckout("co");
  let project: PulumiProject;
  let images: LocalImages;
  let clusters: Record<Side, RunningCluster>;
  let clients: Record<Side, KubeClient>;
  let full: Fabric;
  let initial: Record<Side, Set<string>>;

  before(async function () {
    this.timeout(40 * 60_000); // the first run on a machine builds the tools
    const progress = (line: string) => console.log(`    ${line}`);
    await ensureTools(["kubernetes", "etcd", "coredns"], { progress });
    images = await localImages(progress);
    const archives = [images.runtime.file, images.busybox.file];
    const [rome, milan, made] = await Promise.all([
      upCluster(
        { name: "rome", podCidr: "10.51.0.0/16", serviceCidr: "10.151.0.0/16", images: archives },
        { progress },
      ),
      upCluster(
        { name: "milan", podCidr: "10.52.0.0/18", serviceCidr: "10.152.0.0/20", images: archives },
        { progress },
      ),
      pulumiProject("components", { progress, resourcePlugins: ["kubernetes", "random"] }),
    ]);
    clusters = { rome, milan };
    clients = {
      rome: KubeClient.fromKubeconfig(rome.kubeconfig),
      milan: KubeClient.fromKubeconfig(milan.kubeconfig),
    };
    project = made;
    initial = {
      rome: new Set(await everything(clients.rome)),
      milan: new Set(await everything(clients.milan)),
    };
    full = {
      installations: true,
      grants: true,
      peering: true,
      bidirectional: false,
      memory: "1Gi",
      secondNode: false,
      offloading: true,
      extras: false,
      milanKubeconfig: milan.kubeconfig,
    };
  });
  after(async () => {
    clients?.rome.close();
    clients?.milan.close();
    project?.remove();
    await Promise.all([downCluster("rome"), downCluster("milan")]);
  });

  const stackOf = (changes: Partial<Fabric>): Promise<Stack> =>
    project.stack("fabric", () =>
      Promise.resolve(fabricProgram({ ...full, ...changes }, clusters, images.runtime.name)),
    );

  /** Nothing to do, whatever one looks at. */
  async function settled(changes: Partial<Fabric>): Promise<void> {
    const { changeSummary } = await (await stackOf(changes)).preview({ expectNoChanges: true });
    assert.deepEqual(Object.keys(changeSummary), ["same"]);
  }

  it("install the runtime on both clusters, once", async () => {
    await (await stackOf({ peering: false })).up();
    await settled({ peering: false });
    for (const side of ["rome", "milan"] as const) {
      const pods = await clients[side].list(Pod, { labelSelector: "app.kubernetes.io/part-of=liqo" });
      assert.equal(pods.length, 3);
      for (const { metadata, status } of pods) {
        assert.equal(status?.containerStatuses?.[0]?.restartCount, 0, `${metadata.name} did not restart`);
      }
    }
  });

  it("name a kubeconfig that is not accepted, keep what was made, and go on with the right one", async () => {
    const wrong = parse(clusters.milan.kubeconfig) as { users: { name: string; user: object }[] };
    for (const user of wrong.users) user.user = { token: "expired" };
    await assert.rejects((await stackOf({ milanKubeconfig: stringify(wrong) })).up(), (error) => {
      assert.match(String(error), /does not accept the kubeconfig's credentials \(401\)/);
      assert.ok(!String(error).includes("expired\n"), "the credentials stay out of it");
      return true;
    });
    assert.deepEqual(await clients.rome.list(Node, { labelSelector: "liqo.io/type=virtual-node" }), []);
    await (await stackOf({ offloading: false })).up();
    await settled({ offloading: false });
    assert.equal(await nodeIsReady("rome", "milan"), true);
  });

  it("change what is asked for in place, and take back what somebody else changed", async () => {
    const ref = { name: "milan", namespace: "liqo-tenant-milan" };
    const byHand = { spec: { resources: { memory: "3Gi" } } };
    await clients.rome.patch(ResourceSlice, ref, byHand, { type: "merge" });
    await (await stackOf({ memory: "2Gi" })).up();
    await until("the virtual node has the new capacity", async () => {
      const node = await clients.rome.get(VirtualNode, ref);
      return node?.spec.resourceQuota?.hard?.["memory"] === "2Gi";
    });
    const slice = await clients.milan.get(ResourceSlice, { name: "milan", namespace: "liqo-tenant-rome" });
    assert.equal(slice?.status?.resources?.["memory"], "2Gi");
  });

  it("extend a namespace, and take it back", async () => {
    await (await stackOf({ memory: "2Gi" })).up();
    const ref = { name: "offloading", namespace: "shop" };
    assert.equal((await clients.rome.get(NamespaceOffloading, ref))?.status?.offloadingPhase, "Ready");
    assert.ok((await addedNamespaces(clients.milan)).includes("shop-rome"));
    await (await stackOf({ memory: "2Gi", offloading: false })).up();
    assert.ok(!(await addedNamespaces(clients.milan)).includes("shop-rome"));
  });

  it("make a second virtual node from one slice, and remove it alone", async () => {
    const more = { memory: "2Gi", offloading: false };
    await (await stackOf({ ...more, secondNode: true })).up();
    await settled({ ...more, secondNode: true });
    const node = await clients.rome.get(Node, { name: "milan-small" });
    assert.equal(node?.metadata.labels?.["size"], "small");
    assert.equal(node?.status?.allocatable?.["pods"], "2");
    await (await stackOf(more)).up();
    assert.equal(await clients.rome.get(Node, { name: "milan-small" }), undefined);
    assert.equal(await nodeIsReady("rome", "milan"), true);
  });

  it("peer both ways, and one way again", async () => {
    const more = { memory: "2Gi", offloading: false };
    await (await stackOf({ ...more, bidirectional: true })).up();
    await settled({ ...more, bidirectional: true });
    assert.equal(await nodeIsReady("milan", "rome"), true);
    await until("both are consumer and provider", async () => {
      const roles = await Promise.all([role("rome", "milan"), role("milan", "rome")]);
      return roles.every((one) => one === "ConsumerAndProvider");
    });
    await (await stackOf(more)).up();
    assert.equal(await clients.milan.get(Node, { name: "rome" }), undefined);
    assert.equal(await nodeIsReady("rome", "milan"), true);
    await settled(more);
  });

  it("say that a provider denies, and go on once it grants", async () => {
    await (await stackOf({ peering: false })).up();
    await assert.rejects((await stackOf({ grants: false, offloading: false })).up(), (error) => {
      assert.match(String(error), /Resources.*Denied/);
      assert.match(String(error), /DefaultResourceSliceClassDisabled/);
      return true;
    });
    assert.ok(
      await clients.milan.get(Tenant, { name: "rome", namespace: "liqo-tenant-rome" }),
      "the rest stands",
    );
    await (await stackOf({ offloading: false })).up();
    await settled({ offloading: false });
    assert.equal(await nodeIsReady("rome", "milan"), true);
  });

  it("fail when a cluster goes away in the middle, and go on when it is back", async () => {
    const more = { offloading: false, bidirectional: true };
    const stack = await stackOf(more);
    const up = stack.up();
    await until("the return direction has begun", () =>
      clients.rome.get(Secret, { name: "liqo-nonce", namespace: "liqo-tenant-milan" }),
    );
    await killCluster("milan");
    await assert.rejects(up);
    await resumeClusters();
    await (await stackOf(more)).up();
    await settled(more);
    assert.equal(await nodeIsReady("milan", "rome"), true);
    assert.equal(await nodeIsReady("rome", "milan"), true);
    await (await stackOf({ offloading: false })).up();
  });

  it("refuse to remove an installation that is in use by hand-made objects", async () => {
    await clients.rome.create(Namespace, {
      apiVersion: "v1",
      kind: "Namespace",
      metadata: { name: "by-hand" },
    });
    await clients.rome.create(NamespaceOffloading, {
      apiVersion: "offloading.liqo.io/v1beta1",
      kind: "NamespaceOffloading",
      metadata: { name: "offloading", namespace: "by-hand" },
      spec: {},
    });
    await assert.rejects((await stackOf({ installations: false })).up(), (error) => {
      assert.match(String(error), /still in use: NamespaceOffloading by-hand\/offloading/);
      return true;
    });
    assert.equal(
      (await clients.rome.list(Pod, { namespace: "liqo" })).length,
      3,
      "the controllers still run",
    );
    await clients.rome.delete(Namespace, { name: "by-hand" });
    await until(
      "the namespace is gone",
      async () => !(await addedNamespaces(clients.rome)).includes("by-hand"),
    );
  });

  it("give each virtual node a process of its own, and the provider a metric agent and a proxy", async () => {
    await (await stackOf({ extras: true })).up();
    await settled({ extras: true });
    const identity = await telemetryIdentity();
    assert.match(identity ?? "", /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/);
    const shared = await clients.rome.get(Deployment, { name: "liqo-virtual-kubelet", namespace: "liqo" });
    assert.equal(shared?.spec?.replicas, 0);
    await until("its process runs", async () => {
      const own = await clients.rome.get(Deployment, { name: "vk-milan", namespace: "liqo-tenant-milan" });
      return own?.status?.readyReplicas === 1;
    });
    const before = await until("the node is Ready", () => nodeIsReady("rome", "milan"));
    assert.equal(before, true);
    await until("the ForeignCluster counts that process", async () => {
      const { status } = (await clients.rome.get(ForeignCluster, { name: "milan" })) ?? {};
      return (status?.modules?.offloading.conditions ?? []).some(
        ({ type, status: is }) => type === "OffloadingVirtualNodeStatus" && is === "Ready",
      );
    });

    const web = { name: "web", namespace: "shop" };
    const webAtMilan = { name: "web", namespace: "shop-rome" };
    await clients.rome.create(Pod, podOf(web, "exec sleep 3600", { "liqo.io/type": "virtual-node" }));
    for (const [side, ref] of [
      ["milan", webAtMilan],
      ["rome", web],
    ] as const)
      await until(
        `the pod runs, says ${side}`,
        async () => (await clients[side].get(Pod, ref))?.status?.phase === "Running",
      );
    assert.equal((await clients.rome.get(Pod, web))?.spec?.nodeName, "milan");

    const metrics = await until(
      "the pod's metrics",
      async () => {
        const path = "/apis/metrics.liqo.io/v1beta1/scrape/rome/metrics/resource";
        const { status, body } = await clients.milan.raw({ path });
        return status === 200 && /pod="web"/.test(body.toString()) && body.toString();
      },
      { timeoutMs: 90_000, everyMs: 500 },
    );
    assert.match(metrics, /_cpu_usage_seconds_total\{[^}]*pod="web"/);

    const proxy = await clients.milan.get(Service, { name: "liqo-proxy", namespace: "liqo-system" });
    const request =
      "CONNECT kubernetes.default.svc:443 HTTP/1.1\\r\\nHost: kubernetes.default.svc\\r\\n\\r\\n";
    const caller = { name: "caller", namespace: "default" };
    await clients.milan.create(
      Pod,
      podOf(
        caller,
        `(printf '${request}'; sleep 2) | nc ${proxy?.spec?.clusterIP ?? ""} 8118 | grep -q ' 200 '`,
        {},
      ),
    );
    const phase = await until("an answer of the proxy", async () => {
      const found = (await clients.milan.get(Pod, caller))?.status?.phase;
      return (found === "Succeeded" || found === "Failed") && found;
    });
    assert.equal(phase, "Succeeded");
    await clients.milan.delete(Pod, caller);

    await clients.rome.delete(Pod, web);
    await until("the pod is gone on both sides", async () => {
      const left = await Promise.all([clients.rome.get(Pod, web), clients.milan.get(Pod, webAtMilan)]);
      return left.every((pod) => pod === undefined);
    });
    await (await stackOf({ extras: true, offloading: false, peering: false })).up();
    assert.equal(await telemetryIdentity(), identity, "drawn once");
    assert.equal(await clients.rome.get(Node, { name: "milan" }), undefined);
    const own = await clients.rome.get(Deployment, { name: "vk-milan", namespace: "liqo-tenant-milan" });
    assert.equal(own, undefined);
  });

  it("leave nothing behind", async () => {
    await (await stackOf({})).destroy();
    for (const side of ["rome", "milan"] as const) {
      const left = (await everything(clients[side])).filter(
        (name) => !initial[side].has(name) && !OF_KUBERNETES.test(name),
      );
      assert.deepEqual(left, [], side);
    }
  });

  function podOf(
    { name, namespace }: { name: string; namespace: string },
    script: string,
    nodeSelector: Record<string, string>,
  ): Desired<Pod> {
    return {
      apiVersion: "v1",
      kind: "Pod",
      metadata: { name, namespace },
      spec: {
        nodeSelector,
        restartPolicy: "Never",
        terminationGracePeriodSeconds: 1,
        automountServiceAccountToken: false,
        containers: [
          {
            name: "main",
            image: images.busybox.name,
            imagePullPolicy: "Never",
            command: ["sh", "-c", script],
          },
        ],
      },
    };
  }

  /** What the controller manager of milan gets as its identity in reports. */
  async function telemetryIdentity(): Promise<string | undefined> {
    const namespace = "liqo-system";
    const manager = await clients.milan.get(Deployment, { name: "liqo-controller-manager", namespace });
    const { args = [], env = [] } = manager?.spec?.template?.spec?.containers?.[0] ?? {};
    assert.ok(args.includes("--telemetry-identity=$(TELEMETRY_IDENTITY)"), args.join(" "));
    const source = env.find((variable) => variable?.name === "TELEMETRY_IDENTITY")?.valueFrom
      ?.configMapKeyRef;
    const configMap = await clients.milan.get(ConfigMap, { name: source?.name ?? "", namespace });
    return configMap?.data?.[source?.key ?? ""];
  }

  async function nodeIsReady(side: Side, name: string): Promise<boolean> {
    const node = await clients[side].get(Node, { name });
    const ready = node?.status?.conditions?.find(({ type }) => type === "Ready");
    return ready?.status === "True";
  }

  async function role(side: Side, peer: string): Promise<string | undefined> {
    return (await clients[side].get(ForeignCluster, { name: peer }))?.status?.role;
  }
});
