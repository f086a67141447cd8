import assert from "node:assert/strict";

import type { ControlPlane } from "../../provider/local-cluster/control-plane";
import {
  type Desired,
  Lease,
  MutatingWebhookConfiguration,
  Namespace,
  Pod,
  Quota,
  RoleBinding,
  ServiceAccount,
  ShadowPod,
  ValidatingWebhookConfiguration,
} from "../../runtime/api";
import { KubeClient } from "../../runtime/kube";
import { webhookConfigurations } from "../../runtime/plan/webhooks";
import { decideCertificates } from "../../runtime/webhooks/certificates";
import { ElectedLeadership } from "../../runtime/webhooks/leadership";
import { admissionRoutes } from "../../runtime/webhooks/routes";
import { AdmissionServer } from "../../runtime/webhooks/server";
import { installDefinitions } from "../support/install-definitions";
import { installRoles, kubeconfigOf } from "../support/install-roles";
import { type TestContext, testContext } from "../support/runtime-context";
import { TcpProxy } from "../support/tcp-proxy";
import { until } from "../support/until";
import { withControlPlanes } from "../support/with-control-planes";

const LEASE = { name: "66cf253f.webhook.liqo.io", namespace: "liqo-system" };
const user = "pool-a8a4c692b93b";

/** One replica of the webhook at milan, with the rights of the webhook's service account. */
class Replica {
  private readonly stopping = new AbortController();
  private readonly ended: Promise<void>;

  private constructor(
    readonly pod: string,
    readonly context: TestContext,
    private readonly leadership: ElectedLeadership,
    readonly server: AdmissionServer,
  ) {
    this.ended = leadership.run(this.stopping.signal);
  }

  static async start(controlPlane: ControlPlane, pod: string, certificates: Certificates): Promise<Replica> {
    const kubeconfig = await kubeconfigOf(controlPlane, "liqo-system", "liqo-webhook");
    const context = testContext(kubeconfig, "webhook");
    const leadership = new ElectedLeadership({ ...context, lease: LEASE, pod, leaseDurationMs: 4_000 });
    const routes = admissionRoutes(context, {
      clusterID: "milan",
      liqoNamespace: "liqo-system",
      podCidrs: [],
      runtimeClass: "liqo",
      vkOptionsTemplate: { namespace: "liqo-system", name: "virtual-kubelet-default" },
      enforceResources: true,
      leadership,
    });
    const server = await AdmissionServer.start({ routes, port: 0, host: "127.0.0.1", certificates });
    await context.informers.whenSynced();
    return new Replica(pod, context, leadership, server);
  }

  refusal(): Promise<string | undefined> {
    return this.leadership.refusal();
  }

  /** As at a SIGTERM: the lease is given back, what is under way is answered. */
  async end(): Promise<void> {
    this.stopping.abort();
    await this.ended;
    await this.server.stop();
    await this.context.end();
  }
}

type Certificates = { "tls.crt": string; "tls.key": string };

describe("two replicas of the webhook", function () {
  this.timeout(120_000);
  let admin: KubeClient;
  let kubelet: KubeClient;
  let replicas: Replica[] = [];
  /** Stands for the leader's Service: the test leads it to the pod that has the leader's mark. */
  let service: TcpProxy;
  let certificates: Certificates;
  let serial = 0;

  const controlPlane = withControlPlanes({ milan: {} });
  before(async () => {
    const milan = controlPlane("milan");
    admin = KubeClient.fromKubeconfig(milan.kubeconfig);
    kubelet = KubeClient.fromKubeconfig(await milan.kubeconfigFor({ name: user, groups: ["rome"] }));
    await installDefinitions(admin);
    const namespaces = {
      "liqo-system": {},
      "guests-from-rome": {},
      "shop-rome": { "liqo.io/remote-cluster-id": "rome" },
    };
    for (const [name, labels] of Object.entries(namespaces))
      await admin.create(Namespace, { apiVersion: "v1", kind: "Namespace", metadata: { name, labels } });
    await installRoles(admin, "liqo-system");
    await grantRome(admin);
    // Pods need it; Kubernetes' own controllers are not here to make it.
    await admin.create(ServiceAccount, {
      apiVersion: "v1",
      kind: "ServiceAccount",
      metadata: { name: "default", namespace: "liqo-system" },
    });
    for (const name of ["webhook-a", "webhook-b"]) await admin.create(Pod, podOf(name));
    await admin.create(Quota, {
      apiVersion: "offloading.liqo.io/v1beta1",
      kind: "Quota",
      metadata: { name: user, namespace: "guests-from-rome" },
      spec: { user, limitsEnforcement: "None", resources: { cpu: "5", pods: "110" } },
    });
    const decision = decideCertificates({}, ["127.0.0.1"], new Date());
    assert.equal(decision.do, "replace");
    certificates = decision.data;
    for (const pod of ["webhook-a", "webhook-b"])
      replicas.push(await Replica.start(milan, pod, certificates));
    service = await TcpProxy.start({ host: "127.0.0.1", port: replicas[0]?.server.port ?? 0 });
    const { mutating, validating } = webhookConfigurations({
      namespace: "liqo-system",
      serviceName: "liqo-webhook",
      caBundle: decision.data.ca,
      baseUrl: `https://127.0.0.1:${service.port}`,
    });
    await admin.create(MutatingWebhookConfiguration, mutating);
    await admin.create(ValidatingWebhookConfiguration, validating);
  });
  after(async () => {
    await Promise.all(replicas.map((replica) => replica.end()));
    admin.close();
    kubelet.close();
    await service?.close();
  });

  const marked = async () =>
    (await admin.list(Pod, { labelSelector: "leaderelection.liqo.io/leader=true" })).map(
      ({ metadata }) => metadata.name,
    );
  const replicaOf = (pod: string) => {
    const found = replicas.find((replica) => replica.pod === pod);
    assert.ok(found, `replica ${pod}`);
    return found;
  };
  const lead = (pod: string) => service.retarget({ host: "127.0.0.1", port: replicaOf(pod).server.port });
  const admit = async (): Promise<string> => {
    serial += 1;
    try {
      await kubelet.create(ShadowPod, shadowPod(`web-${serial}`));
      return "admitted";
    } catch (error) {
      return error instanceof Error ? error.message : String(error);
    }
  };

  it("have one leader, found by its pod's label", async () => {
    const [leader = ""] = await until("one leader", async () => {
      const names = await marked();
      return names.length === 1 && names;
    });
    assert.equal((await admin.get(Lease, LEASE))?.spec?.holderIdentity, leader);
    assert.equal(await replicaOf(leader).refusal(), undefined);
    const other = replicas.find(({ pod }) => pod !== leader);
    assert.match((await other?.refusal()) ?? "", new RegExp(`does not lead \\(${leader} does\\)`));
  });

  it("book nothing twice, whichever is asked", async () => {
    const [leader = ""] = await marked();
    const other = replicas.find(({ pod }) => pod !== leader)?.pod ?? "";
    lead(leader);
    await until("the webhook is called", async () => /quota/.test(await admit()) || (await pods()) > 0);
    // Thirty at once, half of them to the replica that does not lead.
    const first = Array.from({ length: 15 }, admit);
    lead(other);
    const answers = await Promise.all([...first, ...Array.from({ length: 15 }, admit)]);
    assert.ok((await pods()) <= 5, `${await pods()} admitted of 5`);
    assert.ok(
      answers.some((answer) => /does not lead|quota usage exceeded/.test(answer)),
      answers.join("\n"),
    );
    lead(leader);
    await until("the quota is full", async () => /peering cpu quota usage exceeded/.test(await admit()));
    assert.equal(await pods(), 5);
  });

  it("hand over when the leader goes, and count what it admitted", async () => {
    const [leader = ""] = await marked();
    const other = replicas.find(({ pod }) => pod !== leader)?.pod ?? "";
    await admin.delete(ShadowPod, { name: await anyPod(), namespace: "shop-rome" });
    await until("one is gone", async () => (await pods()) === 4);
    assert.equal(await until("one is admitted", async () => (await admit()) === "admitted"), true);
    await replicaOf(leader).end();
    replicas = replicas.filter(({ pod }) => pod !== leader);
    lead(other);
    const answers: string[] = [];
    await until("the other leads", async () => {
      answers.push(...(await Promise.all(Array.from({ length: 5 }, admit))));
      return answers.some((answer) => answer.includes("peering cpu quota usage exceeded"));
    });
    assert.deepEqual([await pods(), answers.includes("admitted")], [5, false]);
    await until("the other is marked", async () => (await marked()).includes(other));
  });

  it("take the mark away that a process left behind", async () => {
    const [gone] = ["webhook-a", "webhook-b"].filter((pod) => replicas.every((each) => each.pod !== pod));
    assert.deepEqual((await marked()).includes(gone ?? ""), true);
    replicas.push(await Replica.start(controlPlane("milan"), gone ?? "", certificates));
    await until("one mark", async () => (await marked()).length === 1);
  });

  const list = () => admin.list(ShadowPod, { namespace: "shop-rome" });
  const pods = async () => (await list()).length;
  const anyPod = async () => (await list())[0]?.metadata.name ?? "";
});

function podOf(name: string): Desired<Pod> {
  return {
    apiVersion: "v1",
    kind: "Pod",
    metadata: { name, namespace: "liqo-system" },
    spec: { automountServiceAccountToken: false, containers: [{ name: "webhook", image: "runtime:1" }] },
  };
}

function shadowPod(name: string): Desired<ShadowPod> {
  return {
    apiVersion: "offloading.liqo.io/v1beta1",
    kind: "ShadowPod",
    metadata: {
      name,
      namespace: "shop-rome",
      labels: { "offloading.liqo.io/origin": "rome", "liqo.io/creator-user": user },
    },
    spec: { pod: { containers: [{ name: "web", image: "web:1", resources: { requests: { cpu: "1" } } }] } },
  };
}

/** What the provider grants in an offloaded namespace. */
async function grantRome(admin: KubeClient): Promise<void> {
  const apiGroup = "rbac.authorization.k8s.io";
  await admin.create(RoleBinding, {
    apiVersion: `${apiGroup}/v1`,
    kind: "RoleBinding",
    metadata: { name: "rome", namespace: "shop-rome" },
    roleRef: { apiGroup, kind: "ClusterRole", name: "liqo-virtual-kubelet-remote" },
    subjects: [{ apiGroup, kind: "Group", name: "rome" }],
  });
}
