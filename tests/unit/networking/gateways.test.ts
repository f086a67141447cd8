import assert from "node:assert/strict";

import {
  ClusterRoleBinding,
  Deployment,
  Event,
  GatewayClient,
  GatewayServer,
  Pod,
  RoleBinding,
  Secret,
  Service,
  ServiceAccount,
  WgGatewayClient,
  WgGatewayClientTemplate,
  WgGatewayServer,
  WgGatewayServerTemplate,
} from "../../../runtime/api";
import { wireGuardPublicKey } from "../../../runtime/identity";
import type { MemoryApiServer } from "../../support/memory-api-server";
import { endRuns, inventory, quiet, run, survivesEveryDeath } from "../../support/memory-run";
import { until } from "../../support/until";
import { deployment, labels, namespace, networking, scenario } from "./gateway-scenario";

const kinds = [ClusterRoleBinding, RoleBinding, Deployment, Secret, Service, ServiceAccount, WgGatewayServer];
const clusterWideBinding = `liqo-gateway-clusterwide-${namespace}.rome`;
const gateway = (server: MemoryApiServer) => server.get(GatewayServer, `${namespace}/rome`);
const publicKey = (server: MemoryApiServer) => server.get(Secret, `${namespace}/gw-rome`)?.data?.publicKey;

describe("gateways", function () {
  this.timeout(180_000);
  afterEach(endRuns);

  it("run what their template says, and say where they are", async () => {
    const server = await run(scenario);
    await quiet(server);
    const status = gateway(server)?.status;
    assert.deepEqual(status?.endpoint, { addresses: ["172.19.0.3"], port: 31840, protocol: "UDP" });
    assert.deepEqual(status.internalEndpoint, { ip: "10.243.2.6", node: "m2" });
    assert.equal(status.secretRef?.name, "gw-rome");
    assert.equal(status.observedGeneration, gateway(server)?.metadata.generation);
    const wg = server.get(WgGatewayServer, `${namespace}/rome`);
    assert.equal(wg?.status?.observedGeneration, wg?.metadata.generation);
    assert.deepEqual(status.serverRef, {
      ...networking,
      kind: "WgGatewayServer",
      name: "rome",
      namespace,
      uid: wg?.metadata.uid,
    });
    assert.deepEqual(inventory(server, kinds), [
      `ClusterRoleBinding /${clusterWideBinding}`,
      `Deployment ${namespace}/gw-rome`,
      `RoleBinding liqo-system/liqo-gateway-liqo-ns-${namespace}.rome`,
      `RoleBinding ${namespace}/liqo-gateway-rome`,
      `Secret ${namespace}/gw-rome`,
      `Service ${namespace}/gw-rome`,
      `ServiceAccount ${namespace}/rome`,
      `WgGatewayServer ${namespace}/rome networking.liqo.io/clusterrolebinding`,
    ]);

    const pods = server.get(Deployment, `${namespace}/gw-rome`)?.spec.template;
    assert.deepEqual(pods?.spec?.containers[0]?.args, ["--mtu=1340"]);
    assert.deepEqual(pods.spec.volumes, [{ name: "wireguard-config", secret: { secretName: "gw-rome" } }]);
    assert.equal(pods.metadata?.labels?.["networking.liqo.io/gateway-name"], "rome");
    const secret = server.get(Secret, `${namespace}/gw-rome`);
    assert.ok(secret);
    assert.equal(wireGuardPublicKey(secret.data?.privateKey ?? ""), secret.data?.publicKey);
    assert.deepEqual(secret.metadata.ownerReferences, [
      { ...networking, kind: "GatewayServer", name: "rome", uid: gateway(server)?.metadata.uid },
    ]);
    assert.deepEqual(server.get(ClusterRoleBinding, clusterWideBinding)?.subjects, [
      { kind: "ServiceAccount", name: "rome", namespace },
    ]);
  });

  it("come to the same objects, with one pair of keys, whichever write is the last one of a process", async function () {
    this.timeout(300_000);
    let expected: string[] | undefined;
    await survivesEveryDeath(scenario, (server, survived) => {
      const found = inventory(server, kinds);
      expected ??= found;
      assert.deepEqual(found, expected, `dead after ${survived} writes`);
      assert.equal(server.writes.filter((write) => write.startsWith("POST /secrets")).length, 1);
    });
  });

  it("follow their template, and leave alone what the cluster adds", async () => {
    const server = await run(scenario);
    server.change(Service, `${namespace}/gw-rome`, {
      spec: { clusterIP: "10.95.7.7", externalTrafficPolicy: "Cluster" },
    });
    server.change(Deployment, `${namespace}/gw-rome`, {
      metadata: { annotations: { "deployment.kubernetes.io/revision": "1" } },
      spec: { progressDeadlineSeconds: 600 },
    });
    await quiet(server);
    assert.equal(server.get(Service, `${namespace}/gw-rome`)?.spec?.clusterIP, "10.95.7.7");

    const keys = publicKey(server);
    server.change(WgGatewayServerTemplate, "liqo-system/wireguard-server", {
      spec: {
        template: {
          spec: {
            deployment: { ...deployment("pulumi-liqo/runtime:2"), metadata: null },
            service: { metadata: null },
          },
        },
      },
    });
    await until("the new image", () => {
      const found = server.get(Deployment, `${namespace}/gw-rome`);
      return (
        found?.spec.template.spec?.containers[0]?.image === "pulumi-liqo/runtime:2" &&
        found.metadata.labels?.tier === undefined
      );
    });
    await until(
      "no annotation",
      () =>
        server.get(Service, `${namespace}/gw-rome`)?.metadata.annotations?.["cloud/internal"] === undefined,
    );
    assert.equal(server.get(Service, `${namespace}/gw-rome`)?.spec?.clusterIP, "10.95.7.7");
    assert.equal(publicKey(server), keys);
    await quiet(server);
  });

  it("give up an address of the load balancer that is asked for no more", async () => {
    const server = await run(scenario);
    const service = () => server.get(Service, `${namespace}/gw-rome`);
    server.change(Service, `${namespace}/gw-rome`, { spec: { clusterIP: "10.95.7.7" } });
    const asked = (loadBalancerIP: string | null) =>
      server.change(WgGatewayServerTemplate, "liqo-system/wireguard-server", {
        spec: { template: { spec: { service: { spec: { loadBalancerIP } } } } },
      });
    asked("192.0.2.77");
    await until("the address", () => service()?.spec?.loadBalancerIP === "192.0.2.77");
    asked(null);
    await until("no address", () => service()?.spec?.loadBalancerIP === undefined);
    assert.equal(service()?.spec?.clusterIP, "10.95.7.7");
    await quiet(server);
  });

  it("get back their Service, and their pod a new image while none runs", async () => {
    const server = await run(scenario);
    server.delete(Pod, `${namespace}/gw-rome-0`);
    await until("no pod", () => gateway(server)?.status?.internalEndpoint === undefined);
    assert.deepEqual(gateway(server)?.status?.endpoint, {
      addresses: ["172.19.0.3"],
      port: 31840,
      protocol: "UDP",
    });
    server.delete(Service, `${namespace}/gw-rome`);
    server.change(WgGatewayServerTemplate, "liqo-system/wireguard-server", {
      spec: { template: { spec: { deployment: deployment("pulumi-liqo/runtime:3") } } },
    });
    await until("both", () => {
      const image = server.get(Deployment, `${namespace}/gw-rome`)?.spec.template.spec?.containers[0]?.image;
      return image === "pulumi-liqo/runtime:3" && server.get(Service, `${namespace}/gw-rome`) !== undefined;
    });
    await quiet(server);
  });

  it("stand beside another one in their namespace, each with its own pod, keys and address", async () => {
    const server = await run(scenario);
    server.create(GatewayServer, {
      ...networking,
      kind: "GatewayServer",
      metadata: { name: "turin", namespace, labels: { "liqo.io/remote-cluster-id": "turin" } },
      spec: {
        mtu: 1320,
        serverTemplateRef: {
          kind: "WgGatewayServerTemplate",
          name: "wireguard-server",
          namespace: "liqo-system",
        },
        endpoint: { port: 51841, serviceType: "NodePort", nodePort: 31841 },
      },
    });
    server.create(Pod, {
      apiVersion: "v1",
      kind: "Pod",
      metadata: {
        name: "gw-turin-0",
        namespace,
        labels: {
          "networking.liqo.io/component": "gateway",
          "networking.liqo.io/active": "true",
          "networking.liqo.io/gateway-name": "turin",
          "networking.liqo.io/gateway-namespace": namespace,
        },
      },
      spec: { nodeName: "m2", containers: [] },
      status: { phase: "Running", podIP: "10.243.2.9" },
    });
    const statuses = () =>
      ["rome", "turin"].map((name) => {
        const { endpoint, internalEndpoint, secretRef } =
          server.get(GatewayServer, `${namespace}/${name}`)?.status ?? {};
        return [endpoint?.port, internalEndpoint?.ip, secretRef?.name];
      });
    const expected = [
      [31840, "10.243.2.6", "gw-rome"],
      [31841, "10.243.2.9", "gw-turin"],
    ];
    await until("both say where they are", () => JSON.stringify(statuses()) === JSON.stringify(expected));
    const keyOf = (name: string) => server.get(Secret, `${namespace}/${name}`)?.data?.publicKey;
    assert.notEqual(keyOf("gw-rome"), keyOf("gw-turin"));
    await quiet(server);
  });

  it("go without a trace", async () => {
    const server = await run(scenario);
    server.delete(GatewayServer, `${namespace}/rome`);
    await until("nothing", () => inventory(server, kinds).length === 0);
    await quiet(server);
  });

  it("of clients use the keys that they are given, and say what is wrong with them", async () => {
    const server = await run({
      ...scenario,
      prepare: (cluster) => {
        cluster.create(WgGatewayClientTemplate, {
          ...networking,
          kind: "WgGatewayClientTemplate",
          metadata: { name: "wireguard-client", namespace: "liqo-system" },
          spec: {
            objectKind: { apiVersion: networking.apiVersion, kind: "WgGatewayClient" },
            template: {
              metadata: { name: "{{ .Name }}", namespace: "{{ .Namespace }}" },
              spec: { deployment: deployment(), secretRef: { name: "{{ .Spec.SecretRef.Name }}" } },
            },
          },
        });
        cluster.create(GatewayClient, {
          ...networking,
          kind: "GatewayClient",
          metadata: { name: "rome", namespace, labels },
          spec: {
            clientTemplateRef: { name: "wireguard-client", namespace: "liqo-system" },
            endpoint: { addresses: ["172.18.0.2"], port: 51840 },
            secretRef: { name: "my-keys" },
          },
        });
      },
      done: (cluster) =>
        cluster.list(Event).some(({ message }) => message?.includes("my-keys, which does not exist")),
    });
    const wrong = { apiVersion: "v1", kind: "Secret", metadata: { name: "my-keys", namespace } } as const;
    server.create(Secret, {
      ...wrong,
      metadata: {
        ...wrong.metadata,
        labels: { "liqo.io/remote-cluster-id": "rome", "networking.liqo.io/gateway-resource": "true" },
      },
      data: { privateKey: "AA==" },
    });
    await until("the missing key", () =>
      server.list(Event).some(({ message }) => message?.includes("has no publicKey")),
    );
    server.change(Secret, `${namespace}/my-keys`, { data: { publicKey: "AA==" } });
    await until(
      "the status",
      () => server.get(GatewayClient, `${namespace}/rome`)?.status?.secretRef?.name === "my-keys",
    );
    assert.equal(server.get(WgGatewayClient, `${namespace}/rome`)?.status?.secretRef?.name, "my-keys");
    assert.deepEqual(server.list(Service), []);
    assert.deepEqual(
      server.get(Deployment, `${namespace}/gw-rome`)?.spec.template.spec?.volumes?.[0]?.secret?.secretName,
      "my-keys",
    );
  });

  it("say what is wrong with their template", async () => {
    const says = (part: string, change: (server: MemoryApiServer) => void) =>
      run({
        ...scenario,
        prepare: (cluster) => {
          scenario.prepare(cluster);
          change(cluster);
        },
        done: (cluster) => cluster.list(Event).some(({ message }) => message?.includes(part)),
      });
    await says(
      "spec.serverTemplateRef names WgGatewayServerTemplate liqo-system/wireguard-server, which does not exist",
      (server) => server.delete(WgGatewayServerTemplate, "liqo-system/wireguard-server"),
    );
    await says("{{ .Spec.Mtu }}: there is no field Mtu", (server) =>
      server.change(WgGatewayServerTemplate, "liqo-system/wireguard-server", {
        spec: { template: { spec: { service: { spec: { externalName: "{{ .Spec.Mtu }}" } } } } },
      }),
    );
    await says(
      "the template makes a example.com/v1 Tunnel; a GatewayServer becomes a WgGatewayServer",
      (server) =>
        server.change(WgGatewayServerTemplate, "liqo-system/wireguard-server", {
          spec: { objectKind: { apiVersion: "example.com/v1", kind: "Tunnel" } },
        }),
    );
  });
});
