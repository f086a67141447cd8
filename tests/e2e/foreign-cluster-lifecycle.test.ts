import assert from "node:assert/strict";
import { setTimeout as pause } from "node:timers/promises";

import {
  Configuration,
  Deployment,
  type Desired,
  ForeignCluster,
  Identity,
  type KubeObject,
  Label,
  Namespace,
  Secret,
  Tenant,
} from "../../runtime/api";
import type { PeeringSides } from "../../runtime/plan/peering";
import { ManagedCluster } from "../support/managed-cluster";
import { PeeringSteps } from "../support/peering-steps";
import { TcpProxy } from "../support/tcp-proxy";
import { until } from "../support/until";
import { withControlPlanes } from "../support/with-control-planes";

/** Times in Kubernetes' objects are whole seconds. */
const A_SECOND = 1_100;
const PING = 300;

/** Control plane reference 12.1 to 12.4, where it is not about what each row says: whose objects count, which ForeignCluster, and when. */
describe("the life of ForeignClusters", function () {
  this.timeout(120_000);
  let rome: ManagedCluster;
  let proxy: TcpProxy;

  after(async () => {
    await rome?.end();
    await proxy?.close();
  });
  const controlPlane = withControlPlanes({ rome: {} });
  before(async () => {
    const controlPlaneOfRome = controlPlane("rome");
    rome = await ManagedCluster.install({
      controlPlane: controlPlaneOfRome,
      clusterId: "rome",
      liqoNamespace: "liqo",
      networking: true,
    });
    const port = Number(new URL(controlPlaneOfRome.url).port);
    proxy = await TcpProxy.start({ host: "127.0.0.1", port });
    await rome.start([
      `--foreign-cluster-ping-interval=${PING}ms`,
      `--foreign-cluster-ping-timeout=${PING - 50}ms`,
    ]);
  });

  const make = (object: Desired<KubeObject> & Record<string, unknown>) => rome.apply(object);
  const find = (name: string) => rome.admin.get(ForeignCluster, { name });
  const labelled = (peer: string) => ({ [Label.remoteClusterID]: peer });
  async function namespaceFor(peer: string): Promise<void> {
    const labels = { ...labelled(peer), [Label.tenantNamespace]: "true" };
    await make({ apiVersion: "v1", kind: "Namespace", metadata: { name: `to-${peer}`, labels } });
  }
  const configuration = (name: string, peer: string, labels: Record<string, string>) =>
    make({
      apiVersion: "networking.liqo.io/v1beta1",
      kind: "Configuration",
      metadata: { name, namespace: `to-${peer}`, labels },
      spec: { remote: { cidr: { pod: ["10.20.0.0/16"], external: ["10.71.0.0/16"] } } },
    });
  type Module = "networking" | "authentication";
  const condition = async (name: string, module: Module, type: string) =>
    (await find(name))?.status?.modules?.[module].conditions?.find((each) => each.type === type);
  async function says(name: string, module: Module, type: string, expected: string | undefined) {
    const brief = async () => {
      const found = await condition(name, module, type);
      return found && `${found.status}/${found.reason ?? ""}`;
    };
    await until(`${type} is ${expected ?? "not there"}`, async () => (await brief()) === expected).catch(
      async (error: unknown) => {
        assert.equal(await brief(), expected);
        throw error;
      },
    );
  }

  describe("with networking at genoa", () => {
    before(() => namespaceFor("genoa"));

    it("takes no notice of objects that say of no peer whose they are", async () => {
      await configuration("nobodys", "genoa", {});
      await configuration("empty", "genoa", labelled(""));
      await configuration("genoa", "genoa", labelled("genoa"));
      await until("the ForeignCluster of genoa", () => find("genoa"));
      const names = (await rome.admin.list(ForeignCluster)).map(({ metadata }) => metadata.name);
      assert.deepEqual(names, ["genoa"]);
    });

    it("gives back the label that it is found by", async () => {
      const label = async () => (await find("genoa"))?.metadata.labels?.[Label.remoteClusterID];
      for (const value of [null, "turin"]) {
        await rome.admin.patch(
          ForeignCluster,
          { name: "genoa" },
          { metadata: { labels: { [Label.remoteClusterID]: value } } },
          { type: "merge" },
        );
        await until("labelled again", async () => (await label()) === "genoa");
      }
      assert.equal(await find("turin"), undefined);
    });

    it("moves the time of a condition with its status, its reason or its message, and of no other", async () => {
      const [presence, gateway] = ["NetworkGatewayPresence", "NetworkGatewayClientStatus"];
      const seen = async (type: string) => {
        const { lastTransitionTime, message } = (await condition("genoa", "networking", type)) ?? {};
        return { at: lastTransitionTime ?? "", message: message ?? "" };
      };
      await make({
        apiVersion: "networking.liqo.io/v1beta1",
        kind: "GatewayClient",
        metadata: { name: "genoa", namespace: "to-genoa", labels: labelled("genoa") },
        spec: { mtu: 1340, endpoint: { addresses: ["10.0.0.2"], port: 51_840, protocol: "UDP" } },
      });
      await says("genoa", "networking", gateway, "NotReady/GatewaysNotReady");
      const before = [await seen(presence), await seen(gateway)] as const;
      await pause(A_SECOND);
      // The same status and reason, another message.
      await make({
        apiVersion: "apps/v1",
        kind: "Deployment",
        metadata: {
          name: "gw-genoa",
          namespace: "to-genoa",
          labels: { [Label.networkingComponent]: "gateway" },
        },
        spec: {
          replicas: 1,
          selector: { matchLabels: { app: "gw" } },
          template: {
            metadata: { labels: { app: "gw" } },
            spec: { containers: [{ name: "gw", image: "runtime:1" }] },
          },
        },
      });
      const second = await until("another message", async () => {
        const now = await seen(gateway);
        return now.message !== before[1].message && now;
      });
      assert.ok(second.at > before[1].at, `${second.at} after ${before[1].at}`);
      await pause(A_SECOND);
      await rome.admin.patch(
        Deployment,
        { name: "gw-genoa", namespace: "to-genoa" },
        { status: { replicas: 1, readyReplicas: 1, availableReplicas: 1 } },
        { type: "merge", subresource: "status" },
      );
      await says("genoa", "networking", gateway, "Ready/GatewaysReady");
      assert.ok((await seen(gateway)).at > second.at);
      assert.deepEqual(await seen(presence), before[0]);
    });
  });

  describe("with two ForeignClusters of turin", () => {
    it("keeps the older one, and the other when that is gone", async () => {
      const byHand = (name: string) =>
        make({
          apiVersion: "core.liqo.io/v1beta1",
          kind: "ForeignCluster",
          metadata: { name, labels: labelled("turin") },
          spec: { clusterID: "turin" },
        });
      await byHand("turin-first");
      await pause(A_SECOND);
      await byHand("a-second-turin");
      await namespaceFor("turin");
      await configuration("turin", "turin", labelled("turin"));
      await says(
        "turin-first",
        "networking",
        "NetworkConfigurationStatus",
        "Ready/NetworkConfigurationPresence",
      );
      assert.equal((await find("a-second-turin"))?.status, undefined);
      assert.equal(await find("turin"), undefined);
      await rome.admin.delete(ForeignCluster, { name: "turin-first" });
      await says(
        "a-second-turin",
        "networking",
        "NetworkConfigurationStatus",
        "Ready/NetworkConfigurationPresence",
      );
      await rome.admin.delete(Configuration, { name: "turin", namespace: "to-turin" });
      await says("a-second-turin", "networking", "NetworkConfigurationStatus", undefined);
    });
  });

  describe("with what authentication there is at milan", () => {
    before(() => namespaceFor("milan"));
    const tenant = (peer: string, spec: object, namespace = "to-milan") =>
      make({
        apiVersion: "authentication.liqo.io/v1beta1",
        kind: "Tenant",
        metadata: { name: peer, namespace, labels: labelled(peer) },
        spec: { clusterID: peer, ...spec },
      });

    it("says of a Tenant whether it has credentials and a namespace", async () => {
      await tenant("milan", { authzPolicy: "KeysExchange" });
      await says("milan", "authentication", "AuthTenantStatus", "NotReady/TenantNotReady");
      assert.equal((await find("milan"))?.status?.role, "Consumer");
      await rome.admin.delete(Tenant, { name: "milan", namespace: "to-milan" });
      await says("milan", "authentication", "AuthTenantStatus", undefined);
      // The namespace is another's: whoever may write there says nothing of naples.
      await tenant("naples", { authzPolicy: "TolerateNoHandshake" });
      // The namespace is nobody's, and bari has none.
      await make({ apiVersion: "v1", kind: "Namespace", metadata: { name: "nobodys" } });
      await tenant("bari", { authzPolicy: "TolerateNoHandshake" }, "nobodys");
      await says("bari", "authentication", "AuthTenantStatus", "NotReady/TenantNotReady");
      assert.equal(await find("naples"), undefined);
      await rome.admin.delete(Tenant, { name: "naples", namespace: "to-milan" });
      await tenant("naples", { authzPolicy: "TolerateNoHandshake" }, "nobodys");
      await says("naples", "authentication", "AuthTenantStatus", "NotReady/TenantNotReady");
      await rome.admin.delete(Tenant, { name: "naples", namespace: "nobodys" });
      await namespaceFor("naples");
      await tenant("naples", { authzPolicy: "TolerateNoHandshake" }, "to-naples");
      await says("naples", "authentication", "AuthTenantStatus", "Ready/TenantReady");
      assert.equal((await find("naples"))?.status?.tenantNamespace?.local, "to-naples");
      await rome.admin.delete(Tenant, { name: "naples", namespace: "to-naples" });
      await until("no role", async () => (await find("naples"))?.status?.role === "Unknown");
      assert.deepEqual((await find("naples"))?.status?.modules?.authentication, { enabled: false });
    });

    it("says of an Identity whether it has a Secret", async () => {
      await make({
        apiVersion: "authentication.liqo.io/v1beta1",
        kind: "Identity",
        metadata: { name: "controlplane-milan", namespace: "to-milan", labels: labelled("milan") },
        spec: {
          clusterID: "milan",
          namespace: "guests-from-rome",
          type: "ControlPlane",
          authParams: {
            apiServer: `https://127.0.0.1:${proxy.port}`,
            signedCRT: Buffer.from("garbage").toString("base64"),
          },
        },
      });
      await says("milan", "authentication", "AuthIdentityControlPlaneStatus", "NotReady/IdentityNotReady");
      const { status } = (await find("milan")) ?? {};
      assert.equal(status?.role, "Provider");
      assert.equal(status.apiServerUrl, `https://127.0.0.1:${proxy.port}`);
      assert.deepEqual(status.tenantNamespace, { local: "to-milan", remote: "guests-from-rome" });
      // Nothing to ask with.
      assert.equal(status.conditions, undefined);
      await rome.admin.delete(Identity, { name: "controlplane-milan", namespace: "to-milan" });
      await says("milan", "authentication", "AuthIdentityControlPlaneStatus", undefined);
      await until("no role", async () => (await find("milan"))?.status?.role === "Unknown");
    });
  });

  describe("with the API server of a peer to check", () => {
    const sides: PeeringSides = {
      consumer: { clusterId: "rome", tenantNamespace: "to-milan" },
      provider: { clusterId: "milan", tenantNamespace: "guests-from-rome" },
    };
    let steps: PeeringSteps;
    let kubeconfig: string;
    before(async () => {
      steps = new PeeringSteps(rome, rome, sides, "pool");
      kubeconfig = await controlPlane("rome").kubeconfigFor({ name: "guest" });
    });
    const at = (port: number) => kubeconfig.replace(/server: .*/, `server: https://127.0.0.1:${port}`);
    const answers = async () => {
      const [found] = (await find("milan"))?.status?.conditions ?? [];
      return found && `${found.status}/${found.reason ?? ""}`;
    };

    it("begins anew when the Secret is another", async () => {
      await steps.handmadeSecret(at(1));
      await until("no answer", async () => (await answers()) === "Error/APIServerNotReady");
      await steps.handmadeSecret(at(proxy.port));
      await until("an answer", async () => (await answers()) === "Established/APIServerReady");
      await steps.handmadeSecret("apiVersion: v1");
      await until("nothing to ask with", async () => (await answers()) !== "Established/APIServerReady");
      await steps.handmadeSecret(at(proxy.port));
      await until("an answer", async () => (await answers()) === "Established/APIServerReady");
    });

    it("writes nothing while nothing changes, however often it asks", async () => {
      const before = await find("milan");
      await pause(PING * 5);
      assert.equal((await find("milan"))?.metadata.resourceVersion, before?.metadata.resourceVersion);
      proxy.refuse();
      proxy.cut();
      // It did ask meanwhile.
      await until("no answer", async () => (await answers()) === "Error/APIServerNotReady");
      proxy.allow();
      await until("an answer", async () => (await answers()) === "Established/APIServerReady");
    });

    it("lets a ForeignCluster go that somebody deletes, and makes it anew", async () => {
      const before = await until("held", async () => {
        const found = await find("milan");
        return found?.metadata.finalizers?.includes("api-server-checker.liqo.io/finalizer") && found;
      });
      await rome.admin.delete(ForeignCluster, { name: "milan" });
      await until("another", async () => {
        const found = await find("milan");
        return found !== undefined && found.metadata.uid !== before.metadata.uid;
      });
      await until("an answer", async () => (await answers()) === "Established/APIServerReady");
    });

    it("stops, condition and finalizer with it, when there is nobody left to ask", async () => {
      await rome.admin.delete(Secret, { name: "cplane-secret", namespace: "to-milan" });
      // The finalizer and the status are two writes.
      await until("not held, and without the condition", async () => {
        const { metadata, status } = (await find("milan")) ?? {};
        const isLetGo = metadata !== undefined && metadata.finalizers === undefined;
        return isLetGo && status?.role === "Unknown" && status.conditions === undefined;
      });
      await rome.admin.delete(Namespace, { name: "to-milan" });
    });
  });
});
