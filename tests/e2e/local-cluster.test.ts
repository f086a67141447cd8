import assert from "node:assert/strict";
import { existsSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { availableParallelism } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";

import { cacheFolder } from "../../provider/local-cluster/folders";
import {
  downAllClusters,
  downCluster,
  getCluster,
  importImages,
  listClusters,
  resumeClusters,
  upCluster,
} from "../../provider/local-cluster/local-clusters";
import {
  hierarchies,
  podGroupWeight,
  processesIn,
  trackingHierarchy,
} from "../../provider/local-cluster/native/control-groups";
import { linkExists } from "../../provider/local-cluster/native/host-network";
import { nativeLayout } from "../../provider/local-cluster/native/layout";
import { runOnNode } from "../../provider/local-cluster/native/native-backend";
import { identifyProcess } from "../../provider/local-cluster/process-identity";
import { runCommand } from "../../provider/local-cluster/run-command";
import type { RunningCluster } from "../../provider/local-cluster/running-cluster";
import { withClusters } from "../../provider/local-cluster/with-clusters";
import { ensureTools } from "../../provider/local-cluster/toolchain";
import { ensureSystemPackages } from "../../provider/local-cluster/system-packages";
import { buildBusyboxImage, buildRuntimeImage, type ImageArchive } from "../../runtime/image";
import { busyboxPod, service, webPod } from "../support/busybox-objects";
import { ownCheckout } from "../support/local-checkout";
import { killProcessesIn, namespacesOf, type Traces, tracesOfMachine } from "../support/machine-traces";

describe("native local clusters", function () {
  this.timeout(240_000);
  const { folder: state, prefix } = ownCheckout("lc");
  const otherPrefix = prefix.replace("lc", "ld");
  let traces: Traces;
  let clusters: { rome: RunningCluster; milan: RunningCluster };
  let runtimeImage: ImageArchive;
  let kubectlPath: string;

  const kubectl = async (name: "rome" | "milan", ...args: string[]) => {
    const file = join(state, `${name}.kubeconfig`);
    writeFileSync(file, clusters[name].kubeconfig, { mode: 0o600 });
    return runCommand(kubectlPath, ["--kubeconfig", file, ...args], { timeoutMs: 60_000 });
  };
  const apply = async (name: "rome" | "milan", ...objects: object[]) => {
    const file = join(state, "objects.json");
    writeFileSync(file, JSON.stringify({ apiVersion: "v1", kind: "List", items: objects }));
    await kubectl(name, "apply", "-f", file);
  };
  const untilRunning = (name: "rome" | "milan", ...pods: string[]) =>
    kubectl(name, "wait", "--for=condition=Ready", "--timeout=60s", ...pods.map((pod) => `pod/${pod}`));

  before(async function () {
    this.timeout(40 * 60_000); // the first run on a machine builds the tools
    const progress = (line: string) => console.log(`    ${line}`);
    await ensureSystemPackages(progress);
    kubectlPath = (await ensureTools(["kubernetes", "etcd", "coredns"], { progress })).of("kubectl");
    const entryPoint = join(state, "main.js");
    writeFileSync(
      entryPoint,
      'console.log("runtime", process.version, process.argv.slice(2).join());setInterval(() => {}, 1e6);',
    );
    const folder = join(cacheFolder(), "images");
    const busybox = await buildBusyboxImage(folder);
    const runtime = await buildRuntimeImage({ folder, entryPoint });
    runtimeImage = runtime;
    traces = await tracesOfMachine(prefix, otherPrefix);

    const start = performance.now();
    const [rome, milan] = await Promise.all([
      upCluster(
        {
          name: "rome",
          backend: "native",
          podCidr: "10.210.0.0/16",
          serviceCidr: "10.110.0.0/16",
          nodes: 2,
          images: [busybox.file],
        },
        { progress },
      ),
      upCluster(
        {
          name: "milan",
          backend: "native",
          podCidr: "10.220.0.0/20",
          serviceCidr: "10.120.0.0/22",
          images: [busybox.file],
        },
        { progress },
      ),
    ]);
    console.log(
      `    two clusters, three nodes, Ready in ${((performance.now() - start) / 1000).toFixed(1)} s`,
    );
    clusters = { rome, milan };
  });

  it("schedules pods on every node, whose addresses come from the cluster's range", async () => {
    await apply("rome", webPod("web-1", "rome-1"), webPod("web-2", "rome-2"));
    await untilRunning("rome", "web-1", "web-2");
    const [one, two] = await Promise.all(
      ["web-1", "web-2"].map((pod) => kubectl("rome", "get", "pod", pod, "-o", "jsonpath={.status.podIP}")),
    );
    assert.match(one ?? "", /^10\.210\.0\./);
    assert.match(two ?? "", /^10\.210\.1\./);
    assert.equal(
      await kubectl("rome", "exec", "web-1", "--", "wget", "-qO-", `http://${two}:8080`),
      "web-2\n",
    );
    assert.equal(
      await kubectl("rome", "exec", "web-2", "--", "wget", "-qO-", `http://${one}:8080`),
      "web-1\n",
    );
    const range = await kubectl("rome", "get", "node", "rome-2", "-o", "jsonpath={.spec.podCIDR}");
    assert.equal(range, "10.210.1.0/24");
  });

  it("weigh against the rest of the machine as its three nodes would by themselves", async () => {
    const { mountPoint, version } =
      (await hierarchies()).find(({ controllers }) => controllers.includes("cpu")) ??
      trackingHierarchy(await hierarchies());
    const [group = ""] = nativeLayout().cgroup.split("/");
    const { shares, weight } = podGroupWeight(3, availableParallelism());
    const file = join(mountPoint, group, version === 1 ? "cpu.shares" : "cpu.weight");
    assert.equal(readFileSync(file, "utf8").trim(), String(version === 1 ? shares : weight));
  });

  it("resolves the names of services", async () => {
    await apply("rome", service("web", { type: "ClusterIP" }));
    await eventually(async () => {
      assert.match(
        await kubectl("rome", "exec", "web-2", "--", "wget", "-qO-", "http://web.default.svc.cluster.local"),
        /^web-[12]\n$/,
      );
    });
    assert.match(
      await kubectl("rome", "exec", "web-1", "--", "nslookup", "kubernetes.default.svc.cluster.local"),
      /10\.110\.0\.1/,
    );
  });

  it("passes logs, exec with its exit code, and standard input through the kubelet", async () => {
    assert.equal(await kubectl("rome", "logs", "web-1"), "serving web-1\n");
    await assert.rejects(kubectl("rome", "exec", "web-2", "--", "sh", "-c", "exit 7"), /exit code 7/);
  });

  it("binds claims of the default storage class and keeps their data while pods come and go", async () => {
    const claim = {
      apiVersion: "v1",
      kind: "PersistentVolumeClaim",
      metadata: { name: "data" },
      spec: { accessModes: ["ReadWriteOnce"], resources: { requests: { storage: "1Mi" } } },
    };
    const pod = (name: string, command: string) =>
      busyboxPod(
        name,
        command,
        { volumeMounts: [{ name: "data", mountPath: "/data" }] },
        { volumes: [{ name: "data", persistentVolumeClaim: { claimName: "data" } }] },
      );
    await apply("rome", claim, pod("writer", "echo kept >/data/file; sleep 1000"));
    await untilRunning("rome", "writer");
    assert.equal(await kubectl("rome", "get", "pvc", "data", "-o", "jsonpath={.status.phase}"), "Bound");
    await kubectl("rome", "delete", "pod", "writer", "--now");
    await apply("rome", pod("reader", "cat /data/file; sleep 1000"));
    await untilRunning("rome", "reader");
    assert.equal(await kubectl("rome", "logs", "reader"), "kept\n");
    await kubectl("rome", "delete", "pod/reader", "pvc/data", "--now");
    await eventually(async () => {
      assert.equal(await kubectl("rome", "get", "pv", "-o", "name"), "");
      assert.deepEqual(readdirSync(nativeLayout().cluster("rome").volumes), []);
    });
  });

  it("gives load balancers an address and node ports that the other cluster's pods reach", async () => {
    await apply("rome", service("shared", { type: "LoadBalancer" }));
    await apply(
      "rome",
      service("local", { type: "LoadBalancer", externalTrafficPolicy: "Local", selector: { name: "web-2" } }),
    );
    await apply("milan", busyboxPod("client", "sleep 1000"));
    await untilRunning("milan", "client");
    const field = (name: string, path: string) =>
      kubectl("rome", "get", "service", name, "-o", `jsonpath=${path}`);
    let shared = "";
    let local = "";
    await eventually(async () => {
      shared = await field("shared", "{.status.loadBalancer.ingress[0].ip}");
      local = await field("local", "{.status.loadBalancer.ingress[0].ip}");
      assert.ok(shared !== "" && local !== "" && shared !== local, `addresses ${shared} and ${local}`);
    });
    const fetch = (url: string) => kubectl("milan", "exec", "client", "--", "wget", "-qO-", url);
    await eventually(async () => assert.match(await fetch(`http://${shared}`), /^web-[12]\n$/));
    await eventually(async () => assert.equal(await fetch(`http://${local}`), "web-2\n"));
    const port = await field("shared", "{.spec.ports[0].nodePort}");
    const node = new URL(clusters.rome.peerApiServerUrl).hostname;
    assert.match(await fetch(`http://${node}:${port}`), /^web-[12]\n$/);
    await kubectl("rome", "delete", "service", "shared");
    await eventually(async () => {
      assert.ok(
        !(await runOnNode("rome", "rome-1", ["ip", "address", "show", "dev", "eth0"])).includes(shared),
      );
    });
  });

  it("runs the runtime's image and its network tools in a pod that is not privileged", async () => {
    await importImages("milan", [runtimeImage.file]);
    const securityContext = { privileged: false, capabilities: { add: ["NET_ADMIN", "NET_RAW"] } };
    await apply("milan", {
      apiVersion: "v1",
      kind: "Pod",
      metadata: { name: "tools" },
      spec: {
        terminationGracePeriodSeconds: 0,
        containers: [
          {
            name: "main",
            image: runtimeImage.name,
            command: ["liqo-runtime"],
            args: ["a,b"],
            securityContext,
            volumeMounts: [{ name: "tun", mountPath: "/dev/net/tun" }],
          },
        ],
        volumes: [{ name: "tun", hostPath: { path: "/dev/net/tun", type: "CharDevice" } }],
      },
    });
    await untilRunning("milan", "tools");
    assert.match(await kubectl("milan", "logs", "tools"), /^runtime v24\.\d+\.\d+ a,b$/m);
    const script = `set -e
      wireguard-go wg0 >/dev/null 2>&1
      wg show wg0 listen-port >/dev/null
      ip link add vx0 type vxlan id 5 dstport 4789 dev eth0
      ip -json link show dev vx0 >/dev/null
      nft add table ip demo
      nft list tables
      conntrack -C >/dev/null`;
    assert.equal(await kubectl("milan", "exec", "tools", "--", "sh", "-c", script), "table ip demo\n");
  });

  it("finds a running cluster again and refuses another specification under its name", async () => {
    const spec = { backend: "native", podCidr: "10.220.0.0/20", serviceCidr: "10.120.0.0/22" } as const;
    const again = await withClusters({ milan: spec }, ({ milan }) => Promise.resolve(milan));
    assert.equal(again.kubeconfig, clusters.milan.kubeconfig);
    await assert.rejects(
      upCluster({ name: "milan", backend: "native", podCidr: "10.221.0.0/16", serviceCidr: "10.120.0.0/22" }),
      /podCidr 10\.220\.0\.0\/20 instead of 10\.221\.0\.0\/16/,
    );
  });

  it("runs beside another checkout's cluster of the same name", async () => {
    process.env["PULUMI_LIQO_PREFIX"] = otherPrefix;
    try {
      const other = await upCluster({
        name: "milan",
        backend: "native",
        podCidr: "10.220.0.0/20",
        serviceCidr: "10.120.0.0/22",
      });
      assert.notEqual(other.apiServerUrl, clusters.milan.apiServerUrl);
      assert.notEqual(other.kubeconfig, clusters.milan.kubeconfig);
      // Also when its folder was deleted under it, everything of it goes.
      rmSync(nativeLayout().folder, { recursive: true, force: true });
      assert.deepEqual(await downAllClusters(), ["milan"]);
      assert.equal(await linkExists(nativeLayout().hostLink), false);
    } finally {
      await downAllClusters();
      process.env["PULUMI_LIQO_PREFIX"] = prefix;
    }
    assert.equal((await kubectl("milan", "get", "--raw", "/readyz")).trim(), "ok");
  });

  it("refuses a range that this machine uses, before anything is changed", async () => {
    const [route = ""] =
      (await runCommand("ip", ["-4", "route", "show"])).match(/^\d+\.\d+\.\d+\.\d+\/\d+/m) ?? [];
    await assert.rejects(
      upCluster({ name: "turin", backend: "native", podCidr: "10.230.0.0/16", serviceCidr: route }),
      /serviceCidr .* (overlaps|cannot be)/,
    );
    assert.deepEqual(
      (await listClusters()).map(({ name }) => name),
      ["milan", "rome"],
    );
  });

  it("starts again with its keys and objects after everything was killed", async () => {
    await kubectl("rome", "create", "configmap", "kept");
    const folder = join(trackingHierarchy(await hierarchies()).mountPoint, nativeLayout().cgroup);
    await killProcessesIn(folder);
    await eventually(async () => assert.deepEqual(await processesIn(folder), []));
    await eventually(async () => {
      const running = (await listClusters()).map((cluster) => cluster.running);
      assert.deepEqual(running, [false, false]);
    });
    assert.equal(await getCluster("rome"), undefined);

    const start = performance.now();
    const resumed = await resumeClusters();
    console.log(`    both Ready again in ${((performance.now() - start) / 1000).toFixed(1)} s`);
    assert.deepEqual(
      resumed.map(({ kubeconfig }) => kubeconfig),
      [clusters.milan.kubeconfig, clusters.rome.kubeconfig],
    );
    assert.equal((await kubectl("rome", "get", "configmap", "kept", "-o", "name")).trim(), "configmap/kept");
    await eventually(async () => {
      assert.equal(await kubectl("rome", "exec", "web-1", "--", "cat", "/www/index.html"), "web-1\n");
    }, 60_000);
    // Its image was imported after the first start.
    await eventually(
      async () => assert.match(await kubectl("milan", "logs", "tools"), /^runtime v24/m),
      60_000,
    );
  });

  it("leaves nothing when it is removed", async () => {
    const folder = join(trackingHierarchy(await hierarchies()).mountPoint, nativeLayout().cgroup);
    const namespaces = new Set((await processesIn(folder)).flatMap(namespacesOf));
    const own = new Set(namespacesOf(process.pid));
    const made = [...namespaces].filter((namespace) => !own.has(namespace));
    assert.ok(made.length >= 10, `namespaces of three nodes: ${made.length}`);
    // The kernel gives a namespace's number to a later one, of another cluster on the machine perhaps.
    const [secondsSinceBoot = ""] = readFileSync("/proc/uptime", "utf8").split(" ");
    const removal = Number(secondsSinceBoot) * CLOCK_TICKS;
    const ranBefore = (pid: number) => Number(identifyProcess(pid)?.startTime ?? Infinity) <= removal;
    assert.equal(await downCluster("rome"), true);
    assert.equal(await downCluster("milan"), true);
    assert.equal(await downCluster("milan"), false);
    // The kernel takes namespaces apart a moment after their last process.
    await eventually(() => {
      const present = readdirSync("/proc")
        .filter((name) => /^\d+$/.test(name))
        .map(Number)
        .filter(ranBefore)
        .flatMap(namespacesOf);
      assert.deepEqual(
        made.filter((namespace) => present.includes(namespace)),
        [],
      );
      return Promise.resolve();
    }, 5_000);
    assert.deepEqual(await tracesOfMachine(prefix, otherPrefix), traces);
    assert.equal(existsSync(nativeLayout().folder), false);
  });
});

/** Of /proc, a second. */
const CLOCK_TICKS = 100;

async function eventually(check: () => Promise<void>, timeoutMs = 30_000): Promise<void> {
  for (const deadline = Date.now() + timeoutMs; ; await sleep(200)) {
    try {
      return await check();
    } catch (error) {
      if (Date.now() > deadline) throw error;
    }
  }
}
