import assert from "node:assert/strict";
import { X509Certificate } from "node:crypto";
import { connect } from "node:tls";

import {
  type Desired,
  Event,
  MutatingWebhookConfiguration,
  Namespace,
  NamespaceOffloading,
  Secret,
  ValidatingWebhookConfiguration,
} from "../../runtime/api";
import { freePorts } from "../../provider/local-cluster/free-port";
import { readFlags, splitCommandLine } from "../../runtime/component/command-line";
import { ApiError, type KubeClient, timestamp } from "../../runtime/kube";
import { webhookConfigurations } from "../../runtime/plan/webhooks";
import { webhook } from "../../runtime/webhooks/component";
import { auditEvents, countRequests } from "../support/audit-log";
import { installDefinitions } from "../support/install-definitions";
import { installRoles, kubeconfigOf } from "../support/install-roles";
import { type TestContext, testContext } from "../support/runtime-context";
import { until } from "../support/until";
import { withControlPlanes } from "../support/with-control-planes";

/** What only the webhook refuses. */
const GUARDED = { namespaceMappingStrategy: "SelectedName", remoteNamespaceName: "No!" };
const DAY_MS = 24 * 3600 * 1000;

describe("the webhook component", function () {
  this.timeout(60_000);
  const controlPlane = withControlPlanes({ milan: { auditLog: true } });
  let admin: KubeClient;
  let ending: TestContext;
  let component: TestContext;
  let port: number;
  /** Added to the machine's time: the component begins 250 days ago, and what it makes then is about to run out today. */
  let shiftMs = -250 * DAY_MS;

  before(async function () {
    this.timeout(120_000);
    ending = testContext(controlPlane("milan").kubeconfig, "test");
    admin = ending.client;
    await installDefinitions(admin);
    for (const name of ["liqo-system", "shop"])
      await admin.create(Namespace, { apiVersion: "v1", kind: "Namespace", metadata: { name } });
    await installRoles(admin, "liqo-system");
    // As an installation of upstream leaves it before its webhook has run.
    await admin.create(Secret, {
      apiVersion: "v1",
      kind: "Secret",
      type: "opaque",
      metadata: {
        name: "liqo-webhook-certs",
        namespace: "liqo-system",
        labels: { "liqo.io/webhook": "true" },
      },
    });
    const { mutating, validating } = webhookConfigurations({
      namespace: "liqo-system",
      serviceName: "liqo-webhook",
    });
    await admin.create(MutatingWebhookConfiguration, mutating);
    await admin.create(ValidatingWebhookConfiguration, validating);
    // Of another release, and of somebody else.
    await admin.create(MutatingWebhookConfiguration, {
      ...mutating,
      metadata: { ...mutating.metadata, name: "other-webhook" },
    });
    [port = 0] = await freePorts(1);
    await start();
  });

  after(async () => {
    await component.end();
    await ending.end();
  });

  async function start(): Promise<void> {
    const kubeconfig = await kubeconfigOf(controlPlane("milan"), "liqo-system", "liqo-webhook");
    const context = testContext(kubeconfig, "webhook");
    const { clock } = context;
    component = { ...context, clock: { ...clock, now: () => clock.now() + shiftMs } };
    const line = splitCommandLine([
      "webhook",
      "--cluster-id=milan",
      "--liqo-namespace=liqo-system",
      `--webhook-port=${port}`,
      `--webhook-url=https://127.0.0.1:${port}`,
      "--vk-options-default-template=liqo-system/virtual-kubelet-default",
      "--resource-validator-refresh-interval=5m",
    ]);
    await webhook.start(component, readFlags(line, webhook.flags));
  }

  const secret = () => admin.get(Secret, { name: "liqo-webhook-certs", namespace: "liqo-system" });
  const entry = (object: Secret | undefined, key: string) =>
    Buffer.from(object?.data?.[key] ?? "", "base64").toString();
  const own = () => admin.get(MutatingWebhookConfiguration, { name: "liqo-webhook" });
  const ready = async () => (await component.health.readiness()).healthy;

  function served(): Promise<X509Certificate> {
    return new Promise((resolve, reject) => {
      const socket = connect({ host: "127.0.0.1", port, rejectUnauthorized: false }, () => {
        const certificate = new X509Certificate(socket.getPeerCertificate(true).raw);
        socket.destroy();
        resolve(certificate);
      });
      socket.on("error", reject);
    });
  }

  async function refusal(spec: object): Promise<string> {
    const object: Desired<NamespaceOffloading> = {
      apiVersion: "offloading.liqo.io/v1beta1",
      kind: "NamespaceOffloading",
      metadata: { name: "offloading", namespace: "shop" },
      spec,
    };
    try {
      await admin.create(NamespaceOffloading, object);
      await admin.delete(NamespaceOffloading, { name: "offloading", namespace: "shop" });
      return "allowed";
    } catch (error) {
      if (error instanceof ApiError) return error.message;
      throw error;
    }
  }
  const works = () =>
    until("the webhook answers the API server", async () =>
      /is no name for a namespace/.test(await refusal(GUARDED)),
    );

  function authoritiesOf(caBundle: string): X509Certificate[] {
    const text = Buffer.from(caBundle, "base64").toString();
    return (text.match(/-----BEGIN CERTIFICATE-----[^-]+-----END CERTIFICATE-----/g) ?? []).map(
      (pem) => new X509Certificate(pem),
    );
  }

  it("makes its certificate, registers it and serves, with the rights of its role alone", async () => {
    await until("it is ready", ready);
    await works();
    const made = await secret();
    assert.equal(made?.metadata.labels?.["liqo.io/webhook"], "true");
    assert.equal(made.metadata.annotations?.["liqo.io/webhook-service-name"], "liqo-webhook");
    const certificate = await served();
    for (const name of [
      "liqo-webhook",
      "liqo-webhook.liqo-system",
      "liqo-webhook.liqo-system.svc",
      "liqo-webhook.liqo-system.svc.cluster.local",
    ])
      assert.equal(certificate.checkHost(name), name);
    const validating = await admin.get(ValidatingWebhookConfiguration, { name: "liqo-webhook" });
    for (const configuration of [await own(), validating]) {
      const bundles = configuration?.webhooks?.map(({ clientConfig }) =>
        Buffer.from(clientConfig.caBundle ?? "", "base64").toString(),
      );
      assert.ok(
        bundles !== undefined &&
          bundles.length > 0 &&
          bundles.every((bundle) => bundle === entry(made, "ca")),
      );
    }
  });

  it("leaves the registrations of others alone", async () => {
    const other = await admin.get(MutatingWebhookConfiguration, { name: "other-webhook" });
    assert.ok(
      other?.webhooks?.every(
        ({ clientConfig }) => clientConfig.caBundle === undefined && clientConfig.url === undefined,
      ),
    );
    await admin.delete(MutatingWebhookConfiguration, { name: "other-webhook" });
  });

  it("writes its authority back when somebody removes it", async () => {
    await admin.patch(
      MutatingWebhookConfiguration,
      { name: "liqo-webhook" },
      [{ op: "remove", path: "/webhooks/0/clientConfig/caBundle" }],
      { type: "json" },
    );
    await until("it is back", async () => (await own())?.webhooks?.[0]?.clientConfig.caBundle !== undefined);
  });

  it("renews the certificate in its last third, without a new authority", async () => {
    const before = { secret: await secret(), certificate: await served() };
    shiftMs = 0;
    // Any event makes it look at the clock; by itself it does so twice a day.
    await admin.patch(
      Secret,
      { name: "liqo-webhook-certs", namespace: "liqo-system" },
      { metadata: { annotations: { looked: timestamp(component.clock) } } },
      { type: "merge" },
    );
    await until(
      "another certificate is served",
      async () => (await served()).serialNumber !== before.certificate.serialNumber,
    );
    const after = await secret();
    assert.equal(entry(after, "ca"), entry(before.secret, "ca"));
    assert.notEqual(entry(after, "tls.crt"), entry(before.secret, "tls.crt"));
    await works();
  });

  it("changes the authority, and serves at no time what the API server does not trust", async () => {
    const before = await served();
    await admin.patch(
      Secret,
      { name: "liqo-webhook-certs", namespace: "liqo-system" },
      { data: { "ca.key": null, "tls.crt": "" } },
      { type: "merge" },
    );
    let looks = 0;
    let untrusted = 0;
    await until(
      "another certificate is served",
      async () => {
        // The trust first: what is served a moment later must be covered by it already.
        const authorities = authoritiesOf((await own())?.webhooks?.[0]?.clientConfig.caBundle ?? "");
        const certificate = await served();
        if (!authorities.some((authority) => certificate.verify(authority.publicKey))) untrusted += 1;
        looks += 1;
        return certificate.serialNumber !== before.serialNumber;
      },
      { timeoutMs: 20_000 },
    );
    assert.ok(looks > 20, `${looks} looks`);
    assert.equal(untrusted, 0);
    assert.equal(authoritiesOf((await own())?.webhooks?.[0]?.clientConfig.caBundle ?? "").length, 2);
    await works();
  });

  it("fills in whatever somebody takes from the Secret", async () => {
    for (const key of ["tls.crt", "tls.key", "ca"]) {
      await admin.patch(
        Secret,
        { name: "liqo-webhook-certs", namespace: "liqo-system" },
        { data: { [key]: null } },
        { type: "merge" },
      );
      await until(`${key} is there again`, async () => entry(await secret(), key) !== "", {
        timeoutMs: 20_000,
      });
      await until(
        "the one that is stored is served",
        async () =>
          (await served()).serialNumber ===
          new X509Certificate(entry(await secret(), "tls.crt")).serialNumber,
        { timeoutMs: 20_000 },
      );
      await works();
    }
  });

  it("goes on with the same certificate after a restart, and writes nothing", async () => {
    const before = await served();
    await component.end();
    await until("the port is free", async () =>
      served().then(
        () => false,
        () => true,
      ),
    );
    await new Promise((resolve) => setTimeout(resolve, 300));
    const begin = Date.now();
    await start();
    await until("it is ready", ready);
    await works();
    assert.equal((await served()).serialNumber, before.serialNumber);
    await new Promise((resolve) => setTimeout(resolve, 1_000));
    const path = controlPlane("milan").auditLogPath;
    assert.ok(path);
    const writes = auditEvents(path, begin).filter(
      ({ userAgent, verb }) => userAgent === "liqo-webhook" && !["get", "list", "watch"].includes(verb),
    );
    assert.deepEqual(countRequests(writes), []);
  });

  it("makes everything anew when the Secret is deleted", async () => {
    const before = await served();
    await admin.delete(Secret, { name: "liqo-webhook-certs", namespace: "liqo-system" });
    await until(
      "another certificate is served",
      async () => (await served()).serialNumber !== before.serialNumber,
      { timeoutMs: 20_000 },
    );
    await works();
  });

  it("tells that nobody asks it any more when its registration is gone", async () => {
    await admin.delete(ValidatingWebhookConfiguration, { name: "liqo-webhook" });
    const told = await until(
      "the event",
      async () =>
        (await admin.list(Event, { namespace: "liqo-system" })).find(
          ({ reason }) => reason === "NotRegistered",
        ),
      { timeoutMs: 30_000 },
    );
    assert.equal(told.involvedObject.name, "liqo-webhook-certs");
    assert.match(
      told.message ?? "",
      /^ValidatingWebhookConfiguration "liqo-webhook" is gone.*install it again/,
    );
  });
});
