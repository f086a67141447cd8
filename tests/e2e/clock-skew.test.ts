import assert from "node:assert/strict";
import {
  CertificateSigningRequest,
  DataKey,
  ForeignCluster,
  ResourceSlice,
  Secret,
  Tenant,
} from "../../runtime/api";
import { parseCertificate, parseKubeconfig } from "../../runtime/identity";
import { type Clock, systemClock } from "../../runtime/kube";
import type { PeeringSides } from "../../runtime/plan/peering";
import { CertificateSigner } from "../support/certificate-signer";
import { eventWith } from "../support/events";
import type { ManagedCluster } from "../support/managed-cluster";
import { installPair } from "../support/managed-pair";
import { PeeringSteps } from "../support/peering-steps";
import { until } from "../support/until";
import { withControlPlanes } from "../support/with-control-planes";

const sides: PeeringSides = {
  consumer: { clusterId: "rome", tenantNamespace: "to-milan" },
  provider: { clusterId: "milan", tenantNamespace: "guests-from-rome" },
};
const [MINUTE, DAY] = [60_000, 24 * 3_600_000];
const pings = ["--foreign-cluster-ping-interval=1s"];

/** This machine's clock, but wrong by so much. */
function clockAheadBy(ms: number): Clock {
  return { ...systemClock, now: () => Date.now() + ms };
}

describe("a peering of rome at milan, whose clocks differ", function () {
  this.timeout(180_000);
  let rome: ManagedCluster;
  let milan: ManagedCluster;
  let signer: CertificateSigner;
  let steps: PeeringSteps;
  after(async () => {
    await Promise.all([rome?.end(), signer?.stop()]);
    await milan?.end();
  });
  const controlPlane = withControlPlanes({
    rome: { serviceCidr: "10.97.0.0/16" },
    // Without kube-controller-manager: the test signs in its place.
    milan: { serviceCidr: "10.98.0.0/16" },
  });
  before(async () => {
    [rome, milan] = await installPair(controlPlane);
    signer = await CertificateSigner.start(controlPlane("milan"), milan.admin, 60 * MINUTE);
    await Promise.all([rome.start(pings), milan.start()]);
    steps = new PeeringSteps(rome, milan, sides, "pool");
  });

  async function apiServer(): Promise<{ status?: string; message?: string }> {
    const peer = await rome.admin.get(ForeignCluster, { name: "milan" });
    return peer?.status?.conditions?.find(({ type }) => type === "APIServerStatus") ?? {};
  }

  async function certificate(): Promise<string> {
    const secret = await rome.admin.get(Secret, {
      name: "kubeconfig-controlplane-milan",
      namespace: "to-milan",
    });
    const kubeconfig = Buffer.from(secret?.data?.[DataKey.kubeconfig] ?? "", "base64").toString();
    return kubeconfig === "" ? "" : (parseKubeconfig(kubeconfig).certificate ?? "");
  }

  /** Waits for a slice to be granted; returns every status that its conditions went through. */
  async function granted(name: string): Promise<string[]> {
    const seen = new Set<string>();
    await until(`${name} is granted`, async () => {
      const slice = await rome.admin.get(ResourceSlice, { name, namespace: "to-milan" });
      const conditions = slice?.status?.conditions ?? [];
      for (const { type, status } of conditions) seen.add(`${type} ${status}`);
      return conditions.length === 2 && conditions.every(({ status }) => status === "Accepted");
    });
    return [...seen].sort();
  }

  const requests = async () => (await milan.admin.list(CertificateSigningRequest)).length;

  it("a certificate that is not valid yet: rome says so, asks for no other, and goes on once it is", async () => {
    signer.aheadMs = 25_000;
    await steps.peer();
    const { status, message = "" } = await until("a word on it", async () => {
      const condition = await apiServer();
      return condition.status === "Error" && condition;
    });
    const first = await certificate();
    const { notBefore } = parseCertificate(first);
    assert.equal(status, "Error");
    assert.ok(message.includes("HTTP 401"), message);
    assert.ok(message.includes(`not valid before ${notBefore.toISOString()}`), message);

    signer.aheadMs = 0;
    await until("the peer answers", async () => (await apiServer()).status === "Established");
    assert.ok(Date.now() >= notBefore.getTime());
    assert.deepEqual(await granted("pool"), ["Authentication Accepted", "Resources Accepted"]);
    assert.equal(await certificate(), first);
    assert.equal(await requests(), 2); // one for the control plane, one for the slice

    const refusals = (await rome.metrics())
      .split("\n")
      .filter((line) => line.startsWith("rest_client_requests_total{") && line.includes('code="401"'))
      .map((line) => Number(line.split(" ").at(-1)));
    const refused = refusals.reduce((sum, count) => sum + count, 0);
    // Of 25 seconds, with three watches.
    assert.ok(refused > 0 && refused < 60, `${refused} requests were refused`);
  });

  it("a provider's clock a year behind: what it signs counts as good, and nothing is asked for twice", async () => {
    await milan.stop();
    await milan.start([], clockAheadBy(-365 * DAY));
    await steps.slice("behind");
    assert.deepEqual(await granted("behind"), ["Authentication Accepted", "Resources Accepted"]);
    assert.equal(await requests(), 3);
  });

  it("a provider's clock two minutes ahead: a certificate that is just being signed is not late", async () => {
    await milan.stop();
    await milan.start([], clockAheadBy(2 * MINUTE));
    await steps.slice("ahead");
    assert.deepEqual(await granted("ahead"), ["Authentication Accepted", "Resources Accepted"]);
    assert.equal(await requests(), 4);
  });

  it("a provider's clock so far ahead that all looks due: says so, stops asking, and leaves rome its credentials", async () => {
    const before = await certificate();
    await milan.stop();
    await milan.start([], clockAheadBy(50 * MINUTE));
    const tenant = await milan.admin.get(Tenant, { name: "rome", namespace: "guests-from-rome" });
    assert.ok(tenant);
    await eventWith(
      milan.admin,
      tenant,
      "AuthParamsFailed",
      /due for renewal as soon as they are issued.*set the clocks right/,
    );
    // Three attempts for the control plane and each of the three slices.
    await until("it has asked as often as it does", async () => (await requests()) === 4 + 4 * 3);
    const retries = () =>
      milan
        .metric('controller_runtime_reconcile_errors_total{controller="tenant"}')
        .then((count = 0) => count);
    const tried = await retries();
    await until("it tries again", async () => (await retries()) >= tried + 2);
    assert.equal(await requests(), 4 + 4 * 3);
    assert.equal(await certificate(), before);
    assert.equal((await apiServer()).status, "Established");

    await milan.stop();
    await milan.start();
    await steps.slice("right-again");
    assert.deepEqual(await granted("right-again"), ["Authentication Accepted", "Resources Accepted"]);
    assert.equal(await certificate(), before);
  });

  for (const [words, days] of [
    ["ahead", 400],
    ["behind", -400],
  ] as const) {
    it(`a consumer's clock a year ${words}: nothing depends on it`, async () => {
      const [before, asked] = [await certificate(), await requests()];
      await rome.stop();
      await rome.start(pings, clockAheadBy(days * DAY));
      await steps.slice(`consumer-${words}`);
      await granted(`consumer-${words}`);
      await until("the peer answers", async () => (await apiServer()).status === "Established");
      assert.equal(await certificate(), before);
      assert.equal(await requests(), asked + 1);
    });
  }
});
