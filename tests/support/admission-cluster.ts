/** A control plane, `milan`, whose API server calls the admission webhooks inside the test. */
import assert from "node:assert/strict";

import {
  type Desired,
  type Kind,
  type KubeObject,
  MutatingWebhookConfiguration,
  Namespace,
  NamespaceOffloading,
  ValidatingWebhookConfiguration,
  VkOptionsTemplate,
} from "../../runtime/api";
import { ApiError, collectionPath, KubeClient, objectPath } from "../../runtime/kube";
import { DeploymentName } from "../../runtime/plan/deployments";
import { webhookConfigurations } from "../../runtime/plan/webhooks";
import { decideCertificates } from "../../runtime/webhooks/certificates";
import { admissionRoutes } from "../../runtime/webhooks/routes";
import { AdmissionServer } from "../../runtime/webhooks/server";
import { installDefinitions } from "./install-definitions";
import { kindOf } from "./kind-of";
import { type TestContext, testContext } from "./runtime-context";
import { until } from "./until";
import { withControlPlanes } from "./with-control-planes";

export const OFFLOADING = "offloading.liqo.io/v1beta1";
export const AUTHENTICATION = "authentication.liqo.io/v1beta1";

const CONTROLLERS = `system:serviceaccount:liqo-system:${DeploymentName.controllerManager}`;

/** Users of the consumer `rome`: the virtual kubelet of its slice `pool`, that of another slice, and its control plane. */
export interface Peers {
  pool: KubeClient;
  spare: KubeClient;
  controlPlane: KubeClient;
  /** No peer: this cluster's own controllers. */
  controllers: KubeClient;
}

/** Calls of each path since the last look. */
class Calls {
  private counts = new Map<string, number>();

  count(path: string): void {
    this.counts.set(path, (this.counts.get(path) ?? 0) + 1);
  }

  take(): Record<string, number> {
    const taken = Object.fromEntries([...this.counts].sort());
    this.counts = new Map();
    return taken;
  }
}

export class AdmissionCluster {
  readonly calls = new Calls();
  private server: AdmissionServer | undefined;

  private constructor(
    private readonly context: TestContext,
    readonly peers: Peers,
  ) {}

  /** For a mocha suite; the cluster is there from `before` hooks on. */
  static forSuite(): () => AdmissionCluster {
    const controlPlane = withControlPlanes({ milan: { controllerManager: true } });
    let cluster: AdmissionCluster | undefined;
    before(async function () {
      this.timeout(120_000);
      const milan = controlPlane("milan");
      const as = async (name: string, ...groups: string[]) =>
        KubeClient.fromKubeconfig(await milan.kubeconfigFor({ name, groups }));
      cluster = new AdmissionCluster(testContext(milan.kubeconfig, "webhook"), {
        pool: await as("pool-a8a4c692b93b", "rome"),
        spare: await as("spare-a8a4c692b93b", "rome"),
        controlPlane: await as("rome", "liqo.io"),
        controllers: await as(CONTROLLERS, "system:masters"),
      });
      await cluster.install();
    });
    after(() => cluster?.end());
    beforeEach(() => cluster?.calls.take());
    return () => {
      if (cluster === undefined)
        throw new Error("the cluster is not running yet; use it inside a hook or a test");
      return cluster;
    };
  }

  get admin(): KubeClient {
    return this.context.client;
  }

  async make(object: Desired<KubeObject>): Promise<KubeObject> {
    return await this.admin.create(kindOf(object), object);
  }

  async makeNamespace(name: string, labels: Record<string, string> = {}): Promise<void> {
    await this.admin.create(Namespace, { apiVersion: "v1", kind: "Namespace", metadata: { name, labels } });
    // Pods need it at once; Kubernetes makes it a moment later.
    const account = {
      apiVersion: "v1",
      kind: "ServiceAccount",
      metadata: { name: "default", namespace: name },
    };
    await this.make(account).catch(() => undefined);
  }

  /** The tenant namespace of a peer, `liqo-tenant-<peer>`. */
  async makeTenantNamespace(peer: string): Promise<void> {
    const labels = { "liqo.io/tenant-namespace": "true", "liqo.io/remote-cluster-id": peer };
    await this.makeNamespace(`liqo-tenant-${peer}`, labels);
  }

  async label(namespace: string, labels: Record<string, string | null>): Promise<void> {
    await this.admin.patch(Namespace, { name: namespace }, { metadata: { labels } }, { type: "merge" });
  }

  /** What the API server warns of as it takes an object, or a merge patch of one; empty where it has nothing to say. */
  async warningOf(
    method: "POST" | "PATCH",
    kind: Kind<KubeObject>,
    { name = "", namespace = "" }: { name?: string; namespace?: string },
    body: object,
  ): Promise<string> {
    const {
      status,
      headers,
      body: answer,
    } = await this.admin.raw({
      method,
      path: method === "POST" ? collectionPath(kind, namespace) : objectPath(kind, { name, namespace }),
      body: JSON.stringify(body),
      headers: { "content-type": method === "POST" ? "application/json" : "application/merge-patch+json" },
    });
    assert.ok(status < 300, answer.toString());
    // Quotes within the quoted text are escaped.
    return String(headers.warning ?? "").replaceAll('\\"', '"');
  }

  /** Answers with no webhook from now on. */
  async stopServer(): Promise<void> {
    await this.server?.stop();
    this.server = undefined;
  }

  private async install(): Promise<void> {
    await installDefinitions(this.admin);
    await this.makeNamespace("liqo-system");
    await this.admin.create(VkOptionsTemplate, {
      apiVersion: OFFLOADING,
      kind: "VkOptionsTemplate",
      metadata: { name: "virtual-kubelet-default", namespace: "liqo-system" },
      spec: {
        createNode: true,
        disableNetworkCheck: false,
        containerImage: "runtime:1",
        metricsEnabled: false,
        annotationsNotReflected: ["cloud.google.com/neg"],
      },
    });
    await this.allowPeers();
    await this.serve();
  }

  private async serve(): Promise<void> {
    const decision = decideCertificates({}, ["127.0.0.1"], new Date());
    assert.equal(decision.do, "replace");
    const routes = admissionRoutes(this.context, {
      clusterID: "milan",
      liqoNamespace: "liqo-system",
      podCidrs: ["10.72.0.0/16"],
      runtimeClass: "liqo",
      vkOptionsTemplate: { namespace: "liqo-system", name: "virtual-kubelet-default" },
      enforceResources: true,
    });
    await this.context.informers.whenSynced();
    this.server = await AdmissionServer.start({
      port: 0,
      host: "127.0.0.1",
      certificates: decision.data,
      routes,
      onAnswer: ({ path }) => this.calls.count(path),
    });
    const { mutating, validating } = webhookConfigurations({
      namespace: "liqo-system",
      serviceName: "liqo-webhook",
      caBundle: decision.data.ca,
      baseUrl: `https://127.0.0.1:${this.server.port}`,
    });
    await this.admin.create(MutatingWebhookConfiguration, mutating);
    await this.admin.create(ValidatingWebhookConfiguration, validating);
    await this.makeNamespace("probe");
    // The API server takes a moment to call new webhooks.
    await until("the webhooks are called", async () => {
      const spec = { namespaceMappingStrategy: "SelectedName" as const, remoteNamespaceName: "No!" };
      return /is no name for a namespace/.test(
        await refusal(this.admin.create(NamespaceOffloading, namespaceOffloading("probe", spec))),
      );
    });
  }

  /** What the provider grants in an offloaded namespace, and in the tenant namespace. */
  private async allowPeers(): Promise<void> {
    const group = "rbac.authorization.k8s.io";
    const grant = async (name: string, apiGroup: string, resources: string[], subject: string) => {
      const rules = [{ apiGroups: [apiGroup], resources, verbs: ["*"] }];
      const role = { apiVersion: `${group}/v1`, kind: "ClusterRole", metadata: { name }, rules };
      const binding = {
        apiVersion: `${group}/v1`,
        kind: "ClusterRoleBinding",
        metadata: { name },
        roleRef: { apiGroup: group, kind: "ClusterRole", name },
        subjects: [{ apiGroup: group, kind: "Group", name: subject }],
      };
      await this.make(role);
      await this.make(binding);
    };
    await grant("kubelets", "offloading.liqo.io", ["shadowpods"], "rome");
    await grant(
      "control-planes",
      "authentication.liqo.io",
      ["resourceslices", "resourceslices/status"],
      "liqo.io",
    );
  }

  private async end(): Promise<void> {
    for (const client of Object.values(this.peers) as KubeClient[]) client.close();
    await this.context.end();
    await this.stopServer();
  }
}

/** What an API server answers to a request that may be refused; `allowed` when it is not. */
export async function refusal(request: Promise<unknown>): Promise<string> {
  try {
    await request;
  } catch (error) {
    if (error instanceof ApiError) return error.message;
    throw error;
  }
  return "allowed";
}

export function namespaceOffloading(namespace: string, spec: object): Desired<NamespaceOffloading> {
  return {
    apiVersion: OFFLOADING,
    kind: "NamespaceOffloading",
    metadata: { name: "offloading", namespace },
    spec,
  };
}
