import assert from "node:assert/strict";
import { join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";

import { freePorts } from "../../provider/local-cluster/free-port";
import {
  ConfigMap,
  type Desired,
  Event,
  Lease,
  Node,
  Pod,
  Secret,
  Service,
  ShadowPod,
  TokenReview,
  VirtualNode,
} from "../../runtime/api";
import type { KubeClient } from "../../runtime/kube";
import { providerControllers } from "../../runtime/offloading";
import { auditEvents, countRequests } from "../support/audit-log";
import { LIQO, OffloadingPair, TENANT, TOLERATION } from "../support/offloading-pair";
import { PodPlayer } from "../support/pod-player";
import { type TestContext, testContext } from "../support/runtime-context";
import { until } from "../support/until";
import { VirtualKubeletProcess } from "../support/virtual-kubelet-process";
import { withControlPlanes } from "../support/with-control-planes";

const NODE = "milan-pool";
const HERE = "shop";
const THERE = "shop-rome";
const AGENT = "liqo-virtual-kubelet";

describe("virtual kubelet, from rome to milan", function () {
  this.timeout(60_000);
  const controlPlane = withControlPlanes({
    rome: { controllerManager: true, auditLog: true, serviceCidr: "10.97.0.0/16" },
    milan: { controllerManager: true, auditLog: true, serviceCidr: "10.98.0.0/16" },
  });
  let pair: OffloadingPair;
  let rome: KubeClient;
  let milan: KubeClient;
  let provider: TestContext;
  let player: PodPlayer;
  let kubelet: VirtualKubeletProcess;
  /** From the VirtualNode to its Node. */
  let nodeAfterMs = 0;
  /** Of the kubelet endpoints, by replica: the node shows them. */
  const ports = new Map<string, number>();

  before(async function () {
    this.timeout(120_000);
    pair = new OffloadingPair({ rome: controlPlane("rome"), milan: controlPlane("milan") });
    ({ rome, milan } = pair);
    await pair.prepare();
    provider = testContext(controlPlane("milan").kubeconfig, "controller-manager");
    providerControllers(provider, { clusterID: "milan" });
    player = await PodPlayer.start(milan, "milan-worker");
    await pair.offload(HERE, THERE);
    for (const port of await freePorts(3)) ports.set(`vk-${ports.size}`, port);
    kubelet = await startKubelet("vk-0");
    const begin = performance.now();
    await pair.virtualNode(NODE, {
      labels: { region: "north" },
      storageClasses: [{ storageClassName: "fast" }],
    });
    await until("the node is there", () => rome.get(Node, { name: NODE }));
    nodeAfterMs = performance.now() - begin;
  });

  after(async () => {
    await kubelet?.end("SIGKILL");
    await player?.stop();
    await provider?.end();
    pair?.close();
  });

  async function startKubelet(replica: string, ...flags: string[]): Promise<VirtualKubeletProcess> {
    return await VirtualKubeletProcess.start({
      kubeconfig: await pair.kubeconfigOfVirtualKubelet(),
      logFile: join(controlPlane("rome").folder, `virtual-kubelet-${replica}.log`),
      flags: [
        "--cluster-id=rome",
        `--liqo-namespace=${LIQO}`,
        `--pod-name=${replica}`,
        `--listen-port=${ports.get(replica) ?? 0}`,
        "--certificate-type=self-signed",
        ...flags,
      ],
    });
  }

  function pod(
    name: string,
    changes: { spec?: Partial<Pod["spec"]>; metadata?: Partial<Pod["metadata"]> } = {},
  ): Desired<Pod> {
    return {
      apiVersion: "v1",
      kind: "Pod",
      metadata: { name, namespace: HERE, labels: { app: name }, ...changes.metadata },
      spec: {
        nodeName: NODE,
        tolerations: [TOLERATION],
        terminationGracePeriodSeconds: 30,
        automountServiceAccountToken: false,
        containers: [{ name: "app", image: "app:1" }],
        ...changes.spec,
      },
    };
  }

  const local = (name: string, namespace = HERE) => rome.get(Pod, { name, namespace });
  const shadow = (name: string) => milan.get(ShadowPod, { name, namespace: THERE });
  const remote = (name: string) => milan.get(Pod, { name, namespace: THERE });
  const running = (name: string) =>
    until(`${name} runs`, async () => {
      const found = await local(name);
      return found?.status?.phase === "Running" ? found : undefined;
    });
  const gone = (what: string, look: () => Promise<unknown>) =>
    until(`${what} is gone`, async () => (await look()) === undefined);
  const eventsOf = async (name: string) =>
    (await rome.list(Event, { namespace: HERE })).filter(
      ({ involvedObject }) => involvedObject.name === name,
    );

  /** Our requests at both clusters since a time, as `rome: patch pods/status` with their number. */
  function requests(from: number, writesOnly = true): Record<string, number> {
    const counts: Record<string, number> = {};
    for (const cluster of ["rome", "milan"] as const) {
      const events = auditEvents(controlPlane(cluster).auditLogPath ?? "", from).filter(
        ({ userAgent = "", verb }) =>
          userAgent.startsWith(AGENT) && !(writesOnly && ["get", "list", "watch"].includes(verb)),
      );
      for (const [what, count] of countRequests(events)) {
        // Leases are renewed, and the provider is asked whether it lives, at their own pace.
        if (!what.endsWith("leases") && what !== "get -") counts[`${cluster}: ${what}`] = count;
      }
    }
    return counts;
  }

  describe("its node", () => {
    it("is Ready soon after the VirtualNode is there, with what was granted", async () => {
      console.log(`      node made after ${Math.round(nodeAfterMs)} ms`);
      assert.ok(nodeAfterMs < 3_000);
      const node = await rome.get(Node, { name: NODE });
      assert.ok(node);
      assert.equal(node.status?.conditions?.find(({ type }) => type === "Ready")?.status, "True");
      assert.deepEqual(node.status?.allocatable, {
        cpu: "4",
        memory: "8Gi",
        pods: "110",
        "example.com/gpu": "2",
      });
      assert.equal(node.metadata.labels?.["liqo.io/type"], "virtual-node");
      assert.equal(node.metadata.labels?.region, "north");
      assert.equal(node.metadata.labels?.["storage.liqo.io/available"], "true");
      assert.ok(node.spec.taints?.some(({ key }) => key === TOLERATION.key));
      assert.deepEqual(node.status?.addresses, [{ type: "InternalIP", address: "127.0.0.1" }]);
      await until("the node's lease is renewed", async () => {
        const lease = await rome.get(Lease, { name: NODE, namespace: "kube-node-lease" });
        return lease?.metadata.ownerReferences?.[0]?.uid === node.metadata.uid;
      });
      const claim = await rome.get(Lease, { name: NODE, namespace: TENANT });
      assert.equal(claim?.spec.holderIdentity, "vk-0");
    });

    it("tells why there can be none", async () => {
      const { metadata } = await pair.virtualNode("odd", { resourceQuota: { hard: { cpu: "-1" } } });
      const told = await until("the reason", async () =>
        (await rome.list(Event, { namespace: metadata.namespace ?? "" })).find(
          ({ reason, involvedObject }) => reason === "NodeRefused" && involvedObject.name === "odd",
        ),
      );
      assert.match(told.message ?? "", /cpu.*must be greater than or equal to 0/);
      await rome.delete(VirtualNode, metadata);
    });

    it("gets back what was taken from it, and keeps what others added", async () => {
      await rome.patch(
        Node,
        { name: NODE },
        { metadata: { labels: { region: null, "liqo.io/type": null, theirs: "kept" } } },
        { type: "merge" },
      );
      const node = await until("the labels are back", async () => {
        const found = await rome.get(Node, { name: NODE });
        const { region, ["liqo.io/type"]: type } = found?.metadata.labels ?? {};
        return region === "north" && type === "virtual-node" ? found : undefined;
      });
      assert.equal(node.metadata.labels?.theirs, "kept");
    });

    it("follows the grant, resources that are withdrawn included", async () => {
      await rome.patch(
        VirtualNode,
        { name: NODE, namespace: TENANT },
        {
          spec: {
            labels: { region: null, zone: "z1" },
            resourceQuota: { hard: { cpu: "6", "example.com/gpu": null } },
          },
        },
        { type: "merge" },
      );
      const node = await until("the capacity follows", async () => {
        const found = await rome.get(Node, { name: NODE });
        return found?.status?.capacity?.cpu === "6" ? found : undefined;
      });
      const followed = await until("the labels follow", async () => {
        const found = await rome.get(Node, { name: NODE });
        return found?.metadata.labels?.zone === "z1" ? found : undefined;
      });
      assert.deepEqual(node.status?.capacity, { cpu: "6", memory: "8Gi", pods: "110" });
      assert.equal(followed.metadata.labels?.region, undefined);
    });

    it("loses no time on the taints of the node lifecycle controller", async () => {
      await pause(1_000);
      const taints = (await rome.get(Node, { name: NODE }))?.spec.taints?.map(({ key }) => key);
      assert.deepEqual(taints, [TOLERATION.key]);
    });
  });

  describe("its pods", () => {
    it("run at the provider with their spec and metadata, and show its status", async () => {
      await rome.create(
        Pod,
        pod("web-0", {
          metadata: { annotations: { note: "n" } },
          spec: { priority: 0, nodeSelector: { a: "b" } },
        }),
      );
      const here = await running("web-0");
      const there = await shadow("web-0");
      assert.ok(there);
      assert.equal(there.metadata.labels?.["offloading.liqo.io/nodename"], NODE);
      assert.equal(there.metadata.labels?.app, "web-0");
      assert.equal(there.metadata.annotations?.note, "n");
      assert.equal(there.spec.pod?.nodeName, undefined);
      assert.equal(there.spec.pod?.nodeSelector, undefined);
      assert.equal(there.spec.pod?.automountServiceAccountToken, false);
      assert.ok(!there.spec.pod?.tolerations?.some(({ key }) => key === TOLERATION.key));
      const remotePod = await remote("web-0");
      assert.equal(here.status?.podIP, remotePod?.status?.podIP);
      assert.equal(here.status?.hostIP, "127.0.0.1");
      assert.equal(here.metadata.labels?.["liqo.io/shadowPod"], "true");
      assert.equal(here.status?.conditions?.find(({ type }) => type === "Ready")?.status, "True");
    });

    it("take their labels along, and nothing back from the provider", async () => {
      await rome.patch(
        Pod,
        { name: "web-0", namespace: HERE },
        { metadata: { labels: { tier: "front", app: null } } },
        { type: "merge" },
      );
      const there = await until("the label is there", async () => {
        const found = await shadow("web-0");
        return found?.metadata.labels?.tier === "front" ? found : undefined;
      });
      assert.equal(there.metadata.labels?.app, undefined);
      await milan.patch(
        ShadowPod,
        { name: "web-0", namespace: THERE },
        { metadata: { labels: { "liqo.io/creator-user": "theirs" } } },
        { type: "merge" },
      );
      await pause(500);
      assert.equal((await shadow("web-0"))?.metadata.labels?.["liqo.io/creator-user"], "theirs");
    });

    it("end here after they have ended there", async () => {
      player.endAfterMs = 1_500;
      await rome.delete(Pod, { name: "web-0", namespace: HERE });
      await gone("the ShadowPod", () => shadow("web-0"));
      await until(
        "the remote pod is ending",
        async () => (await remote("web-0"))?.metadata.deletionTimestamp,
      );
      assert.ok(await local("web-0"), "the local pod waits for the remote one");
      await gone("the remote pod", () => remote("web-0"));
      await gone("the local pod", () => local("web-0"));
      player.endAfterMs = 0;
    });

    it("can be deleted before they ever started", async () => {
      player.held.add("slow");
      await rome.create(Pod, pod("slow"));
      await until("the ShadowPod is there", () => shadow("slow"));
      await rome.delete(Pod, { name: "slow", namespace: HERE });
      await gone("the local pod", () => local("slow"));
      assert.equal(await shadow("slow"), undefined);
    });

    it("make room for the next pod of their name, whichever way they went", async () => {
      await rome.create(Pod, pod("set-0"));
      await running("set-0");
      const first = await remote("set-0");
      await rome.delete(Pod, { name: "set-0", namespace: HERE }, { gracePeriodSeconds: 0 });
      await rome.create(Pod, pod("set-0"));
      const second = await until("another remote pod runs", async () => {
        const found = await remote("set-0");
        return found?.metadata.uid !== first?.metadata.uid && found?.status?.phase === "Running"
          ? found
          : undefined;
      });
      const here = await running("set-0");
      assert.equal(here.status?.podIP, second.status?.podIP);
      assert.equal(here.status?.containerStatuses?.[0]?.restartCount, 0);
    });

    it("count a remote pod that was made again as a restart", async () => {
      const first = await remote("set-0");
      await milan.delete(
        Pod,
        { name: "set-0", namespace: THERE },
        { uid: first?.metadata.uid, gracePeriodSeconds: 0 },
      );
      await until("the restart shows", async () => {
        return (await local("set-0"))?.status?.containerStatuses?.[0]?.restartCount === 1;
      });
    });

    it("show how they ended", async () => {
      const there = await remote("set-0");
      assert.ok(there);
      await player.report(there, { phase: "Failed" });
      const here = await until("the pod has failed", async () => {
        const found = await local("set-0");
        return found?.status?.phase === "Failed" ? found : undefined;
      });
      assert.equal(here.status?.containerStatuses?.[0]?.state?.terminated?.exitCode, 1);
    });

    it("leave strangers of their name alone, and say so", async () => {
      await milan.create(ShadowPod, {
        apiVersion: ShadowPod.apiVersion,
        kind: ShadowPod.kind,
        metadata: { name: "stranger", namespace: THERE },
        spec: { pod: { containers: [{ name: "x", image: "x" }] } },
      });
      await rome.create(Pod, pod("stranger"));
      await until("the conflict is told", async () =>
        (await eventsOf("stranger")).some(({ reason, message }) => {
          return reason === "FailedReflection" && message?.includes("remote object already exists");
        }),
      );
      assert.equal((await shadow("stranger"))?.metadata.labels?.["offloading.liqo.io/origin"], undefined);
      await milan.delete(ShadowPod, { name: "stranger", namespace: THERE });
      await running("stranger");
    });

    it("are not ready while their node is said to be unavailable", async () => {
      await rome.create(Pod, pod("cut-off"));
      await running("cut-off");
      const label = (value: string | null) =>
        rome.patch(
          Pod,
          { name: "cut-off", namespace: HERE },
          { metadata: { labels: { "liqo.io/remote-unavailable": value } } },
          { type: "merge" },
        );
      const ready = async () =>
        (await local("cut-off"))?.status?.conditions?.find(({ type }) => type === "Ready")?.status;
      await label("true");
      await until("the pod is not ready", async () => (await ready()) === "False");
      assert.equal((await local("cut-off"))?.status?.phase, "Running");
      assert.equal((await shadow("cut-off"))?.metadata.labels?.["liqo.io/remote-unavailable"], undefined);
      await label(null);
      await until("the pod is ready again", async () => (await ready()) === "True");
    });

    it("wait in a namespace that is not offloaded, start when it is, and are given up when it no longer is", async () => {
      await pair.namespace(rome, "later");
      await rome.create(Pod, pod("early", { metadata: { namespace: "later" } }));
      await until(
        "the pod is held back",
        async () => (await local("early", "later"))?.status?.reason === "OffloadingBackOff",
      );
      await pair.remoteNamespace("later-rome");
      await pair.map({ later: { remoteNamespace: "later-rome", phase: "Accepted" } });
      await until("the pod runs", async () => {
        const { phase, reason } = (await local("early", "later"))?.status ?? {};
        return phase === "Running" && reason === undefined;
      });
      await pair.map({ later: null });
      await until("the pod is given up", async () => {
        const { phase, reason } = (await local("early", "later"))?.status ?? {};
        return phase === "Failed" && reason === "OffloadingAborted";
      });
    });
  });

  describe("objects around pods", () => {
    it("are reflected, follow, and go", async () => {
      await rome.create(ConfigMap, {
        apiVersion: "v1",
        kind: "ConfigMap",
        metadata: { name: "settings", namespace: HERE, labels: { app: "web", stale: "x" } },
        data: { a: "1", b: "2" },
        binaryData: { c: "AAE=" },
      });
      await rome.create(Secret, {
        apiVersion: "v1",
        kind: "Secret",
        metadata: { name: "password", namespace: HERE },
        type: "example.com/password",
        data: { password: "c2VjcmV0" },
      });
      const map = await until("the map is there", () =>
        milan.get(ConfigMap, { name: "settings", namespace: THERE }),
      );
      assert.deepEqual(map.data, { a: "1", b: "2" });
      assert.deepEqual(map.binaryData, { c: "AAE=" });
      assert.equal(map.metadata.labels?.["offloading.liqo.io/origin"], "rome");
      const secret = await until("the secret is there", () =>
        milan.get(Secret, { name: "password", namespace: THERE }),
      );
      assert.equal(secret.type, "example.com/password");
      assert.deepEqual(secret.data, { password: "c2VjcmV0" });

      await rome.patch(
        ConfigMap,
        { name: "settings", namespace: HERE },
        { metadata: { labels: { stale: null } }, data: { a: null, b: "3" }, binaryData: null },
        { type: "merge" },
      );
      const changed = await until("the map follows", async () => {
        const found = await milan.get(ConfigMap, { name: "settings", namespace: THERE });
        return found?.data?.b === "3" ? found : undefined;
      });
      assert.deepEqual(changed.data, { b: "3" });
      assert.equal(changed.binaryData, undefined);
      assert.equal(changed.metadata.labels?.stale, undefined);
      assert.equal(changed.metadata.uid, map.metadata.uid);

      await milan.patch(
        ConfigMap,
        { name: "settings", namespace: THERE },
        { data: { b: "edited", d: "x" } },
        { type: "merge" },
      );
      await until("the edit is taken back", async () => {
        const found = await milan.get(ConfigMap, { name: "settings", namespace: THERE });
        return found?.data?.b === "3" && found.data.d === undefined;
      });

      await rome.delete(ConfigMap, { name: "settings", namespace: HERE });
      await rome.delete(Secret, { name: "password", namespace: HERE });
      await gone("the map", () => milan.get(ConfigMap, { name: "settings", namespace: THERE }));
      await gone("the secret", () => milan.get(Secret, { name: "password", namespace: THERE }));
    });

    it("stay at home where they say so, and leave when they say so later", async () => {
      const object = { apiVersion: "v1", kind: "ConfigMap" } as const;
      const metadata = {
        name: "private",
        namespace: HERE,
        annotations: { "liqo.io/skip-reflection": "true" },
      };
      await rome.create(ConfigMap, { ...object, metadata, data: {} });
      await rome.create(ConfigMap, { ...object, metadata: { name: "public", namespace: HERE }, data: {} });
      await until("the public map is there", () =>
        milan.get(ConfigMap, { name: "public", namespace: THERE }),
      );
      assert.equal(await milan.get(ConfigMap, { name: "private", namespace: THERE }), undefined);
      await rome.patch(
        ConfigMap,
        { name: "public", namespace: HERE },
        { metadata: { annotations: { "liqo.io/skip-reflection": "true" } } },
        { type: "merge" },
      );
      await gone("the map", () => milan.get(ConfigMap, { name: "public", namespace: THERE }));
    });

    it("are not put in the place of strangers", async () => {
      const object = { apiVersion: "v1", kind: "ConfigMap" } as const;
      await milan.create(ConfigMap, {
        ...object,
        metadata: { name: "theirs", namespace: THERE },
        data: { a: "theirs" },
      });
      await rome.create(ConfigMap, {
        ...object,
        metadata: { name: "theirs", namespace: HERE },
        data: { a: "ours" },
      });
      await until("the conflict is told", async () =>
        (await eventsOf("theirs")).some(({ reason }) => reason === "FailedReflection"),
      );
      assert.deepEqual((await milan.get(ConfigMap, { name: "theirs", namespace: THERE }))?.data, {
        a: "theirs",
      });
      await milan.delete(ConfigMap, { name: "theirs", namespace: THERE });
      await until("ours takes its place", async () => {
        return (await milan.get(ConfigMap, { name: "theirs", namespace: THERE }))?.data?.a === "ours";
      });
    });

    it("include the root CA under a name of its own, and Services with addresses of the provider", async () => {
      const here = await rome.get(ConfigMap, { name: "kube-root-ca.crt", namespace: HERE });
      const there = await until("the CA is there", () =>
        milan.get(ConfigMap, { name: "kube-root-ca.crt.rome", namespace: THERE }),
      );
      assert.deepEqual(there.data, here?.data);
      await rome.create(Service, {
        apiVersion: "v1",
        kind: "Service",
        metadata: { name: "web", namespace: HERE },
        spec: { selector: { app: "web" }, ports: [{ name: "http", port: 80, targetPort: 8080 }] },
      });
      const service = await until("the service is there", () =>
        milan.get(Service, { name: "web", namespace: THERE }),
      );
      assert.match(service.spec.clusterIP ?? "", /^10\.98\./);
      await rome.patch(
        Service,
        { name: "web", namespace: HERE },
        { spec: { selector: { app: null, tier: "front" } } },
        { type: "merge" },
      );
      await until("the selector follows", async () => {
        const { selector } = (await milan.get(Service, { name: "web", namespace: THERE }))?.spec ?? {};
        return selector?.tier === "front" && selector.app === undefined;
      });
      assert.equal(
        (await milan.get(Service, { name: "web", namespace: THERE }))?.spec.clusterIP,
        service.spec.clusterIP,
      );
    });

    it("include tokens of the consumer for pods that mount them", async () => {
      await rome.create(Pod, pod("robot", { spec: { automountServiceAccountToken: true } }));
      await running("robot");
      const secret = await until("the token is there", () =>
        milan.get(Secret, { name: "robot-token", namespace: THERE }),
      );
      const [token] = Object.values(secret.data ?? {});
      const { status } = await rome.post(TokenReview, {
        apiVersion: TokenReview.apiVersion,
        kind: TokenReview.kind,
        spec: { token: Buffer.from(token ?? "", "base64").toString("utf8") },
      });
      assert.equal(status?.user?.username, `system:serviceaccount:${HERE}:default`);
      const [source] = (await shadow("robot"))?.spec.pod?.volumes?.[0]?.projected?.sources ?? [];
      assert.equal(source?.secret?.name, "robot-token");
      assert.equal(source?.secret?.items?.[0]?.key, Object.keys(secret.data ?? {})[0]);
      // As when the whole namespace is made anew: soon after it was issued, too.
      await milan.delete(Secret, secret.metadata);
      const again = await until("the token is there again", () =>
        milan.get(Secret, { name: "robot-token", namespace: THERE }),
      );
      assert.notEqual(again.metadata.uid, secret.metadata.uid);
      await rome.delete(Pod, { name: "robot", namespace: HERE });
      await gone("the token", () => milan.get(Secret, { name: "robot-token", namespace: THERE }));
    });

    it("show what happens to them at the provider", async () => {
      await rome.create(Pod, pod("talkative"));
      await running("talkative");
      const there = await remote("talkative");
      await milan.create(Event, {
        apiVersion: "v1",
        kind: "Event",
        metadata: { name: "talkative.1", namespace: THERE },
        involvedObject: {
          apiVersion: "v1",
          kind: "Pod",
          name: "talkative",
          namespace: THERE,
          uid: there?.metadata.uid,
        },
        reason: "Pulled",
        message: "the image is there",
        type: "Normal",
        source: { component: "kubelet" },
        firstTimestamp: new Date().toISOString().replace(/\.\d+Z$/, "Z"),
        lastTimestamp: new Date().toISOString().replace(/\.\d+Z$/, "Z"),
        count: 1,
      });
      const here = await local("talkative");
      const copy = await until("the event is here", () =>
        rome.get(Event, { name: "talkative.1", namespace: HERE }),
      );
      assert.equal(copy.involvedObject.uid, here?.metadata.uid);
      assert.equal(copy.source?.component, "kubelet (remote)");
      await milan.delete(Event, { name: "talkative.1", namespace: THERE });
      await gone("the copy", () => rome.get(Event, { name: "talkative.1", namespace: HERE }));
    });
  });

  describe("several nodes in one process", () => {
    it("share what they can of one provider, and keep their pods apart", async () => {
      const from = Date.now();
      await pair.virtualNode("milan-second");
      await until("the second node is there", () => rome.get(Node, { name: "milan-second" }));
      await rome.create(Pod, pod("other", { spec: { nodeName: "milan-second" } }));
      await running("other");
      assert.equal((await shadow("other"))?.metadata.labels?.["offloading.liqo.io/nodename"], "milan-second");
      await until("one of them leads", async () => {
        const lease = await rome.get(Lease, { name: "virtual-kubelet-leader-election", namespace: TENANT });
        return lease?.spec.holderIdentity === "vk-0";
      });
      await rome.create(ConfigMap, {
        apiVersion: "v1",
        kind: "ConfigMap",
        metadata: { name: "shared", namespace: HERE },
        data: { a: "1" },
      });
      await until("the map is there", () => milan.get(ConfigMap, { name: "shared", namespace: THERE }));
      await pause(1_500);
      assert.equal(requests(from)["milan: create configmaps"], 1);

      // The pod moves to the first node, under its name.
      await rome.delete(Pod, { name: "other", namespace: HERE });
      await gone("the pod", () => local("other"));
      await rome.create(Pod, pod("other"));
      await running("other");
      assert.equal((await shadow("other"))?.metadata.labels?.["offloading.liqo.io/nodename"], NODE);
      await rome.delete(VirtualNode, { name: "milan-second", namespace: TENANT });
      await gone("the second node's lease", () =>
        rome.get(Lease, { name: "milan-second", namespace: TENANT }),
      );
      await rome.delete(Node, { name: "milan-second" });
    });

    it("do not suffer from each other's providers", async () => {
      const [nobody = 0] = await freePorts(1);
      const text = (await controlPlane("milan").kubeconfigFor({ name: "nobody" })).replaceAll(
        controlPlane("milan").url,
        `https://127.0.0.1:${nobody}`,
      );
      await pair.namespace(rome, "liqo-tenant-naples");
      await rome.create(Secret, {
        apiVersion: "v1",
        kind: "Secret",
        metadata: { name: "naples", namespace: "liqo-tenant-naples" },
        data: { kubeconfig: Buffer.from(text).toString("base64") },
      });
      await rome.create(VirtualNode, {
        apiVersion: VirtualNode.apiVersion,
        kind: VirtualNode.kind,
        metadata: { name: "naples", namespace: "liqo-tenant-naples" },
        spec: { clusterID: "naples", createNode: true, kubeconfigSecretRef: { name: "naples" } },
      });
      await until("the event says why", async () => {
        const events = await rome.list(Event, { namespace: "liqo-tenant-naples" });
        return events.some(({ reason, message = "" }) => {
          return reason === "ProviderUnreachable" && message.includes(`127.0.0.1:${nobody}`);
        });
      });
      const begin = performance.now();
      await rome.create(Pod, pod("unimpressed"));
      await running("unimpressed");
      assert.ok(performance.now() - begin < 5_000);
      assert.equal(await rome.get(Node, { name: "naples" }), undefined);
      await rome.delete(VirtualNode, { name: "naples", namespace: "liqo-tenant-naples" });
    });
  });

  describe("what it costs", () => {
    const COUNT = 50;
    const names = Array.from({ length: COUNT }, (_, i) => `load-${i}`);

    it("is two requests for a pod, four with a token, and two for its end", async () => {
      await pause(300);
      const from = Date.now();
      await Promise.all(names.map((name) => rome.create(Pod, pod(name))));
      for (const name of names) await running(name);
      await pause(1_500);
      const started = requests(from, false);
      console.log(`      ${COUNT} pods: ${JSON.stringify(started)}`);
      assert.deepEqual(started, { "rome: patch pods/status": COUNT, "milan: create shadowpods": COUNT });

      const middle = Date.now();
      await Promise.all(names.map((name) => rome.delete(Pod, { name, namespace: HERE })));
      for (const name of names) await gone(name, () => local(name));
      await pause(1_500);
      const ended = requests(middle, false);
      console.log(`      their end: ${JSON.stringify(ended)}`);
      assert.deepEqual(ended, { "rome: delete pods": COUNT, "milan: delete shadowpods": COUNT });

      const oneByOne: number[] = [];
      for (let i = 0; i < 20; i++) {
        const begin = performance.now();
        await rome.create(Pod, pod(`one-${i}`));
        await until("it runs", async () => (await local(`one-${i}`))?.status?.phase === "Running", {
          everyMs: 5,
        });
        oneByOne.push(performance.now() - begin);
      }
      oneByOne.sort((a, b) => a - b);
      console.log(
        `      one at a time, created to Running: p50 ${oneByOne[10]?.toFixed(0)} ms, max ${oneByOne[19]?.toFixed(0)} ms`,
      );
      await pause(1_500);

      const last = Date.now();
      const robots = names.slice(0, 10).map((name) => name.replace("load", "robot"));
      await Promise.all(
        robots.map((name) => rome.create(Pod, pod(name, { spec: { automountServiceAccountToken: true } }))),
      );
      for (const name of robots) await running(name);
      await pause(1_500);
      const withTokens = requests(last, false);
      console.log(`      10 pods with tokens: ${JSON.stringify(withTokens)}`);
      assert.deepEqual(withTokens, {
        "rome: create serviceaccounts/token": 10,
        "rome: patch pods/status": 10,
        "milan: create secrets": 10,
        "milan: create shadowpods": 10,
      });
    });
  });

  describe("what it says", () => {
    it("counts what it reflects", async () => {
      const metrics = await kubelet.metrics();
      assert.match(
        metrics,
        /liqo_virtual_kubelet_reflection_item_counter\{namespace="shop",reflector_resource="Pod",cluster_id="milan",node_name="milan-pool"\} \d+/,
      );
    });

    it("says nothing secret in its log", () => {
      const log = kubelet.log();
      assert.ok(!/BEGIN (RSA |EC )?PRIVATE KEY|client-key-data|eyJhbGciOi/.test(log));
    });
  });

  describe("killed and started again", () => {
    it("changes nothing that is right, and mends what changed meanwhile", async () => {
      await rome.create(Pod, pod("stays"));
      await rome.create(Pod, pod("leaves"));
      await running("stays");
      await running("leaves");
      // The provider writes that when it has nothing else to do.
      await until("the phase is written", async () => (await shadow("stays"))?.status?.phase === "Running");
      const before = { shadow: await shadow("stays"), remote: await remote("stays") };
      await kubelet.end("SIGKILL");
      await rome.delete(Pod, { name: "leaves", namespace: HERE });
      await rome.create(Pod, pod("comes"));
      const from = Date.now();
      kubelet = await startKubelet("vk-0");
      await running("comes");
      await gone("the pod that was to end", () => local("leaves"));
      assert.equal((await shadow("stays"))?.metadata.uid, before.shadow?.metadata.uid);
      assert.equal((await remote("stays"))?.metadata.uid, before.remote?.metadata.uid);
      assert.equal(
        (await shadow("stays"))?.metadata.resourceVersion,
        before.shadow?.metadata.resourceVersion,
      );
      await pause(1_500);
      assert.deepEqual(requests(from), {
        "rome: delete pods": 1,
        "rome: patch pods/status": 1,
        "milan: create shadowpods": 1,
        "milan: delete shadowpods": 1,
      });
    });

    it("renews a token that would expire soon, for the same pod", async () => {
      await rome.create(Pod, pod("patient", { spec: { automountServiceAccountToken: true } }));
      await running("patient");
      const ref = { name: "patient-token", namespace: THERE };
      const first = await until("the token is there", () => milan.get(Secret, ref));
      await kubelet.end("SIGKILL");
      const soon = new Date(Date.now() + 300_000).toISOString().replace(/\.\d+Z$/, "Z");
      await milan.patch(
        Secret,
        ref,
        { metadata: { annotations: { "offloading.liqo.io/service-account-expiration": soon } } },
        { type: "merge" },
      );
      kubelet = await startKubelet("vk-0");
      const [key = ""] = Object.keys(first.data ?? {});
      const second = await until("the token is another", async () => {
        const found = await milan.get(Secret, ref);
        return found?.data?.[key] !== first.data?.[key] ? found : undefined;
      });
      assert.equal(second.metadata.uid, first.metadata.uid);
      const payload =
        Buffer.from(second.data?.[key] ?? "", "base64")
          .toString("utf8")
          .split(".")[1] ?? "";
      const claims = JSON.parse(Buffer.from(payload, "base64url").toString("utf8")) as {
        "kubernetes.io": { pod: { uid: string } };
      };
      assert.equal(claims["kubernetes.io"].pod.uid, (await local("patient"))?.metadata.uid);
    });

    it("writes nothing when nothing changes", async () => {
      await kubelet.end("SIGKILL");
      const from = Date.now();
      kubelet = await startKubelet("vk-0");
      await pause(4_000);
      assert.deepEqual(requests(from), {});
    });

    it("again and again while pods come and go, ends with each pod once", async function () {
      this.timeout(120_000);
      const names = Array.from({ length: 15 }, (_, i) => `chaos-${i}`);
      let over = false;
      const churn = async (name: string) => {
        while (!over) {
          if (Math.random() < 0.6) {
            await rome.create(Pod, pod(name)).catch(() => undefined);
          } else {
            const gracePeriodSeconds = Math.random() < 0.3 ? 0 : 30;
            await rome.delete(Pod, { name, namespace: HERE }, { gracePeriodSeconds });
          }
          await pause(Math.random() * 800);
        }
      };
      const churning = names.map(churn);
      for (let round = 0; round < 6; round++) {
        await pause(500 + Math.random() * 2_000);
        await kubelet.end("SIGKILL");
        kubelet = await startKubelet("vk-0");
      }
      over = true;
      await Promise.all(churning);
      for (const name of names) await rome.create(Pod, pod(name)).catch(() => undefined);

      let unsettled: string[] = [];
      await until("each pod runs once, or is gone on both sides", async () => {
        unsettled = await unsettledPods(names);
        return unsettled.length === 0;
      }).catch((error: unknown) => assert.fail(`${String(error)}:\n${unsettled.join("\n")}`));
      await pause(1_500);
      const from = Date.now();
      await pause(3_000);
      assert.deepEqual(requests(from), {});
    });

    /** Pods that do not run once on each side, and are not gone from both either; with what there is of them. */
    async function unsettledPods(names: readonly string[]): Promise<string[]> {
      const [here, there, shadows] = await Promise.all([
        rome.list(Pod, { namespace: HERE }),
        milan.list(Pod, { namespace: THERE }),
        milan.list(ShadowPod, { namespace: THERE }),
      ]);
      return names.flatMap((name) => {
        const own = here.find(({ metadata }) => metadata.name === name);
        const remotes = there.filter(({ metadata }) => metadata.name === name);
        const shadowed = shadows.filter(({ metadata }) => metadata.name === name);
        if (own === undefined && remotes.length === 0 && shadowed.length === 0) return [];
        const source = JSON.parse(
          remotes[0]?.metadata.annotations?.["offloading.liqo.io/source"] ?? "{}",
        ) as { uid?: string };
        const runs =
          own !== undefined &&
          own.metadata.deletionTimestamp == null &&
          own.status?.phase === "Running" &&
          remotes.length === 1 &&
          shadowed.length === 1 &&
          source.uid === own.metadata.uid;
        const brief = (object: Pod | ShadowPod | undefined) =>
          object && [object.metadata.uid, object.metadata.deletionTimestamp, object.status];
        return runs
          ? []
          : [`${name}: ${JSON.stringify([brief(own), brief(remotes[0]), brief(shadowed[0]), source])}`];
      });
    }

    it("shares its nodes with another replica, and takes them back", async () => {
      const others = ["milan-2", "milan-3"];
      for (const name of others) await pair.virtualNode(name);
      await kubelet.end("SIGTERM");
      kubelet = await startKubelet("vk-0", "--replicas=2");
      const holders = async () => {
        const leases = await Promise.all(
          [NODE, ...others].map((name) => rome.get(Lease, { name, namespace: TENANT })),
        );
        return leases.map((lease) => lease?.spec.holderIdentity || "nobody").sort();
      };
      const mine = ["vk-0", "vk-0", "vk-0"];
      await until("all are hosted here", async () => (await holders()).join() === mine.join());
      const second = await startKubelet("vk-1", "--replicas=2");
      await until("one of three went over", async () => (await holders()).join() === "vk-0,vk-0,vk-1");
      await second.end("SIGTERM");
      await until("it came back", async () => (await holders()).join() === mine.join());
      for (const name of others) {
        await rome.delete(VirtualNode, { name, namespace: TENANT });
        await rome.delete(Node, { name });
      }
    });

    it("leaves its nodes to another replica", async () => {
      const other = await startKubelet("vk-1");
      await pause(1_000);
      await kubelet.end("SIGKILL");
      const begin = performance.now();
      await rome.create(Pod, pod("orphan"));
      await running("orphan");
      const tookMs = performance.now() - begin;
      console.log(`      taken over after ${(tookMs / 1000).toFixed(1)} s`);
      assert.ok(tookMs < 15_000);
      kubelet = other;
      const begin2 = performance.now();
      const third = await startKubelet("vk-2");
      await kubelet.end("SIGTERM");
      await rome.create(Pod, pod("handed-over"));
      await running("handed-over");
      console.log(`      handed over after ${((performance.now() - begin2) / 1000).toFixed(1)} s`);
      kubelet = third;
    });
  });

  describe("its provider", () => {
    it("away, makes the node silent and nothing else", async () => {
      await kubelet.end("SIGTERM");
      kubelet = await startKubelet("vk-0", "--node-ping-interval=500ms", "--node-lease-duration=4s");
      await until(
        "the lease is ours",
        async () =>
          (await rome.get(Lease, { name: NODE, namespace: TENANT }))?.spec.holderIdentity === "vk-0",
      );
      const lease = async () =>
        (await rome.get(Lease, { name: NODE, namespace: "kube-node-lease" }))?.spec.renewTime;
      const shown = await lease();
      await until("the lease is renewed", async () => (await lease()) !== shown);
      const restarted = controlPlane("milan").restartApiServer({ downtimeMs: 4_000 });
      await pause(2_000);
      const silent = await lease();
      await pause(1_500);
      assert.equal(await lease(), silent);
      await restarted;
      await until("the lease is renewed again", async () => (await lease()) !== silent);
      await rome.create(Pod, pod("after"));
      await running("after");
    });

    it("gone for good, lets the node go", async () => {
      await rome.patch(
        VirtualNode,
        { name: NODE, namespace: TENANT },
        { metadata: { finalizers: ["test/finalizer"] } },
        { type: "merge" },
      );
      await rome.delete(VirtualNode, { name: NODE, namespace: TENANT });
      await rome.patch(
        VirtualNode,
        { name: NODE, namespace: TENANT },
        { status: { conditions: [{ type: "VirtualKubelet", status: "Deleting" }] } },
        { type: "merge", subresource: "status" },
      );
      await until("the lease is given back", async () => {
        return !(await rome.get(Lease, { name: NODE, namespace: TENANT }))?.spec.holderIdentity;
      });
      await rome.delete(Node, { name: NODE });
      await pause(1_500);
      assert.equal(await rome.get(Node, { name: NODE }), undefined);
      await rome.patch(
        VirtualNode,
        { name: NODE, namespace: TENANT },
        { metadata: { finalizers: null } },
        { type: "merge" },
      );
      await gone("its lease", () => rome.get(Lease, { name: NODE, namespace: TENANT }));
    });
  });
});
