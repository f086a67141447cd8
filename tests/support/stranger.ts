/**
 * The consumer `rome` as a stranger: peered with `milan` as any other, and from then on whoever holds its credentials does what it likes with them.
 * Milan has its controllers and its webhooks, each with the rights of an installation. Rome's own controllers rest, or they would repair things.
 */
import assert from "node:assert/strict";

import {
  type Desired,
  Event,
  MutatingWebhookConfiguration,
  Namespace,
  NamespaceMap,
  Pod,
  Secret,
  ShadowPod,
  ValidatingWebhookConfiguration,
  type WholePodSpec,
} from "../../runtime/api";
import { resourceSliceUser } from "../../runtime/identity";
import { KubeClient } from "../../runtime/kube";
import { creatorUserLabel } from "../../runtime/plan/peer-objects";
import { webhookConfigurations } from "../../runtime/plan/webhooks";
import { parseReview } from "../../runtime/webhooks/admission-review";
import { decideCertificates } from "../../runtime/webhooks/certificates";
import { type AdmissionOptions, admissionRoutes } from "../../runtime/webhooks/routes";
import { AdmissionServer } from "../../runtime/webhooks/server";
import { refusal } from "./admission-cluster";
import { kubeconfigOf } from "./install-roles";
import { atMilan, PeeringOfRome, sides } from "./peering-of-rome";
import { type TestContext, testContext } from "./runtime-context";
import { until } from "./until";
import { withControlPlanes } from "./with-control-planes";

const OFFLOADING = "offloading.liqo.io/v1beta1";
const LIQO_NAMESPACE = "liqo-system";

/** Labels that the replicator of a consumer puts on its maps. */
export const COPY = {
  "liqo.io/replication": "false",
  "liqo.io/replicated": "true",
  "liqo.io/originID": "rome",
  "liqo.io/remoteID": "milan",
  "liqo.io/remote-cluster-id": "rome",
};

const ADMISSION: AdmissionOptions = {
  clusterID: "milan",
  liqoNamespace: LIQO_NAMESPACE,
  podCidrs: ["10.72.0.0/16"],
  runtimeClass: "liqo",
  vkOptionsTemplate: { namespace: LIQO_NAMESPACE, name: "virtual-kubelet-default" },
  enforceResources: true,
};

export class Stranger {
  /** By rome's control-plane identity: what it may do in its tenant namespace. */
  controlPlane!: KubeClient;
  /** By the identity of its slice `pool`: what it may do in its remote namespaces. */
  kubelet!: KubeClient;
  private webhook: { context: TestContext; server: AdmissionServer } | undefined;
  private readonly otherWebhooks: TestContext[] = [];

  private constructor(private readonly peering: PeeringOfRome) {}

  /** For a mocha suite; peered from its `before` hooks on, without webhooks until they are served. */
  static forSuite(): Stranger {
    after(() => stranger.end());
    const stranger = new Stranger(
      new PeeringOfRome(
        withControlPlanes({
          rome: { serviceCidr: "10.97.0.0/16" },
          milan: { controllerManager: true, serviceCidr: "10.98.0.0/16" },
        }),
      ),
    );
    before(async function () {
      this.timeout(180_000);
      await stranger.start();
    });
    return stranger;
  }

  /** Of milan's administrator, who looks at what came of it. */
  get admin(): KubeClient {
    return this.peering.milan.admin;
  }

  /** Starts milan's controllers anew with these flags. */
  async restart(...flags: string[]): Promise<void> {
    await this.peering.milan.stop();
    await this.peering.milan.start(flags);
  }

  /** From now on milan's webhooks decide. */
  async serveWebhooks(options: Partial<AdmissionOptions> = {}): Promise<void> {
    const context = await this.webhookContext();
    const decision = decideCertificates({}, ["127.0.0.1"], new Date());
    assert.equal(decision.do, "replace");
    const routes = admissionRoutes(context, { ...ADMISSION, ...options });
    await context.informers.whenSynced();
    const certificates = decision.data;
    const server = await AdmissionServer.start({ port: 0, host: "127.0.0.1", certificates, routes });
    this.webhook = { context, server };
    const { mutating, validating } = webhookConfigurations({
      namespace: LIQO_NAMESPACE,
      serviceName: "liqo-webhook",
      caBundle: certificates.ca,
      baseUrl: `https://127.0.0.1:${server.port}`,
    });
    await this.admin.create(MutatingWebhookConfiguration, mutating);
    await this.admin.create(ValidatingWebhookConfiguration, validating);
    // The API server takes a moment to call new webhooks.
    await until("the webhooks are called", async () => {
      const labels = { "offloading.liqo.io/origin": "nobody" };
      const probe = this.admin.create(ShadowPod, {
        ...this.shadowPod("probe", { containers: [] }),
        metadata: { name: "probe", namespace: "default", labels },
      });
      const answer = await refusal(probe);
      if (answer === "allowed") await this.admin.delete(ShadowPod, { name: "probe", namespace: "default" });
      return /label mismatch/.test(answer);
    });
  }

  /** Milan's webhooks answer no more; their registrations stay. */
  async silenceWebhooks(): Promise<void> {
    await this.webhook?.context.end();
    await this.webhook?.server.stop();
    this.webhook = undefined;
  }

  /** One more process of milan's webhooks, which the API server does not call: what it says to a pod of rome's. */
  async anotherWebhook(): Promise<(name: string, pod: WholePodSpec) => Promise<string>> {
    const context = await this.webhookContext();
    this.otherWebhooks.push(context);
    const validate = admissionRoutes(context, ADMISSION)["/validate/shadowpods"];
    assert.ok(validate);
    const username = resourceSliceUser("pool", "rome");
    return (name, pod) => {
      const object = this.shadowPod(name, pod);
      Object.assign(object.metadata.labels ?? {}, { "liqo.io/creator-user": creatorUserLabel(username) });
      const { request } = parseReview(
        JSON.stringify({
          apiVersion: "admission.k8s.io/v1",
          kind: "AdmissionReview",
          request: { uid: name, operation: "CREATE", namespace: "shop-rome", userInfo: { username }, object },
        }),
      );
      return until("the webhook has seen what there is", async () => {
        const verdict = await validate({ ...request, dryRun: true });
        if (verdict.allowed) return "allowed";
        return verdict.code === 500 ? undefined : verdict.message;
      });
    };
  }

  private async webhookContext(): Promise<TestContext> {
    const kubeconfig = await kubeconfigOf(this.peering.controlPlane("milan"), LIQO_NAMESPACE, "liqo-webhook");
    return testContext(kubeconfig, "webhook");
  }

  /** Asks for remote namespaces, by the map that milan has of rome's. */
  async ask(desiredMapping: Record<string, string | null>): Promise<void> {
    await this.controlPlane.patch(
      NamespaceMap,
      atMilan("milan"),
      { spec: { desiredMapping } },
      { type: "merge" },
    );
  }

  /** What milan says to each entry of that map. */
  async answers(name = "milan"): Promise<Record<string, string | undefined>> {
    const map = await this.controlPlane.get(NamespaceMap, atMilan(name));
    return Object.fromEntries(
      Object.entries(map?.status?.currentMapping ?? {}).map(([local, { phase }]) => [local, phase]),
    );
  }

  /** Has a remote namespace, with rights in it and the account that pods run as. */
  async namespace(local: string, remote: string): Promise<void> {
    await this.ask({ [local]: remote });
    await until(`the namespace ${remote}`, async () => (await this.answers())[local] === "Accepted");
    await until(`the rights in ${remote}`, async () => {
      const path = `/api/v1/namespaces/${remote}/secrets`;
      return (await this.kubelet.raw({ path })).status === 200;
    });
    await until(`the account in ${remote}`, async () => {
      const path = `/api/v1/namespaces/${remote}/serviceaccounts/default`;
      return (await this.admin.raw({ path })).status === 200;
    });
  }

  remote(name: string): Promise<Namespace | undefined> {
    return this.admin.get(Namespace, { name });
  }

  shadowPod(name: string, pod: WholePodSpec, metadata: object = {}): Desired<ShadowPod> {
    return {
      apiVersion: OFFLOADING,
      kind: "ShadowPod",
      metadata: {
        name,
        namespace: "shop-rome",
        labels: { "offloading.liqo.io/origin": "rome", "offloading.liqo.io/destination": "milan" },
        ...metadata,
      },
      spec: { pod: { automountServiceAccountToken: false, ...pod } },
    };
  }

  /** Asks for a pod in `shop-rome`; what the API server answers, or `allowed`. */
  async run(name: string, pod: WholePodSpec, metadata: object = {}): Promise<string> {
    return await refusal(this.kubelet.create(ShadowPod, this.shadowPod(name, pod, metadata)));
  }

  pod(name: string): Promise<Pod | undefined> {
    return this.admin.get(Pod, { name, namespace: "shop-rome" });
  }

  /** Why milan made no pod of a ShadowPod, as rome can read it. */
  async reason(name: string): Promise<string> {
    return await until(`why there is no pod ${name}`, async () => {
      const events = await this.kubelet.list(Event, { namespace: "shop-rome" });
      const found = events.find(
        ({ involvedObject, reason }) => involvedObject.name === name && reason === "FailedCreatePod",
      );
      return found?.message;
    });
  }

  /** What milan says of a ShadowPod, once it says anything. */
  async statusOf(name: string): Promise<ShadowPod["status"]> {
    return await until(`milan says something of ${name}`, async () => {
      const shadow = await this.kubelet.get(ShadowPod, { name, namespace: "shop-rome" });
      return shadow?.status;
    });
  }

  private async start(): Promise<void> {
    await this.peering.start();
    await this.peering.peer();
    const map = () => this.admin.get(NamespaceMap, atMilan("milan"));
    await until("milan's copy of rome's map", map);
    this.controlPlane = await this.credentials("kubeconfig-controlplane-milan");
    this.kubelet = await this.credentials("kubeconfig-resourceslice-pool");
    await this.peering.rome.stop();
  }

  private async credentials(secret: string): Promise<KubeClient> {
    const ref = { name: secret, namespace: sides.consumer.tenantNamespace };
    const kubeconfig = await until(`the Secret ${secret}`, async () => {
      const found = await this.peering.rome.admin.get(Secret, ref);
      return found?.data?.kubeconfig;
    });
    return KubeClient.fromKubeconfig(Buffer.from(kubeconfig, "base64").toString(), { userAgent: "stranger" });
  }

  private async end(): Promise<void> {
    const { controlPlane, kubelet }: Partial<Stranger> = this;
    controlPlane?.close();
    kubelet?.close();
    for (const context of this.otherWebhooks) await context.end();
    await this.silenceWebhooks();
    await this.peering.end();
  }
}
