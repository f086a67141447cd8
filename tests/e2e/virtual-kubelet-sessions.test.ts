import assert from "node:assert/strict";
import { createHash, randomBytes, X509Certificate } from "node:crypto";
import { execFile, spawn } from "node:child_process";
import { once } from "node:events";
import { readFileSync, writeFileSync } from "node:fs";
import { request as httpsRequest } from "node:https";
import { connect } from "node:net";
import { networkInterfaces } from "node:os";
import { join } from "node:path";
import { connect as connectTls } from "node:tls";

import { cacheFolder } from "../../provider/local-cluster/folders";
import { freePorts } from "../../provider/local-cluster/free-port";
import { upCluster } from "../../provider/local-cluster/local-clusters";
import { ensureTools } from "../../provider/local-cluster/toolchain";
import { Pod } from "../../runtime/api";
import { runServingCertificateApprover } from "../../runtime/controller-manager/serving-certificate-approver";
import { buildBusyboxImage, busyboxImageName } from "../../runtime/image";
import { KubeClient } from "../../runtime/kube";
import { providerControllers } from "../../runtime/offloading";
import { ownCheckout } from "../support/local-checkout";
import { LIQO, OffloadingPair, TOLERATION } from "../support/offloading-pair";
import { type TestContext, testContext } from "../support/runtime-context";
import { until } from "../support/until";
import { userKubeconfig } from "../support/user-kubeconfig";
import { VirtualKubeletProcess } from "../support/virtual-kubelet-process";
import { withControlPlanes } from "../support/with-control-planes";

/** Prints a line each second, ends with 3 when told to, and answers on port 8080 with what it is sent. */
const SCRIPT = "i=0; while true; do echo line $i; i=$((i+1)); sleep 1; done & exec nc -ll -p 8080 -e cat";

interface Result {
  code: number;
  stdout: Buffer;
  stderr: string;
}

describe("logs and sessions of pods on a virtual node", function () {
  this.timeout(90_000);
  const controlPlane = withControlPlanes({ rome: { controllerManager: true, serviceCidr: "10.97.0.0/16" } });
  const { folder: state } = ownCheckout("vk");
  let admin: KubeClient;
  let pair: OffloadingPair;
  let provider: TestContext;
  let home: TestContext;
  let kubelet: VirtualKubeletProcess;
  let kubectlPath: string;
  let kubeletPort: number;

  before(async function () {
    this.timeout(40 * 60_000); // the first run on a machine builds the tools
    kubectlPath = (await ensureTools(["kubernetes", "etcd", "coredns"])).of("kubectl");
    const busybox = await buildBusyboxImage(join(cacheFolder(), "images"));
    const cluster = await upCluster({
      name: "milan",
      backend: "native",
      podCidr: "10.230.0.0/16",
      serviceCidr: "10.130.0.0/16",
      images: [busybox.file],
    });
    admin = KubeClient.fromKubeconfig(cluster.kubeconfig);
    const milan = {
      kubeconfig: cluster.kubeconfig,
      kubeconfigFor: ({ name, groups = [] }: { name: string; groups?: string[] }) =>
        userKubeconfig(admin, cluster.kubeconfig, { name, group: groups[0] ?? "" }),
    };
    pair = new OffloadingPair({ rome: controlPlane("rome"), milan });
    await pair.prepare();
    provider = testContext(cluster.kubeconfig, "controller-manager");
    providerControllers(provider, { clusterID: "milan" });
    await pair.offload("shop", "shop-rome");
    [kubeletPort = 0] = await freePorts(1);
    home = testContext(controlPlane("rome").kubeconfig, "controller-manager");
    runServingCertificateApprover(home, LIQO);
    kubelet = await VirtualKubeletProcess.start({
      kubeconfig: await pair.kubeconfigOfVirtualKubelet(),
      logFile: join(state, "virtual-kubelet.log"),
      flags: [
        "--cluster-id=rome",
        `--liqo-namespace=${LIQO}`,
        "--pod-name=vk-0",
        `--node-ip=${address()}`,
        `--listen-port=${kubeletPort}`,
      ],
    });
    await pair.virtualNode("milan-pool");
    await until("the pod runs", async () => {
      const pod = await pair.rome.get(Pod, { name: "web", namespace: "shop" });
      if (pod === undefined) await createPod();
      return pod?.status?.conditions?.some(({ type, status }) => type === "Ready" && status === "True");
    });
  });

  after(async () => {
    await kubelet?.end("SIGKILL");
    await provider?.end();
    await home?.end();
    pair?.close();
    admin?.close();
  });

  /** The API server proxies to no loopback address. */
  function address(): string {
    const all = Object.values(networkInterfaces()).flatMap((interfaces) => interfaces ?? []);
    const found = all.find(({ internal, family }) => !internal && family === "IPv4");
    assert.ok(found, "this machine has an address");
    return found.address;
  }

  async function createPod(): Promise<void> {
    await pair.rome.create(Pod, {
      apiVersion: "v1",
      kind: "Pod",
      metadata: { name: "web", namespace: "shop" },
      spec: {
        nodeName: "milan-pool",
        tolerations: [TOLERATION],
        automountServiceAccountToken: false,
        terminationGracePeriodSeconds: 1,
        containers: [
          { name: "app", image: busyboxImageName, command: ["sh", "-c", SCRIPT], imagePullPolicy: "Never" },
          { name: "echo", image: busyboxImageName, command: ["cat"], stdin: true, imagePullPolicy: "Never" },
        ],
      },
    });
  }

  function kubeconfigFile(): string {
    const file = join(state, "rome.kubeconfig");
    writeFileSync(file, controlPlane("rome").kubeconfig, { mode: 0o600 });
    return file;
  }

  function kubectl(args: string[], input?: Buffer): Promise<Result> {
    return new Promise((resolve) => {
      const child = execFile(
        kubectlPath,
        ["--kubeconfig", kubeconfigFile(), "-n", "shop", ...args],
        { encoding: "buffer", maxBuffer: 2 ** 28, timeout: 60_000 },
        (error, stdout, stderr) =>
          resolve({ code: error === null ? 0 : Number(error.code ?? -1), stdout, stderr: stderr.toString() }),
      );
      child.stdin?.end(input);
    });
  }

  /** Established TCP connections of the virtual kubelet. */
  function connections(): number {
    const inodes = new Set<string>();
    const tables = ["tcp", "tcp6"].map((name) => readFileSync(`/proc/${kubelet.pid}/net/${name}`, "utf8"));
    const own = `${kubeletPort.toString(16).toUpperCase().padStart(4, "0")}`;
    for (const line of tables.join("\n").split("\n")) {
      const [, localAddress = "", , connectionState, , , , , , inode] = line.trim().split(/\s+/);
      if (connectionState === "01" && localAddress.endsWith(`:${own}`)) inodes.add(inode ?? "");
    }
    return inodes.size;
  }

  it("serves with a certificate that the cluster signed for its address", async () => {
    const certificate = await until("the certificate is signed", async () => {
      const socket = connectTls({ host: address(), port: kubeletPort, rejectUnauthorized: false });
      await once(socket, "secureConnect");
      const served = socket.getPeerX509Certificate();
      socket.destroy();
      return served?.checkIssued(new X509Certificate(controlPlane("rome").caCertificate)) === true && served;
    });
    assert.equal(certificate.checkIP(address()), address());
    assert.match(certificate.subject, /CN=system:node:milan-pool/);
  });

  it("shows logs, all, the last lines, and as they come", async () => {
    const all = await kubectl(["logs", "web", "-c", "app"]);
    assert.match(all.stdout.toString(), /^line 0\n/, all.stderr);
    const last = await kubectl(["logs", "web", "-c", "app", "--tail=1"]);
    assert.equal(last.stdout.toString().split("\n").length, 2);
    const none = await kubectl(["logs", "web", "-c", "app", "--tail=0"]);
    assert.equal(none.stdout.toString(), "");

    const args = [
      "--kubeconfig",
      kubeconfigFile(),
      "-n",
      "shop",
      "logs",
      "-f",
      "web",
      "-c",
      "app",
      "--tail=1",
    ];
    const follow = spawn(kubectlPath, args, { stdio: ["ignore", "pipe", "inherit"] });
    let text = "";
    follow.stdout.on("data", (chunk: Buffer) => (text += chunk.toString()));
    await until("three lines came", () => text.split("\n").length > 3);
    follow.kill();
  });

  it("says what is wrong with a request for logs", async () => {
    const { code, stderr } = await kubectl(["logs", "web", "-c", "missing"]);
    assert.equal(code, 1);
    assert.match(stderr, /container missing is not valid|container "missing"/);
  });

  it("runs commands with input, output and exit status", async () => {
    const echo = await kubectl([
      "exec",
      "web",
      "-c",
      "app",
      "--",
      "sh",
      "-c",
      "echo out; echo err >&2; exit 3",
    ]);
    assert.equal(echo.stdout.toString(), "out\n");
    assert.match(echo.stderr, /^err\n/);
    assert.equal(echo.code, 3);

    const sent = randomBytes(8 * 1024 * 1024);
    const back = await kubectl(["exec", "-i", "web", "-c", "app", "--", "md5sum"], sent);
    assert.equal(
      back.stdout.toString().split(" ")[0],
      createHash("md5").update(sent).digest("hex"),
      back.stderr,
    );
    const through = await kubectl(["exec", "-i", "web", "-c", "app", "--", "cat"], sent);
    assert.ok(through.stdout.equals(sent), `${through.stdout.length} bytes came back: ${through.stderr}`);
  });

  it("attaches", async () => {
    const attached = spawn(
      kubectlPath,
      ["--kubeconfig", kubeconfigFile(), "-n", "shop", "attach", "-i", "web", "-c", "echo"],
      { stdio: ["pipe", "pipe", "ignore"] },
    );
    attached.stdin.write("hello\n");
    assert.equal(String((await once(attached.stdout, "data"))[0]), "hello\n");
    attached.kill();
  });

  it("forwards ports, and leaves no connection behind", async () => {
    await until("earlier sessions have ended", () => connections() === 0);
    const [port = 0] = await freePorts(1);
    const forward = spawn(
      kubectlPath,
      ["--kubeconfig", kubeconfigFile(), "-n", "shop", "port-forward", "pod/web", `${port}:8080`],
      { stdio: ["ignore", "pipe", "inherit"] },
    );
    await once(forward.stdout, "data");
    for (let i = 0; i < 20; i++) {
      const socket = connect(port, "127.0.0.1");
      socket.write(`ping ${i}\n`);
      const [answer] = (await once(socket, "data")) as [Buffer];
      assert.equal(answer.toString(), `ping ${i}\n`);
      socket.destroy();
    }
    assert.ok(connections() > 0);
    forward.kill();
    await until("the connections are gone", () => connections() === 0, { timeoutMs: 20_000 });
  });

  it("answers nobody who has not proved who he is, and only what he may have", async () => {
    const get = (path: string, headers: Record<string, string> = {}) =>
      new Promise<{ status: number; body: string }>((resolve, reject) => {
        const outgoing = httpsRequest(
          { host: "127.0.0.1", port: kubeletPort, path, headers, rejectUnauthorized: false },
          (response) => {
            const chunks: Buffer[] = [];
            response.on("data", (chunk: Buffer) => chunks.push(chunk));
            response.on("end", () =>
              resolve({ status: response.statusCode ?? 0, body: Buffer.concat(chunks).toString() }),
            );
          },
        );
        outgoing.on("error", reject);
        outgoing.end();
      });
    assert.equal((await get("/containerLogs/shop/web/app")).status, 401);
    assert.equal(
      (await get("/containerLogs/shop/web/app", { authorization: "Bearer nonsense" })).status,
      401,
    );
    assert.equal((await get("/pods")).status, 401);
    assert.equal((await get("/healthz")).body, "ok");
    const token = (await kubectl(["create", "token", "default"])).stdout.toString().trim();
    const refused = await get("/containerLogs/shop/web/app", { authorization: `Bearer ${token}` });
    assert.equal(refused.status, 403);
    assert.match(refused.body, /system:serviceaccount:shop:default.*milan-pool/);
  });

  it("lists its pods, and summarises what it can measure", async () => {
    const pods = await kubectl(["get", "--raw", "/api/v1/nodes/milan-pool/proxy/pods"]);
    assert.equal(pods.code, 0, pods.stderr);
    const { items } = JSON.parse(pods.stdout.toString()) as { items: { metadata: { name: string } }[] };
    assert.deepEqual(
      items.map(({ metadata }) => metadata.name),
      ["web"],
    );
    const summary = await kubectl(["get", "--raw", "/api/v1/nodes/milan-pool/proxy/stats/summary"]);
    assert.deepEqual((JSON.parse(summary.stdout.toString()) as { pods: unknown[] }).pods, []);
    const unknown = await kubectl(["get", "--raw", "/api/v1/nodes/milan-pool/proxy/configz"]);
    assert.match(unknown.stderr, /NotFound|could not find/);
  });

  it("goes on with its sessions when the provider's credentials change", async () => {
    const exec = spawn(
      kubectlPath,
      ["--kubeconfig", kubeconfigFile(), "-n", "shop", "exec", "-i", "web", "-c", "app", "--", "cat"],
      { stdio: ["pipe", "pipe", "inherit"] },
    );
    exec.stdin.write("before\n");
    assert.equal(String((await once(exec.stdout, "data"))[0]), "before\n");
    await pair.kubeconfigSecret("kubeconfig-milan-pool");
    await new Promise((resolve) => setTimeout(resolve, 1_000));
    exec.stdin.write("after\n");
    assert.equal(String((await once(exec.stdout, "data"))[0]), "after\n");
    exec.stdin.end();
    await once(exec, "exit");
    const next = await kubectl(["exec", "web", "-c", "app", "--", "echo", "new"]);
    assert.equal(next.stdout.toString(), "new\n");
  });

  it("loses no line of a log and fails no call while they change three times over", async () => {
    const follow = spawn(
      kubectlPath,
      ["--kubeconfig", kubeconfigFile(), "-n", "shop", "logs", "-f", "web", "-c", "app", "--tail=1"],
      { stdio: ["ignore", "pipe", "inherit"] },
    );
    let text = "";
    follow.stdout.on("data", (chunk: Buffer) => (text += chunk.toString()));
    const numbers = () => [...text.matchAll(/^line (\d+)$/gm)].map(([, number]) => Number(number));
    await until("the first line", () => numbers().length > 0);
    let changing = true;
    const failures: string[] = [];
    const calls = (async () => {
      while (changing) {
        const { code, stderr } = await kubectl(["logs", "web", "-c", "app", "--tail=1"]);
        if (code !== 0) failures.push(stderr);
      }
    })();
    for (let change = 0; change < 3; change += 1) {
      await pair.kubeconfigSecret("kubeconfig-milan-pool");
      const seen = numbers().length;
      await until("more lines", () => numbers().length > seen + 1);
    }
    changing = false;
    await calls;
    follow.kill();
    assert.deepEqual(failures, []);
    const got = numbers();
    assert.deepEqual(
      got,
      got.map((_number, index) => (got[0] ?? 0) + index),
    );
  });
});
