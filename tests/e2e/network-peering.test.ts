/**
 * Three real clusters whose networks are connected by their components: rome with milan, whose networks differ in everything, and rome with turin, whose
 * pods have the very same addresses, and who reach each other's API servers through the tunnel only.
 */
import assert from "node:assert/strict";
import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";

import * as k8s from "@pulumi/kubernetes";
import type * as pulumi from "@pulumi/pulumi";
import type { Stack } from "@pulumi/pulumi/automation";

import * as liqo from "../../components";
import { downCluster, upCluster } from "../../provider/local-cluster/local-clusters";
import { type LocalImages, localImages } from "../../provider/local-cluster/local-images";
import { runOnNode } from "../../provider/local-cluster/native/native-backend";
import { runCommand } from "../../provider/local-cluster/run-command";
import type { RunningCluster } from "../../provider/local-cluster/running-cluster";
import { ensureTools } from "../../provider/local-cluster/toolchain";
import {
  Configuration,
  Connection,
  type Desired,
  EndpointSlice,
  GatewayClient,
  GatewayServer,
  IP,
  type KubeObject,
  Name,
  Namespace,
  Network,
  Pod,
  Secret,
  Service,
} from "../../runtime/api";
import { KubeClient } from "../../runtime/kube";
import { mapAddress } from "../../runtime/networking/address-mapping";
import { Liqoctl } from "../support/liqoctl";
import { ownCheckout } from "../support/local-checkout";
import { type PulumiProject, pulumiProject } from "../support/pulumi-project";
import { until } from "../support/until";

type Side = "rome" | "milan" | "turin";
const SIDES: readonly Side[] = ["rome", "milan", "turin"];
const SPECS = {
  rome: { nodes: 2, podCidr: "10.31.0.0/16", serviceCidr: "10.131.0.0/16", liqoNamespace: "liqo" },
  milan: { nodes: 2, podCidr: "10.62.0.0/18", serviceCidr: "10.162.64.0/20", liqoNamespace: "liqo-system" },
  turin: { nodes: 1, podCidr: "10.31.0.0/16", serviceCidr: "10.131.0.0/16", liqoNamespace: "liqo" },
} as const;

/** Clusters each of whose gateways has a second pod that stands by. */
const REPLICATED: readonly Side[] = ["rome", "milan"];

/** Answers with its own name and the address that it sees of the client. */
const SERVER = `mkdir -p /www/cgi-bin
printf '#!/bin/sh\\necho; echo "$(hostname) $REMOTE_ADDR"\\n' >/www/cgi-bin/who
chmod +x /www/cgi-bin/who
exec httpd -f -p 8080 -h /www`;

/** Asks the API server of its environment, as its own account, and says who answers. */
const ASK_HOME = `
const { readFileSync } = require("node:fs");
const { lookup } = require("node:dns").promises;
const { request } = require("node:https");
const account = (name) => readFileSync("/var/run/secrets/kubernetes.io/serviceaccount/" + name, "utf8");
const { KUBERNETES_SERVICE_HOST: host, KUBERNETES_SERVICE_PORT: port } = process.env;
const headers = { authorization: "Bearer " + account("token") };
lookup(host, 4).then(({ address }) =>
  request({ host, port, path: "/api/v1/nodes", ca: account("ca.crt"), headers, timeout: 5000 }, (response) => {
    let text = "";
    response.on("data", (part) => (text += part));
    response.on("end", () => console.log([host, address, response.statusCode, JSON.parse(text).message].join("\\n")));
  }).end(),
);`;

describe("clusters whose networks are connected", function () {
  this.timeout(5 * 60_000);
  const checkout = ownCheckout("np");
  let project: PulumiProject;
  let images: LocalImages;
  let kubectlPath: string;
  let clusters: Record<Side, RunningCluster>;
  let clients: Record<Side, KubeClient>;
  /** What each node had before anything was installed. */
  const initial = new Map<string, string>();

  before(async function () {
    this.timeout(40 * 60_000); // the first run on a machine builds the tools
    const progress = (line: string) => console.log(`    ${line}`);
    kubectlPath = (await ensureTools(["kubernetes", "etcd", "coredns"], { progress })).of("kubectl");
    images = await localImages(progress);
    const archives = [images.runtime.file, images.busybox.file];
    const up = (name: Side) => {
      const { nodes, podCidr, serviceCidr } = SPECS[name];
      return upCluster({ name, nodes, podCidr, serviceCidr, images: archives }, { progress });
    };
    const [rome, milan, turin, made] = await Promise.all([
      up("rome"),
      up("milan"),
      up("turin"),
      pulumiProject("networks", { progress, resourcePlugins: ["kubernetes", "random"] }),
    ]);
    clusters = { rome, milan, turin };
    clients = {
      rome: KubeClient.fromKubeconfig(rome.kubeconfig),
      milan: KubeClient.fromKubeconfig(milan.kubeconfig),
      turin: KubeClient.fromKubeconfig(turin.kubeconfig),
    };
    project = made;
    for (const side of SIDES) writeFileSync(kubeconfigFile(side), clusters[side].kubeconfig, { mode: 0o600 });
    for (const [side, node] of nodes()) initial.set(node, await networkOf(side, node));
    const begin = performance.now();
    await (await stackOf()).up();
    console.log(`    installed and peered in ${Math.round((performance.now() - begin) / 1000)} s`);
    await Promise.all([
      run("rome", server("rome-a", "default", { nodeName: "rome-1" })),
      run("rome", server("rome-b", "default", { nodeName: "rome-2" })),
      run("milan", server("milan-a", "default", { nodeName: "milan-1" })),
      run("milan", server("milan-b", "default", { nodeName: "milan-2" })),
      run("turin", server("turin-a", "default", { nodeName: "turin-1" })),
    ]);
  });
  after(async () => {
    for (const client of Object.values(clients ?? {})) client.close();
    project?.remove();
    await Promise.all(SIDES.map((side) => downCluster(side)));
  });

  const kubeconfigFile = (side: Side) => join(checkout.folder, `${side}.kubeconfig`);
  const nodes = (): [Side, string][] =>
    SIDES.flatMap((side) => clusters[side].nodeNames.map((node): [Side, string] => [side, node]));

  /** What of the whole there is. */
  interface Parts {
    peered?: boolean;
    /** Whether turin's installation has networking. */
    turin?: boolean;
  }

  const stackOf = (parts: Parts = {}): Promise<Stack> =>
    project.stack("networks", () => Promise.resolve(program(parts)));

  function program({
    peered = true,
    turin: networked = true,
  }: Parts): Record<string, pulumi.Output<unknown>> {
    const installed = (side: Side) => {
      const { kubeconfig, podCidr, serviceCidr, peerApiServerUrl } = clusters[side];
      const provider = liqo.clusterProvider(side, { kubeconfig, clusterIdentifier: side });
      const { clusterId, namespace } = new liqo.Installation(side, {
        cluster: { kubeconfig, provider },
        clusterId: side,
        namespace: SPECS[side].liqoNamespace,
        image: images.runtime.name,
        ...((networked || side !== "turin") && {
          networking: {
            podCidrs: [podCidr],
            serviceCidr,
            reservedSubnets: ["172.30.0.0/15"],
            ...(REPLICATED.includes(side) && { gateway: { replicas: 2 } }),
          },
        }),
        proxy: side !== "milan",
        // Whoever dials that name gets his own API server, unless a proxy dials it elsewhere.
        apiServer: { address: side === "milan" ? peerApiServerUrl : "https://kubernetes.default.svc" },
      });
      return { kubeconfig, provider, clusterId, liqoNamespace: namespace };
    };
    const rome = installed("rome");
    const milan = installed("milan");
    const turin = installed("turin");
    if (!peered) return {};
    const north = new liqo.Peering("rome-milan", {
      consumer: { ...rome, tenantNamespace: "to-milan" },
      provider: milan,
      resources: { cpu: "1", memory: "1Gi" },
      timeoutSeconds: 300,
    });
    const west = new liqo.Peering("rome-turin", {
      consumer: rome,
      provider: turin,
      bidirectional: true,
      inBand: true,
      resources: { cpu: "500m", memory: "512Mi" },
      reverseResources: { cpu: "500m", memory: "512Mi" },
      networking: { server: "consumer", link: { serviceType: "NodePort", mtu: 1320 } },
      timeoutSeconds: 300,
    });
    const offload = (name: string, cluster: typeof rome, dependsOn: liqo.Peering) => {
      const { provider } = cluster;
      const namespace = new k8s.core.v1.Namespace(name, { metadata: { name } }, { provider });
      new liqo.NamespaceOffloading(
        name,
        { cluster, namespace: namespace.metadata.name, podOffloadingStrategy: "LocalAndRemote" },
        { dependsOn },
      );
    };
    offload("shop", rome, north);
    offload("wine", rome, west);
    offload("books", turin, west);
    return { nodeName: north.nodeName };
  }

  function server(name: string, namespace: string, spec: Partial<Pod["spec"]>): Desired<Pod> {
    return {
      apiVersion: "v1",
      kind: "Pod",
      metadata: { name, namespace, labels: { app: "web" } },
      spec: {
        terminationGracePeriodSeconds: 0,
        containers: [
          {
            name: "main",
            image: images.busybox.name,
            command: ["sh", "-c", SERVER],
            readinessProbe: { tcpSocket: { port: 8080 }, periodSeconds: 1 },
          },
        ],
        ...spec,
      },
    };
  }

  /** Makes a pod; returns when it is Ready. */
  async function run(side: Side, pod: Desired<Pod>): Promise<void> {
    await clients[side].create(Pod, pod);
    await until(`pod ${pod.metadata.name ?? ""} of ${side} is Ready`, async () => {
      const found = await clients[side].get(Pod, refOf(pod));
      return found?.status?.conditions?.some(({ type, status }) => type === "Ready" && status === "True");
    });
  }

  const refOf = ({ metadata: { name = "", namespace = "" } }: Desired<Pod>) => ({ name, namespace });

  /** Ends what runs in a pod as a crash would; returns how many processes that were. */
  function killProcessesOf(pod: string): number {
    let count = 0;
    for (const id of readdirSync("/proc").filter((name) => /^\d+$/.test(name))) {
      try {
        const environment = readFileSync(`/proc/${id}/environ`, "utf8").split("\0");
        if (!environment.includes(`POD_NAME=${pod}`)) continue;
        process.kill(Number(id), "SIGKILL");
        count += 1;
      } catch {
        // It has ended by itself.
      }
    }
    return count;
  }

  async function addressOf(side: Side, name: string, namespace = "default"): Promise<string> {
    return (await clients[side].get(Pod, { name, namespace }))?.status?.podIP ?? "";
  }

  /** The address by which a cluster knows a pod of another. */
  async function seenFrom(side: Side, address: string, peer: Side): Promise<string> {
    const all = await clients[side].list(Configuration, {
      labelSelector: `liqo.io/remote-cluster-id=${peer}`,
    });
    const [configuration] = all;
    assert.ok(configuration !== undefined, `${side} has a Configuration for ${peer}`);
    return mapAddress(address, configuration);
  }

  async function exec(side: Side, pod: string, namespace: string, command: string[]): Promise<string> {
    const args = ["--kubeconfig", kubeconfigFile(side), "exec", "-n", namespace, pod, "--", ...command];
    return await runCommand(kubectlPath, args, { timeoutMs: 30_000 });
  }

  /** What a server answers to a pod: its name, and the client's address as it sees it. */
  async function ask(side: Side, client: string, host: string, namespace = "default"): Promise<string> {
    const fetch = ["timeout", "3", "wget", "-qO-", `http://${host}/cgi-bin/who`];
    const answer = await exec(side, client, namespace, fetch);
    return answer.trim().replaceAll(/\[?(::ffff:)?([\d.]+)\]?$/g, "$2");
  }

  /** The same, however long the first packets take. */
  const answer = (side: Side, client: string, host: string, namespace?: string) =>
    until(`${host} answers ${client} of ${side}`, () => ask(side, client, host, namespace), {
      everyMs: 200,
      timeoutMs: 120_000,
    });

  /** Asks until pods of both clusters have answered. */
  async function both(side: Side, client: string, namespace: string, host: string): Promise<void> {
    const seen = new Set<string>();
    await until(
      `the Service answers ${client} of ${side} from both`,
      async () => {
        const [name = ""] = (await ask(side, client, host, namespace).catch(() => "")).split(" ");
        if (name !== "") seen.add(name);
        return seen.size === 2;
      },
      { timeoutMs: 120_000 },
    );
    assert.deepEqual([...seen].sort(), ["at-milan", "at-rome"]);
  }

  it("have nothing to change once what was told is looked at again", async () => {
    const stack = await stackOf();
    const { changeSummary } = await stack.preview({ refresh: true, expectNoChanges: true });
    assert.deepEqual(Object.keys(changeSummary), ["same"]);
  });

  it("reach each other's pods, from every node to every node, and see who it is", async () => {
    for (const [side, peer] of [
      ["rome", "milan"],
      ["milan", "rome"],
    ] as const) {
      for (const from of ["a", "b"]) {
        for (const to of ["a", "b"]) {
          const target = await addressOf(peer, `${peer}-${to}`);
          const own = await addressOf(side, `${side}-${from}`);
          assert.equal(await answer(side, `${side}-${from}`, `${target}:8080`), `${peer}-${to} ${own}`);
        }
      }
    }
  });

  it("do so with the very same pod networks, each by the other's mapped addresses", async () => {
    const romes = await addressOf("rome", "rome-b");
    const turins = await addressOf("turin", "turin-a");
    const turinAtRome = await seenFrom("rome", turins, "turin");
    const romeAtTurin = await seenFrom("turin", romes, "rome");
    assert.notEqual(turinAtRome, turins);
    assert.notEqual(romeAtTurin, romes);
    assert.equal(await answer("rome", "rome-b", `${turinAtRome}:8080`), `turin-a ${romeAtTurin}`);
    assert.equal(await answer("turin", "turin-a", `${romeAtTurin}:8080`), `rome-b ${turinAtRome}`);
  });

  it("answer at one Service, from pods of both, on both sides", async () => {
    await clients.rome.apply(
      Service,
      {
        apiVersion: "v1",
        kind: "Service",
        metadata: { name: "web", namespace: "shop" },
        spec: { selector: { app: "web" }, ports: [{ port: 80, targetPort: 8080 }] },
      },
      { fieldManager: "test", force: true },
    );
    await Promise.all([
      run("rome", server("at-rome", "shop", { nodeSelector: { "kubernetes.io/hostname": "rome-2" } })),
      run("rome", server("at-milan", "shop", { nodeSelector: { "liqo.io/remote-cluster-id": "milan" } })),
    ]);
    const offloaded = await addressOf("rome", "at-milan", "shop");
    assert.match(offloaded, /^10\.62\./, "the pod's address in rome is one that leads to milan");
    await both("rome", "rome-a", "default", "web.shop");
    await both("milan", "milan-a", "default", "web.shop-rome");
    await both("rome", "at-milan", "shop", "web");
  });

  it("let an offloaded pod reach the API server of its home, which knows its account", async () => {
    const { runtime } = images;
    const idle = "setInterval(() => {}, 60_000)";
    const containers = [{ name: "main", image: runtime.name, command: ["node", "-e", idle] }];
    const caller = server("caller", "shop", {
      nodeSelector: { "liqo.io/remote-cluster-id": "milan" },
      containers,
    });
    await run("rome", { ...caller, metadata: { name: "caller", namespace: "shop" } });
    const said = await until(
      "the home API server answers",
      () => exec("rome", "caller", "shop", ["node", "-e", ASK_HOME]),
      { everyMs: 200 },
    );
    const [host, address, status, message] = said.trim().split("\n");
    const home = await clients.rome.get(IP, { name: Name.apiServerIP, namespace: "liqo" });
    assert.equal(host, "kubernetes.default");
    assert.equal(address, await seenFrom("milan", home?.status?.ip ?? "", "rome"));
    assert.equal(status, "403");
    assert.match(message ?? "", /User "system:serviceaccount:shop:default" cannot list resource "nodes"/);
    await clients.rome.delete(Pod, { name: "caller", namespace: "shop" }, { gracePeriodSeconds: 0 });
  });

  for (const [home, peer, namespace] of [
    ["rome", "turin", "wine"],
    ["turin", "rome", "books"],
  ] as const) {
    it(`reach ${peer}'s API server from ${home} through the tunnel, with its streams`, async () => {
      const script = "while :; do echo tick; sleep 1; done";
      const pod = server(`from-${home}`, namespace, {
        nodeSelector: { "liqo.io/remote-cluster-id": peer },
        containers: [{ name: "main", image: images.busybox.name, command: ["sh", "-c", script] }],
      });
      await run(home, pod);
      const secrets = await clients[home].list(Secret, {
        namespace: `liqo-tenant-${peer}`,
        labelSelector: "liqo.io/identity-type=ControlPlane",
      });
      const kubeconfigs = secrets.map(({ data }) =>
        Buffer.from(data?.["kubeconfig"] ?? "", "base64").toString(),
      );
      assert.match(kubeconfigs.join("\n"), /server: "?https:\/\/kubernetes\.default\.svc/);
      assert.match(kubeconfigs.join("\n"), /proxy-url: "?http:\/\/[\d.]+:8118/);
      const name = `from-${home}`;
      const args = ["--kubeconfig", kubeconfigFile(home), "-n", namespace];
      const execute = (...command: string[]) =>
        runCommand(kubectlPath, [...args, "exec", "-i", name, "--", "sh", "-c", ...command], {
          input: "what is typed\n",
          timeoutMs: 30_000,
        });
      assert.equal(await execute("hostname; cat"), `${name}\nwhat is typed\n`);
      await assert.rejects(execute("echo gone >&2; exit 3"), /exit code 3: gone/);
      let followed = "";
      const stop = new AbortController();
      const logs = runCommand(kubectlPath, [...args, "logs", "--follow", "--tail=1", name], {
        signal: stop.signal,
        onOutput: (text) => (followed += text),
      });
      const ended = assert.rejects(logs);
      await until("lines come as they are written", () => followed.split("tick").length > 3);
      stop.abort();
      await ended;
      await clients[home].delete(Pod, { name, namespace }, { gracePeriodSeconds: 0 });
    });
  }

  it("leave the peer's pods out of Services while it cannot be reached, and take them in again", async () => {
    /** Whether each pod of the Service is ready there, by address. */
    const readiness = async (side: Side, namespace: string) => {
      const slices = await clients[side].list(EndpointSlice, {
        namespace,
        labelSelector: "kubernetes.io/service-name=web",
      });
      const all = slices.flatMap(({ endpoints }) => endpoints ?? []);
      return all
        .map(({ addresses, conditions }) => `${addresses.join()} ${conditions?.ready === true}`)
        .sort();
    };
    const become = (side: Side, namespace: string, expected: string[]) =>
      until(
        `endpoints at ${side}: ${expected.join(", ")}`,
        async () => (await readiness(side, namespace)).join() === [...expected].sort().join(),
        { everyMs: 200, timeoutMs: 90_000 },
      );
    const atMilan = await addressOf("rome", "at-milan", "shop");
    const atRome = await addressOf("rome", "at-rome", "shop");
    const romesAtMilan = await seenFrom("milan", atRome, "rome");
    const milansOwn = (await clients.milan.get(Pod, { name: "at-milan", namespace: "shop-rome" }))?.status
      ?.podIP;
    const reached = async () => {
      await become("rome", "shop", [`${atRome} true`, `${atMilan} true`]);
      await become("milan", "shop-rome", [`${milansOwn} true`, `${romesAtMilan} true`]);
    };
    await reached();
    const onMilan = (script: string) =>
      Promise.all(clusters.milan.nodeNames.map((node) => runOnNode("milan", node, ["sh", "-c", script])));
    await onMilan(
      "nft 'add table inet cut; add chain inet cut f { type filter hook forward priority -300; }; add rule inet cut f udp dport 51840 drop; add rule inet cut f udp sport 51840 drop'",
    );
    try {
      await become("rome", "shop", [`${atRome} true`, `${atMilan} false`]);
      await become("milan", "shop-rome", [`${milansOwn} true`, `${romesAtMilan} false`]);
      const names = new Set<string>();
      for (let count = 0; count < 10; count++) {
        const [name = ""] = (await answer("rome", "rome-a", "web.shop")).split(" ");
        names.add(name);
      }
      assert.deepEqual([...names], ["at-rome"]);
    } finally {
      await onMilan("nft delete table inet cut");
    }
    await reached();
    await both("rome", "rome-a", "default", "web.shop");
  });

  /** A pod of rome reaches one of the peer by the address that rome has for it. */
  async function romeReaches(peer: "milan" | "turin", pod: string): Promise<void> {
    const address = await addressOf(peer, pod);
    await answer("rome", "rome-b", `${await seenFrom("rome", address, peer)}:8080`);
  }

  /** The pods of a cluster's gateway to a peer: the one with the label by which it is found, and the others. */
  async function gatewayPods(side: Side, peer: Side): Promise<{ active: Pod[]; others: Pod[] }> {
    const { metadata } =
      (await clients[side].list(Configuration, { labelSelector: `liqo.io/remote-cluster-id=${peer}` })).at(
        0,
      ) ?? assert.fail();
    const pods = await clients[side].list(Pod, {
      namespace: metadata.namespace ?? "",
      labelSelector: "networking.liqo.io/component=gateway",
    });
    const isActive = (pod: Pod) => pod.metadata.labels?.["networking.liqo.io/active"] === "true";
    return { active: pods.filter(isActive), others: pods.filter((pod) => !isActive(pod)) };
  }

  it("have one active gateway each, whose peers are led to no other", async () => {
    for (const [side, peer] of [
      ["milan", "rome"],
      ["rome", "milan"],
      ["rome", "turin"],
      ["turin", "rome"],
    ] as const) {
      const { active, others } = await gatewayPods(side, peer);
      assert.deepEqual([active.length, others.length], [1, REPLICATED.includes(side) ? 1 : 0], side);
    }
  });

  for (const [side, peer, pod] of [
    ["milan", "rome", "milan-b"],
    ["rome", "milan", "milan-b"],
    ["turin", "rome", "turin-a"],
  ] as const) {
    const other = side === "rome" ? peer : side;
    it(`come back by themselves when ${side}'s active gateway is killed`, async () => {
      const before = await gatewayPods(side, peer);
      const [gateway = assert.fail()] = before.active;
      const { uid, name } = gateway.metadata;
      const begin = performance.now();
      assert.ok(killProcessesOf(name) > 0, `${name} has processes`);
      await clients[side].delete(Pod, gateway.metadata, { gracePeriodSeconds: 0, uid });
      await until(`${side} has an active gateway again`, async () => {
        const { active } = await gatewayPods(side, peer);
        return active.some(({ metadata }) => metadata.uid !== uid);
      });
      await romeReaches(other === "turin" ? "turin" : "milan", pod);
      const seconds = (performance.now() - begin) / 1000;
      console.log(`      gateway of ${side}: back after ${seconds.toFixed(1)} s`);
      const { active } = await gatewayPods(side, peer);
      assert.equal(active.length, 1, "one carries the traffic");
      if (!REPLICATED.includes(side)) return;
      assert.deepEqual(
        active.map(({ metadata }) => metadata.uid),
        before.others.map(({ metadata }) => metadata.uid),
        "the one that stood by has taken over",
      );
      if (side !== "milan") return;
      const slices = await clients.milan.list(EndpointSlice, {
        namespace: gateway.metadata.namespace ?? "",
        labelSelector: `kubernetes.io/service-name=gw-rome`,
      });
      const addresses = slices.flatMap(({ endpoints }) => (endpoints ?? []).flatMap((one) => one.addresses));
      assert.deepEqual(addresses, [active[0]?.status?.podIP], "the server's Service leads to it alone");
    });
  }

  it("follow a server's new address with a run that looks at what there is", async () => {
    const ref = { name: "gw-rome", namespace: "liqo-tenant-rome" };
    const told = async () => (await gatewayClient()).spec.endpoint?.addresses?.join();
    const gatewayClient = async () => {
      const [found = assert.fail()] = await clients.rome.list(GatewayClient, { namespace: "to-milan" });
      return found;
    };
    const addressAtMilan = async () => {
      const [found] = await clients.milan.list(GatewayServer, { namespace: ref.namespace });
      return found?.status?.endpoint?.addresses?.join();
    };
    const before = await told();
    assert.ok(before !== undefined && before === (await addressAtMilan()));
    // The cloud gives the load balancer another address.
    const services = await clients.milan.list(Service);
    const taken = services.flatMap(({ status }) =>
      (status?.loadBalancer?.ingress ?? []).map(({ ip = "" }) => ip),
    );
    const [, network = "", last = ""] = /^(.*\.)(\d+)$/.exec(before) ?? [];
    const next = Array.from({ length: 5 }, (_, index) => `${network}${Number(last) + index + 1}`);
    const ip = next.find((address) => !taken.includes(address)) ?? assert.fail();
    const status = { loadBalancer: { ingress: [{ ip }] } };
    await clients.milan.patch(Service, ref, { status }, { type: "merge", subresource: "status" });
    await until("the server tells its new address", async () => (await addressAtMilan()) === ip);
    assert.equal(await told(), before, "nobody but who made the client changes it");

    const stack = await stackOf();
    const { changeSummary } = await stack.preview({ refresh: true });
    assert.ok((changeSummary.update ?? 0) > 0, JSON.stringify(changeSummary));
    const uid = (await gatewayClient()).metadata.uid;
    await stack.up({ refresh: true });
    assert.equal(await told(), ip);
    assert.equal((await gatewayClient()).metadata.uid, uid);
    await romeReaches("milan", "milan-a");
  });

  it("are connected by liqoctl, which follows the server's address when it is run again, and parted by it", async () => {
    const cli = new Liqoctl();
    try {
      await cli.prepare({ milan: clusters.milan.kubeconfig, turin: clusters.turin.kubeconfig });
      const network = async (line: string) => {
        const { status, out, err } = await cli.run(
          `network ${line} --kubeconfig milan.kubeconfig --namespace liqo-system --remote-kubeconfig turin.kubeconfig --skip-confirm`,
        );
        assert.equal(status, 0, `liqoctl network ${line}\n${out}${err}`);
        return out + err;
      };
      const connect = "connect --gw-server-service-type NodePort --wait";
      await network(connect);
      const turins = await seenFrom("milan", await addressOf("turin", "turin-a"), "turin");
      const milans = await seenFrom("turin", await addressOf("milan", "milan-a"), "milan");
      assert.equal(await answer("milan", "milan-a", `${turins}:8080`), `turin-a ${milans}`);

      const ref = { name: "turin", namespace: "liqo-tenant-turin" };
      const client = async () => (await clients.milan.get(GatewayClient, ref)) ?? assert.fail();
      const { metadata, spec } = await client();
      await network(connect);
      assert.equal((await client()).metadata.resourceVersion, metadata.resourceVersion, "nothing to write");
      // As if the server had had another address when it was told.
      const endpoint = { ...spec.endpoint, addresses: ["192.0.2.77"] };
      await clients.milan.patch(GatewayClient, ref, { spec: { endpoint } }, { type: "merge" });
      await network(connect);
      assert.deepEqual((await client()).spec.endpoint, spec.endpoint);
      assert.equal(await answer("milan", "milan-a", `${turins}:8080`), `turin-a ${milans}`);

      const left = async () => {
        const kinds = [GatewayClient, GatewayServer, Connection, Configuration] as const;
        const found: string[] = [];
        for (const [side, namespace] of [
          ["milan", "liqo-tenant-turin"],
          ["turin", "liqo-tenant-milan"],
        ] as const) {
          for (const kind of kinds) {
            const objects = await clients[side].list<KubeObject>(kind, { namespace });
            found.push(...objects.map((object) => `${side} ${object.kind}`));
          }
        }
        return found.sort().join();
      };
      await network("disconnect");
      const configurations = "milan Configuration,turin Configuration";
      await until("only the places of networks are left", async () => (await left()) === configurations);
      await network("reset");
      await until("nothing is left", async () => (await left()) === "");
      await clients.milan.delete(Namespace, { name: "liqo-tenant-turin" });
      await clients.turin.delete(Namespace, { name: "liqo-tenant-milan" });
    } finally {
      cli.remove();
    }
  });

  it("leave nothing on the nodes when they part", async () => {
    await clients.rome.delete(Pod, { name: "at-milan", namespace: "shop" });
    await assert.rejects((await stackOf({ peered: false, turin: false })).up(), (error) => {
      assert.match(String(error), /networking of the installation at \S+ is still in use: Configuration/);
      assert.match(String(error), /run once, and then take networking out of the installation/);
      return true;
    });
    await (await stackOf({ peered: false })).up();
    await (await stackOf({ peered: false, turin: false })).up();
    assert.deepEqual(await clients.turin.list(Network), []);
    const held = (await clients.turin.list(IP)).filter(({ metadata }) => metadata.finalizers?.length);
    assert.deepEqual(held, []);
    for (const [side, node] of nodes()) {
      let now = "";
      try {
        await until(
          `${node} is as before`,
          async () => (now = await networkOf(side, node)) === initial.get(node),
        );
      } catch (error) {
        assert.equal(now, initial.get(node), `${node}: ${String(error)}`);
      }
    }
    const { changeSummary } = await (
      await stackOf({ peered: false, turin: false })
    ).preview({ expectNoChanges: true });
    assert.deepEqual(Object.keys(changeSummary), ["same"]);
  });

  /** What of a node's network could be ours: interfaces, rules, routes and tables, without those of Kubernetes and its CNI. */
  async function networkOf(side: Side, node: string): Promise<string> {
    const script = [
      "ip -o link | grep -o -E 'liqo[^:@]*'",
      "ip rule",
      "ip route show table all | grep ' table ' | grep -v ' table local'",
      "nft list tables | grep -v -E '(kube-proxy|mangle|filter|nat|pulumi-liqo)$'",
    ].join(";");
    return (await runOnNode(side, node, ["sh", "-c", `${script};true`])).trim();
  }
});
