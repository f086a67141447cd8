import assert from "node:assert/strict";
import { once } from "node:events";
import { createServer, request as httpsRequest, type Server } from "node:https";
import type { AddressInfo } from "node:net";
import { networkInterfaces } from "node:os";
import { connect } from "node:tls";

import {
  APIService,
  ClusterRole,
  ClusterRoleBinding,
  type Desired,
  EndpointSlice,
  Namespace,
  Node,
  Pod,
  RoleBinding,
  Service,
  ServiceAccount,
} from "../../runtime/api";
import { readFlags, splitCommandLine } from "../../runtime/component/command-line";
import { createCertificateAuthority } from "../../runtime/identity/serving-certificate";
import { KubeClient, systemClock } from "../../runtime/kube";
import { metricAgent } from "../../runtime/metric-agent/component";
import { metricAgentRules, virtualKubeletRemoteClusterwideRules } from "../../runtime/plan/rbac";
import { freePorts } from "../../provider/local-cluster/free-port";
import { type TestContext, testContext } from "../support/runtime-context";
import { until } from "../support/until";
import { withControlPlanes } from "../support/with-control-planes";

const rbac = "rbac.authorization.k8s.io";

describe("the metric agent of milan, behind the API server's aggregator", function () {
  this.timeout(120_000);
  const controlPlane = withControlPlanes({ milan: { definitions: "absent" } });
  let admin: KubeClient;
  let rome: KubeClient;
  let turin: KubeClient;
  let agent: TestContext;
  const kubelets: Server[] = [];
  let address = "";
  const asked: string[] = [];

  before(async () => {
    address = ownAddress();
    const milan = controlPlane("milan");
    admin = KubeClient.fromKubeconfig(milan.kubeconfig);
    const as = async (name: string, group: string) =>
      KubeClient.fromKubeconfig(await milan.kubeconfigFor({ name, groups: [group] }));
    [rome, turin] = [await as("pool-a8a4c692b93b", "rome"), await as("pool-of-turin", "turin")];
    for (const name of ["milan-1", "milan-2"]) await node(name, await kubelet(name));
    // Loops back to the consumer: it must not be asked.
    await node("virtual", 1, { "liqo.io/type": "virtual-node" });
    await node("broken", 1, {}, "False");
    await offloaded("shop-rome", "rome", "shop", [
      ["web-1", "milan-1"],
      ["web-2", "milan-2"],
    ]);
    await offloaded("shop-turin", "turin", "store", [["web-1", "milan-1"]]);
    await grants();
    const [port = 0] = await freePorts(1);
    agent = testContext(await milan.kubeconfigFor({ name: "metric-agent" }), "metric-agent");
    const line = splitCommandLine(["metric-agent", `--port=${port}`]);
    await metricAgent.start(agent, readFlags(line, metricAgent.flags));
    await agent.informers.whenSynced();
    await register(port);
  });
  after(async () => {
    await agent?.end();
    for (const client of [admin, rome, turin]) client?.close();
    for (const server of kubelets) server.close();
  });

  /** What a kubelet answers, about pods that run there and one that does not. */
  async function kubelet(name: string): Promise<number> {
    const { certificate, privateKey } = createCertificateAuthority(
      { commonName: name, organization: "system:nodes" },
      { notBefore: new Date(Date.now() - 3_600_000), notAfter: new Date(Date.now() + 3_600_000) },
    );
    const server = createServer({ cert: certificate, key: privateKey }, (request, response) => {
      asked.push(`${name}${request.url}`);
      if (request.url !== "/metrics/resource") return response.writeHead(404).end();
      const rows = ["shop-rome", "shop-turin"].flatMap((namespace) =>
        ["web-1", "web-2"].map(
          (pod) =>
            `pod_cpu_usage_seconds_total{namespace="${namespace}",pod="${pod}"} ${name === "milan-1" ? 1 : 2}`,
        ),
      );
      return response.end(
        `# HELP pod_cpu_usage_seconds_total cpu\n# TYPE pod_cpu_usage_seconds_total counter\n${rows.join("\n")}\n` +
          "# HELP node_cpu_usage_seconds_total cpu\n# TYPE node_cpu_usage_seconds_total counter\nnode_cpu_usage_seconds_total 10\n",
      );
    });
    server.listen(0, address);
    await once(server, "listening");
    kubelets.push(server);
    return (server.address() as AddressInfo).port;
  }

  async function node(
    name: string,
    port: number,
    labels: Record<string, string> = {},
    ready = "True",
  ): Promise<void> {
    await admin.create(Node, { apiVersion: "v1", kind: "Node", metadata: { name, labels } });
    await admin.patch(
      Node,
      { name },
      {
        status: {
          conditions: [{ type: "Ready", status: ready }],
          addresses: [{ type: "InternalIP", address }],
          daemonEndpoints: { kubeletEndpoint: { Port: port } },
        },
      },
      { type: "strategic", subresource: "status" },
    );
  }

  async function offloaded(
    name: string,
    origin: string,
    original: string,
    pods: [string, string][],
  ): Promise<void> {
    await admin.create(Namespace, {
      apiVersion: "v1",
      kind: "Namespace",
      metadata: {
        name,
        labels: { "liqo.io/remote-cluster-id": origin },
        annotations: { "liqo.io/original-name": original },
      },
    });
    await admin.create(ServiceAccount, {
      apiVersion: "v1",
      kind: "ServiceAccount",
      metadata: { name: "default", namespace: name },
    });
    for (const [pod, nodeName] of pods) {
      await admin.create(Pod, {
        apiVersion: "v1",
        kind: "Pod",
        metadata: { name: pod, namespace: name, labels: { "offloading.liqo.io/origin": origin } },
        spec: {
          nodeName,
          automountServiceAccountToken: false,
          containers: [{ name: "web", image: "web:1" }],
        },
      });
    }
  }

  async function grants(): Promise<void> {
    const roles = {
      "metric-agent": metricAgentRules,
      "read-own-metrics": virtualKubeletRemoteClusterwideRules,
    };
    for (const [name, rules] of Object.entries(roles)) {
      await admin.create(ClusterRole, {
        apiVersion: `${rbac}/v1`,
        kind: "ClusterRole",
        metadata: { name },
        rules,
      });
    }
    const bind = (name: string, role: string, subjects: { kind: string; name: string }[]) =>
      admin.create(ClusterRoleBinding, {
        apiVersion: `${rbac}/v1`,
        kind: "ClusterRoleBinding",
        metadata: { name },
        roleRef: { apiGroup: rbac, kind: "ClusterRole", name: role },
        subjects: subjects.map((subject) => ({ apiGroup: rbac, ...subject })),
      });
    await bind("metric-agent", "metric-agent", [{ kind: "User", name: "metric-agent" }]);
    await bind("consumers", "read-own-metrics", [
      { kind: "Group", name: "rome" },
      { kind: "Group", name: "turin" },
    ]);
    const authentication: Desired<RoleBinding> = {
      apiVersion: `${rbac}/v1`,
      kind: "RoleBinding",
      metadata: { name: "metric-agent", namespace: "kube-system" },
      roleRef: { apiGroup: rbac, kind: "Role", name: "extension-apiserver-authentication-reader" },
      subjects: [{ apiGroup: rbac, kind: "User", name: "metric-agent" }],
    };
    await admin.create(RoleBinding, authentication);
  }

  /** The API server calls the agent at an endpoint. */
  async function register(port: number): Promise<void> {
    await admin.create(Namespace, { apiVersion: "v1", kind: "Namespace", metadata: { name: "liqo-system" } });
    const metadata = { name: "liqo-metric-agent", namespace: "liqo-system" };
    await admin.create(Service, {
      apiVersion: "v1",
      kind: "Service",
      metadata,
      spec: { ports: [{ name: "https", port: 443, targetPort: port }] },
    });
    await admin.create(EndpointSlice, {
      apiVersion: "discovery.k8s.io/v1",
      kind: "EndpointSlice",
      metadata: { ...metadata, labels: { "kubernetes.io/service-name": metadata.name } },
      addressType: "IPv4",
      endpoints: [{ addresses: [address], conditions: { ready: true } }],
      ports: [{ name: "https", port }],
    });
    await admin.create(APIService, {
      apiVersion: "apiregistration.k8s.io/v1",
      kind: "APIService",
      metadata: { name: "v1beta1.metrics.liqo.io" },
      spec: {
        group: "metrics.liqo.io",
        version: "v1beta1",
        groupPriorityMinimum: 100,
        versionPriority: 100,
        insecureSkipTLSVerify: true,
        service: { ...metadata, port: 443 },
      },
    });
    await until("the aggregated API is available", async () => {
      const found = await admin.get(APIService, { name: "v1beta1.metrics.liqo.io" });
      return found?.status?.conditions?.some(({ type, status }) => type === "Available" && status === "True");
    });
  }

  const scrape = async (client: KubeClient, clusterId: string, path = "metrics/resource") => {
    const answer = await client.raw({ path: `/apis/metrics.liqo.io/v1beta1/scrape/${clusterId}/${path}` });
    return { status: answer.status, text: answer.body.toString() };
  };

  it("gives a consumer the metrics of its pods on all nodes, and one sum of the nodes", async () => {
    assert.deepEqual(await scrape(rome, "rome"), {
      status: 200,
      text:
        "# HELP node_cpu_usage_seconds_total cpu\n# TYPE node_cpu_usage_seconds_total counter\nnode_cpu_usage_seconds_total 20\n" +
        "# HELP pod_cpu_usage_seconds_total cpu\n# TYPE pod_cpu_usage_seconds_total counter\n" +
        'pod_cpu_usage_seconds_total{namespace="shop",pod="web-1"} 1\npod_cpu_usage_seconds_total{namespace="shop",pod="web-2"} 2\n',
    });
  });

  it("asks each node once for all consumers, and no virtual or broken one", async () => {
    asked.length = 0;
    await new Promise((resolve) => setTimeout(resolve, 10_100)); // what it keeps has grown old
    const answers = await Promise.all([
      ...Array.from({ length: 5 }, () => scrape(rome, "rome")),
      ...Array.from({ length: 5 }, () => scrape(turin, "turin")),
    ]);
    assert.deepEqual(new Set(answers.map(({ status }) => status)), new Set([200]));
    assert.deepEqual(asked.sort(), ["milan-1/metrics/resource", "milan-2/metrics/resource"]);
    assert.match(answers[9]?.text ?? "", /namespace="store",pod="web-1"/);
    assert.doesNotMatch(answers[9]?.text ?? "", /namespace="shop/);
  });

  it("tells nobody about others but administrators", async () => {
    const refused = await scrape(turin, "rome");
    assert.equal(refused.status, 403);
    assert.match(refused.text, /user "pool-of-turin" is none of cluster "rome"/);
    assert.equal((await scrape(admin, "rome")).status, 200);
    const stranger = KubeClient.fromKubeconfig(
      await controlPlane("milan").kubeconfigFor({ name: "somebody" }),
    );
    assert.equal((await scrape(stranger, "rome")).status, 403);
    stranger.close();
  });

  it("knows its paths, and takes a node without one for empty", async () => {
    assert.equal((await scrape(rome, "rome", "metrics/none")).status, 400);
    assert.deepEqual(await scrape(rome, "rome", "metrics/probes"), { status: 200, text: "" });
    const discovery = await admin.raw({ path: "/apis/metrics.liqo.io/v1beta1" });
    assert.match(discovery.body.toString(), /"name":"scrape\/metrics"/);
  });

  it("hears nobody but the aggregator", async () => {
    const slice = await admin.get(EndpointSlice, { name: "liqo-metric-agent", namespace: "liqo-system" });
    const status = await new Promise<number | undefined>((resolve, reject) => {
      httpsRequest(
        {
          host: "127.0.0.1",
          port: slice?.ports?.[0]?.port,
          path: "/apis/metrics.liqo.io/v1beta1/scrape/rome/metrics/resource",
          rejectUnauthorized: false,
          headers: { "x-remote-user": "admin", "x-remote-group": "system:masters" },
        },
        (response) => {
          response.resume();
          resolve(response.statusCode);
        },
      )
        .on("error", reject)
        .end();
    });
    assert.equal(status, 401);
  });

  it("goes on when its certificate has expired, which the aggregator does not look at", async () => {
    await agent.end();
    const elevenYearsBack = () => Date.now() - 11 * 365 * 24 * 3_600_000;
    agent = testContext(
      await controlPlane("milan").kubeconfigFor({ name: "metric-agent" }),
      "metric-agent",
      undefined,
      { ...systemClock, now: elevenYearsBack },
    );
    const [port = 0] = await freePorts(1);
    const line = splitCommandLine(["metric-agent", `--port=${port}`]);
    await metricAgent.start(agent, readFlags(line, metricAgent.flags));
    await agent.informers.whenSynced();
    const socket = connect({ host: "127.0.0.1", port, rejectUnauthorized: false });
    await once(socket, "secureConnect");
    assert.ok(Date.parse(socket.getPeerCertificate().valid_to) < Date.now());
    socket.destroy();
    await admin.patch(
      EndpointSlice,
      { name: "liqo-metric-agent", namespace: "liqo-system" },
      { ports: [{ name: "https", port, protocol: "TCP" }] },
      { type: "merge" },
    );
    await until("metrics by the new agent", async () => (await scrape(rome, "rome")).status === 200);
    assert.match((await scrape(rome, "rome")).text, /pod="web-2"/);
  });

  it("says which node failed", async () => {
    for (const server of kubelets.splice(0, 1)) {
      server.closeAllConnections();
      server.close();
    }
    await new Promise((resolve) => setTimeout(resolve, 10_100)); // what it keeps has grown old
    const failed = await scrape(rome, "rome");
    assert.equal(failed.status, 500);
    assert.match(failed.text, /node "milan-1" answered 5\d\d to metrics\/resource/);
  });
});

/** API servers call neither endpoints nor kubelets at loopback addresses. */
function ownAddress(): string {
  const found = Object.values(networkInterfaces())
    .flat()
    .find((each) => each !== undefined && !each.internal && each.family === "IPv4");
  assert.ok(found !== undefined, "this machine has an IPv4 address besides the loopback's");
  return found.address;
}
