import assert from "node:assert/strict";
import { once } from "node:events";
import { readFileSync } from "node:fs";
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";

import { ConfigMap, Namespace, NamespaceOffloading, Node } from "../../runtime/api";
import { packageVersion } from "../../runtime/api/package-root";
import { KubeClient } from "../../runtime/kube";
import type { TelemetryReport } from "../../runtime/telemetry/report";
import { HostRuntime } from "../support/host-runtime";
import { until } from "../support/until";
import { withControlPlanes } from "../support/with-control-planes";

const IDENTITY = "3f0c9a52-6f0e-4a43-9a53-0d7d1f7c2f11";

describe("telemetry that was asked for", function () {
  this.timeout(120_000);
  const controlPlane = withControlPlanes({ rome: { serviceCidr: "10.97.0.0/16" } });
  const reports: TelemetryReport[] = [];
  let status = 200;
  let receiver: Server;
  let runtime: HostRuntime;
  let rome: KubeClient;

  before(async () => {
    receiver = createServer((request, response) => {
      const chunks: Buffer[] = [];
      request.on("data", (chunk: Buffer) => chunks.push(chunk));
      request.on("end", () => {
        assert.equal(request.method, "POST");
        reports.push(JSON.parse(Buffer.concat(chunks).toString("utf8")) as TelemetryReport);
        response.writeHead(status).end();
      });
    });
    receiver.listen(0, "127.0.0.1");
    await once(receiver, "listening");
    const { port } = receiver.address() as AddressInfo;
    rome = KubeClient.fromKubeconfig(controlPlane("rome").kubeconfig);
    runtime = await HostRuntime.start({
      cluster: controlPlane("rome"),
      clusterId: "rome",
      namespace: "liqo",
      settings: {
        telemetry: { endpoint: `http://127.0.0.1:${port}/reports` },
        telemetryIdentity: IDENTITY,
        clusterLabels: { "liqo.io/provider": "aws" },
      },
      flags: { "controller-manager": ["--telemetry-interval=1s"] },
    });
  });
  after(async () => {
    await (runtime as HostRuntime | undefined)?.stop();
    (rome as KubeClient | undefined)?.close();
    receiver.close();
  });
  const latest = async (): Promise<TelemetryReport> => {
    const before = reports.length;
    // The next but one was begun after this call.
    return await until("two reports", () => reports[before + 1]);
  };

  it("says what upstream's says, under a name that says nothing", async () => {
    const held = await rome.get(ConfigMap, { name: "telemetry-identity", namespace: "liqo" });
    assert.deepEqual(held?.data, { CLUSTER_ID_TELEMETRY: IDENTITY });
    await rome.create(Node, {
      apiVersion: "v1",
      kind: "Node",
      metadata: { name: "rome-1" },
      spec: {},
    });
    const nodeInfo = { kernelVersion: "6.12.7", osImage: "Debian 13", architecture: "arm64" };
    await rome.patch(
      Node,
      { name: "rome-1" },
      { status: { nodeInfo } },
      { type: "merge", subresource: "status" },
    );
    const shop = await rome.create(Namespace, {
      apiVersion: "v1",
      kind: "Namespace",
      metadata: { name: "shop" },
    });
    await rome.create(NamespaceOffloading, {
      apiVersion: NamespaceOffloading.apiVersion,
      kind: "NamespaceOffloading",
      metadata: { name: "offloading", namespace: "shop" },
      spec: { namespaceMappingStrategy: "EnforceSameName", podOffloadingStrategy: "Remote" },
    });
    const report = await latest();
    assert.match(report.kubernetesVersion, /^v1\.\d+\.\d+/);
    assert.deepEqual(report, {
      clusterID: IDENTITY,
      liqoVersion: packageVersion(),
      kubernetesVersion: report.kubernetesVersion,
      nodesInfo: { "rome-1": nodeInfo },
      provider: "aws",
      peeringInfo: [],
      namespacesInfo: [
        {
          uid: shop.metadata.uid,
          mappingStrategy: "EnforceSameName",
          offloadingStrategy: "Remote",
          hasClusterSelector: false,
          numOffloadedPods: {},
        },
      ],
    });
  });

  it("goes on after a receiver that takes none, and says so in the log", async () => {
    status = 503;
    await latest();
    await until("the log has it", () =>
      readFileSync(runtime.logFile("controller-manager"), "utf8").includes(
        "the receiver answered 503, not 200",
      ),
    );
    status = 200;
    await latest();
  });
});
