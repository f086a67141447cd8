/**
 * Two control planes, `rome` that offloads to `milan`, with the offloading controllers of both inside the test, under the rights that an
 * installation gives them. No virtual kubelet: the test makes its Nodes. No replicator: maps are carried by hand.
 */
import { setTimeout as pause } from "node:timers/promises";

import { type Desired, type KubeObject, NamespaceOffloading, Node, VirtualNode } from "../../runtime/api";
import { type Controller, isNotFound, type KubeClient } from "../../runtime/kube";
import { offloadingControllers } from "../../runtime/offloading";
import { auditEvents, countRequests, describeRequest } from "./audit-log";
import { installDefinitions } from "./install-definitions";
import { installRoles, kubeconfigOf } from "./install-roles";
import { kindOf } from "./kind-of";
import { copyNamespaceMaps } from "./namespace-map-copy";
import { type TestContext, testContext } from "./runtime-context";
import { until } from "./until";
import { withControlPlanes } from "./with-control-planes";

export const OFFLOADING = "offloading.liqo.io/v1beta1";
export const PEER = "liqo.io/remote-cluster-id";
/** Tenant namespaces: of `milan` at `rome`, and of `rome` at `milan`. */
export const AT_ROME = "liqo-tenant-milan";
export const AT_MILAN = "tenant-of-rome";
/** How long a map outlives the last virtual node. */
export const GRACE_MS = 2_000;

type Side = "rome" | "milan";
const SIDES: readonly Side[] = ["rome", "milan"];
const LIQO_NAMESPACE: Record<Side, string> = { rome: "liqo", milan: "liqo-system" };

/** Audit logs are written in batches: what was asked for shows after this time. */
const AUDIT_LAG_MS = 1_500;

export class OffloadingClusters {
  readonly admin: Record<Side, KubeClient>;
  private contexts: TestContext[] = [];
  private controllers: Controller[] = [];
  /** Readiness of the nodes made here, told again as kubelets do: else Kubernetes takes them for lost. */
  private readonly readiness = new Map<string, string>();
  private readonly heartbeat: NodeJS.Timeout;

  private constructor(
    private readonly admins: Record<Side, TestContext>,
    /** Kubeconfigs with the rights of the installation's controller manager, and no more. */
    private readonly accounts: Record<Side, string>,
    private readonly auditLogs: readonly string[],
  ) {
    this.admin = { rome: admins.rome.client, milan: admins.milan.client };
    this.heartbeat = setInterval(() => this.beat(), 10_000);
  }

  /** For a mocha suite; the clusters are there from `before` hooks on. */
  static forSuite(): () => OffloadingClusters {
    const controlPlane = withControlPlanes({
      rome: { controllerManager: true, auditLog: true, serviceCidr: "10.97.0.0/16" },
      milan: { controllerManager: true, auditLog: true, serviceCidr: "10.98.0.0/16" },
    });
    let clusters: OffloadingClusters | undefined;
    before(async function () {
      this.timeout(120_000);
      const of = async <V>(make: (side: Side) => Promise<V>) => ({
        rome: await make("rome"),
        milan: await make("milan"),
      });
      clusters = new OffloadingClusters(
        await of((side) => Promise.resolve(testContext(controlPlane(side).kubeconfig, "test"))),
        await of((side) => kubeconfigOf(controlPlane(side), LIQO_NAMESPACE[side], "liqo-controller-manager")),
        SIDES.map((side) => controlPlane(side).auditLogPath ?? ""),
      );
      await clusters.install();
      clusters.start();
    });
    after(() => clusters?.end());
    return () => {
      if (clusters === undefined)
        throw new Error("the clusters are not running yet; use them inside a hook or a test");
      return clusters;
    };
  }

  start(): void {
    const rome = testContext(this.accounts.rome, "controller-manager");
    const milan = testContext(this.accounts.milan, "controller-manager");
    this.contexts = [rome, milan];
    this.controllers = [
      ...offloadingControllers(rome, { clusterID: "rome", namespaceMapGraceMs: GRACE_MS }),
      ...offloadingControllers(milan, { clusterID: "milan", nodeFailure: true }),
      copyNamespaceMaps({
        consumer: { context: rome, clusterId: "rome" },
        provider: { context: milan, clusterId: "milan" },
        tenantNamespace: AT_MILAN,
      }),
    ];
  }

  /** Ends all controllers, as a restart of both processes begins. */
  async stop(): Promise<void> {
    await Promise.all(this.contexts.map((context) => context.end()));
  }

  /** Nothing is left to do, and audit logs have caught up: what is written from now on is new. Returns the time. */
  async quiet(): Promise<number> {
    await until("all is quiet", () => this.controllers.every(({ idle }) => idle));
    await pause(AUDIT_LAG_MS);
    return Date.now();
  }

  /** Requests of our controllers that write, on both clusters, since a time. */
  async writesSince(begin: number): Promise<[string, number][]> {
    await pause(AUDIT_LAG_MS);
    const events = this.auditLogs.flatMap((path) => auditEvents(path, begin));
    return countRequests(
      events.filter(
        ({ verb, userAgent }) =>
          userAgent === "liqo-controller-manager" && !["get", "list", "watch"].includes(verb),
      ),
    );
  }

  /** Who wrote to objects of a name, in the order of time: evidence for the message of a failure. */
  async writersOf(name: string): Promise<string> {
    await pause(AUDIT_LAG_MS);
    return this.auditLogs
      .flatMap((path) => auditEvents(path))
      .filter(({ verb, objectRef }) => objectRef?.name === name && !["get", "list", "watch"].includes(verb))
      .map((event) => `${event.requestReceivedTimestamp} ${event.user.username}: ${describeRequest(event)}`)
      .join("\n");
  }

  async make(side: Side, object: Desired<KubeObject>): Promise<KubeObject> {
    return await this.admin[side].create(kindOf(object), object);
  }

  async makeNamespace(side: Side, name: string, labels: Record<string, string> = {}): Promise<void> {
    await this.make(side, { apiVersion: "v1", kind: "Namespace", metadata: { name, labels } });
  }

  /** Makes a namespace at rome and offloads it. */
  async offload(name: string, spec: object = {}): Promise<void> {
    await this.makeNamespace("rome", name);
    await this.admin.rome.create(NamespaceOffloading, {
      apiVersion: OFFLOADING,
      kind: "NamespaceOffloading",
      metadata: { name: "offloading", namespace: name },
      spec,
    });
  }

  async makeVirtualNode(name: string, spec: object = {}): Promise<void> {
    const object: Desired<VirtualNode> = {
      apiVersion: OFFLOADING,
      kind: "VirtualNode",
      metadata: { name, namespace: AT_ROME },
      spec: { clusterID: "milan", createNode: true, ...spec },
    };
    await this.admin.rome.create(VirtualNode, object);
  }

  virtualNode(name: string): Promise<VirtualNode | undefined> {
    return this.admin.rome.get(VirtualNode, { name, namespace: AT_ROME });
  }

  async deleteVirtualNode(name: string): Promise<void> {
    await this.admin.rome.delete(VirtualNode, { name, namespace: AT_ROME });
  }

  /** Status of one of a virtual node's conditions. */
  async condition(name: string, type: "VirtualKubelet" | "Node"): Promise<string | undefined> {
    const { status } = (await this.virtualNode(name)) ?? {};
    return status?.conditions?.find((condition) => condition.type === type)?.status;
  }

  /** Makes the Node that the virtual kubelet would make, Ready. */
  async makeNode(name: string, labels: Record<string, string> = {}): Promise<void> {
    const own = { "liqo.io/type": "virtual-node", type: "virtual-kubelet", [PEER]: "milan" };
    await this.make("rome", {
      apiVersion: "v1",
      kind: "Node",
      metadata: { name, labels: { ...own, ...labels } },
    });
    await this.setReady(name, "True");
  }

  async setReady(name: string, status: string): Promise<void> {
    this.readiness.set(name, status);
    await writeReady(this.admin.rome, name, status);
  }

  /** Waits until something does not exist any more. */
  /** The garbage collector of a new cluster may learn only after half a minute that our kinds exist. */
  async untilGone(what: string, look: () => Promise<unknown>): Promise<void> {
    await until(`${what} is gone`, async () => (await look()) === undefined, { timeoutMs: 90_000 });
  }

  private beat(): void {
    for (const [name, status] of this.readiness) {
      writeReady(this.admin.rome, name, status).catch((error: unknown) => {
        if (isNotFound(error)) this.readiness.delete(name);
      });
    }
  }

  private async install(): Promise<void> {
    await Promise.all(SIDES.map((side) => installDefinitions(this.admin[side])));
    for (const side of SIDES) {
      await this.makeNamespace(side, LIQO_NAMESPACE[side]);
      await installRoles(this.admin[side], LIQO_NAMESPACE[side]);
    }
    await this.makeNamespace("rome", AT_ROME, { "liqo.io/tenant-namespace": "true", [PEER]: "milan" });
    await this.makeNamespace("milan", AT_MILAN, { "liqo.io/tenant-namespace": "true", [PEER]: "rome" });
    const foreignCluster = {
      apiVersion: "core.liqo.io/v1beta1",
      kind: "ForeignCluster",
      metadata: { name: "milan", labels: { [PEER]: "milan" } },
      spec: { clusterID: "milan" },
    };
    await this.make("rome", foreignCluster);
  }

  private async end(): Promise<void> {
    clearInterval(this.heartbeat);
    await this.stop();
    await Promise.all([this.admins.rome.end(), this.admins.milan.end()]);
  }
}

/** Says of a node what its kubelet would. */
export async function writeReady(client: KubeClient, name: string, status: string): Promise<void> {
  const now = new Date().toISOString();
  const ready = {
    type: "Ready",
    status,
    reason: "Test",
    message: "",
    lastHeartbeatTime: now,
    lastTransitionTime: now,
  };
  await client.patch(
    Node,
    { name },
    { status: { conditions: [ready] } },
    { type: "strategic", subresource: "status" },
  );
}
