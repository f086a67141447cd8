import assert from "node:assert/strict";

import { Configuration, IP, Service } from "../../../runtime/api";
import { KubeClient } from "../../../runtime/kube";
import { CommandError } from "../../../runtime/liqoctl/failure";
import { inBandProxy } from "../../../runtime/liqoctl/peering/in-band";
import { proxyManifests } from "../../../runtime/plan/optional-components";
import type { PeeringSides } from "../../../runtime/plan/peering";
import { MemoryApiServer } from "../../support/memory-api-server";

const sides: PeeringSides = {
  consumer: { clusterId: "rome", tenantNamespace: "to-milan" },
  provider: { clusterId: "milan", tenantNamespace: "guests-from-rome" },
};

describe("the proxy of a provider, through the tunnel", () => {
  let rome: MemoryApiServer;
  let milan: MemoryApiServer;
  const clients: KubeClient[] = [];

  beforeEach(async () => {
    [rome, milan] = await Promise.all([MemoryApiServer.start(), MemoryApiServer.start()]);
    rome.create(Configuration, {
      apiVersion: "networking.liqo.io/v1beta1",
      kind: "Configuration",
      metadata: { name: "milan", namespace: "to-milan", labels: { "liqo.io/remote-cluster-id": "milan" } },
      spec: { remote: { cidr: { pod: ["10.20.0.0/16"], external: ["10.70.0.0/16"] } } },
      status: { remote: { cidr: { pod: ["10.21.0.0/16"], external: ["10.72.0.0/16"] } } },
    });
    milan.create(IP, {
      apiVersion: "ipam.liqo.io/v1alpha1",
      kind: "IP",
      metadata: { name: "api-server-proxy", namespace: "liqo-system" },
      spec: { ip: "10.98.4.5" },
      status: { ip: "10.70.0.9", cidr: "10.70.0.0/16" },
    });
  });
  afterEach(async () => {
    for (const client of clients.splice(0)) client.close();
    await Promise.all([rome.close(), milan.close()]);
  });

  function connect(server: MemoryApiServer): KubeClient {
    const client = KubeClient.fromKubeconfig(server.kubeconfig);
    clients.push(client);
    return client;
  }

  const proxy = () =>
    inBandProxy(
      { call: {} },
      {
        consumer: { client: connect(rome) },
        provider: { client: connect(milan), liqoNamespace: "liqo-system" },
        providerId: "milan",
      },
      sides,
    );
  const service = (port: number) =>
    milan.create(Service, {
      apiVersion: "v1",
      kind: "Service",
      metadata: { name: "liqo-proxy", namespace: "liqo-system" },
      spec: { ports: [{ port }] },
    });

  it("is at the port that its Service has, and at the place that the consumer has for it", async () => {
    service(9443);
    assert.equal(await proxy(), "http://10.72.0.9:9443");
  });

  it("is missed by name", async () => {
    await assert.rejects(proxy(), (error) => {
      assert.ok(error instanceof CommandError);
      assert.match(error.message, /Service liqo-system\/liqo-proxy of milan is not there/);
      return true;
    });
  });

  it("is where an installation puts it", () => {
    const image = { image: "runtime:1", imagePullPolicy: "Always" } as const;
    const names = proxyManifests({ namespace: "liqo-system", ...image, imagePullSecrets: [] })
      .filter(({ kind }) => kind === "Service")
      .map(({ metadata }) => metadata.name);
    assert.deepEqual(names, ["liqo-proxy"]);
  });
});
