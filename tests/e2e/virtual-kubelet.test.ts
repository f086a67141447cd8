import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { once } from "node:events";
import { connect } from "node:net";
import { setTimeout as pause } from "node:timers/promises";
import { promisify } from "node:util";

import { Event, Lease, Node, Pod, Secret, ShadowPod, VirtualNode } from "../../runtime/api";
import { TENANT, TOLERATION } from "../support/offloading-pair";
import { until } from "../support/until";
import { gone, HERE, NODE, podOf, THERE, withVirtualKubelet } from "../support/virtual-kubelet-lab";

describe("virtual kubelet, from rome to milan", function () {
  this.timeout(60_000);
  const lab = withVirtualKubelet();

  describe("its node", () => {
    it("is Ready soon after the VirtualNode is there, with what was granted", async () => {
      console.log(`      node made after ${Math.round(lab.nodeAfterMs)} ms`);
      assert.ok(lab.nodeAfterMs < 3_000);
      const node = await lab.rome.get(Node, { name: NODE });
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
        const lease = await lab.rome.get(Lease, { name: NODE, namespace: "kube-node-lease" });
        return lease?.metadata.ownerReferences?.[0]?.uid === node.metadata.uid;
      });
      const claim = await lab.rome.get(Lease, { name: NODE, namespace: TENANT });
      assert.equal(claim?.spec.holderIdentity, "vk-0");
    });

    it("tells why there can be none", async () => {
      const { metadata } = await lab.pair.virtualNode("odd", { resourceQuota: { hard: { cpu: "-1" } } });
      const told = await until("the reason", async () =>
        (await lab.rome.list(Event, { namespace: metadata.namespace ?? "" })).find(
          ({ reason, involvedObject }) => reason === "NodeRefused" && involvedObject.name === "odd",
        ),
      );
      assert.match(told.message ?? "", /cpu.*must be greater than or equal to 0/);
      await lab.rome.delete(VirtualNode, metadata);
    });

    it("gets back what was taken from it, and keeps what others added", async () => {
      await lab.rome.patch(
        Node,
        { name: NODE },
        { metadata: { labels: { region: null, "liqo.io/type": null, theirs: "kept" } } },
        { type: "merge" },
      );
      const node = await until("the labels are back", async () => {
        const found = await lab.rome.get(Node, { name: NODE });
        const { region, ["liqo.io/type"]: type } = found?.metadata.labels ?? {};
        return region === "north" && type === "virtual-node" ? found : undefined;
      });
      assert.equal(node.metadata.labels?.theirs, "kept");
    });

    it("follows the grant, resources that are withdrawn included", async () => {
      await lab.rome.patch(
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
        const found = await lab.rome.get(Node, { name: NODE });
        return found?.status?.capacity?.cpu === "6" ? found : undefined;
      });
      const followed = await until("the labels follow", async () => {
        const found = await lab.rome.get(Node, { name: NODE });
        return found?.metadata.labels?.zone === "z1" ? found : undefined;
      });
      assert.deepEqual(node.status?.capacity, { cpu: "6", memory: "8Gi", pods: "110" });
      assert.equal(followed.metadata.labels?.region, undefined);
    });

    it("loses no time on the taints of the node lifecycle controller", async () => {
      await pause(1_000);
      const taints = (await lab.rome.get(Node, { name: NODE }))?.spec.taints?.map(({ key }) => key);
      assert.deepEqual(taints, [TOLERATION.key]);
    });
  });

  describe("its pods", () => {
    it("run at the provider with their spec and metadata, and show its status", async () => {
      await lab.rome.create(
        Pod,
        podOf("web-0", {
          metadata: { annotations: { note: "n" } },
          spec: { priority: 0, nodeSelector: { a: "b" } },
        }),
      );
      const here = await lab.running("web-0");
      const there = await lab.shadow("web-0");
      assert.ok(there);
      assert.equal(there.metadata.labels?.["offloading.liqo.io/nodename"], NODE);
      assert.equal(there.metadata.labels?.app, "web-0");
      assert.equal(there.metadata.annotations?.note, "n");
      assert.equal(there.spec.pod?.nodeName, undefined);
      assert.equal(there.spec.pod?.nodeSelector, undefined);
      assert.equal(there.spec.pod?.automountServiceAccountToken, false);
      assert.ok(!there.spec.pod?.tolerations?.some(({ key }) => key === TOLERATION.key));
      const remotePod = await lab.remote("web-0");
      assert.equal(here.status?.podIP, remotePod?.status?.podIP);
      assert.equal(here.status?.hostIP, "127.0.0.1");
      assert.equal(here.metadata.labels?.["liqo.io/shadowPod"], "true");
      assert.equal(here.status?.conditions?.find(({ type }) => type === "Ready")?.status, "True");
    });

    it("go on when somebody removes their Node, which is back at once", async () => {
      const before = { node: await lab.rome.get(Node, { name: NODE }), shadow: await lab.shadow("web-0") };
      await lab.rome.delete(Node, { name: NODE });
      await until("there is another Node, Ready", async () => {
        const node = await lab.rome.get(Node, { name: NODE });
        return (
          node !== undefined &&
          node.metadata.uid !== before.node?.metadata.uid &&
          node.status?.conditions?.find(({ type }) => type === "Ready")?.status === "True"
        );
      });
      assert.equal((await lab.shadow("web-0"))?.metadata.uid, before.shadow?.metadata.uid);
      assert.equal((await lab.local("web-0"))?.status?.phase, "Running");
    });

    it("take their labels along, and nothing back from the provider", async () => {
      await lab.rome.patch(
        Pod,
        { name: "web-0", namespace: HERE },
        { metadata: { labels: { tier: "front", app: null } } },
        { type: "merge" },
      );
      const there = await until("the label is there", async () => {
        const found = await lab.shadow("web-0");
        return found?.metadata.labels?.tier === "front" ? found : undefined;
      });
      assert.equal(there.metadata.labels?.app, undefined);
      await lab.milan.patch(
        ShadowPod,
        { name: "web-0", namespace: THERE },
        { metadata: { labels: { "liqo.io/creator-user": "theirs" } } },
        { type: "merge" },
      );
      await pause(500);
      assert.equal((await lab.shadow("web-0"))?.metadata.labels?.["liqo.io/creator-user"], "theirs");
    });

    it("end here after they have ended there", async () => {
      lab.player.endAfterMs = 1_500;
      await lab.rome.delete(Pod, { name: "web-0", namespace: HERE });
      await gone("the ShadowPod", () => lab.shadow("web-0"));
      await until(
        "the remote pod is ending",
        async () => (await lab.remote("web-0"))?.metadata.deletionTimestamp,
      );
      assert.ok(await lab.local("web-0"), "the local pod waits for the remote one");
      await gone("the remote pod", () => lab.remote("web-0"));
      await gone("the local pod", () => lab.local("web-0"));
      lab.player.endAfterMs = 0;
    });

    it("can be deleted before they ever started", async () => {
      lab.player.held.add("slow");
      await lab.rome.create(Pod, podOf("slow"));
      await until("the ShadowPod is there", () => lab.shadow("slow"));
      await lab.rome.delete(Pod, { name: "slow", namespace: HERE });
      await gone("the local pod", () => lab.local("slow"));
      assert.equal(await lab.shadow("slow"), undefined);
    });

    it("make room for the next pod of their name, whichever way they went", async () => {
      await lab.rome.create(Pod, podOf("set-0"));
      await lab.running("set-0");
      const first = await lab.remote("set-0");
      await lab.rome.delete(Pod, { name: "set-0", namespace: HERE }, { gracePeriodSeconds: 0 });
      await lab.rome.create(Pod, podOf("set-0"));
      const second = await until("another remote pod runs", async () => {
        const found = await lab.remote("set-0");
        return found?.metadata.uid !== first?.metadata.uid && found?.status?.phase === "Running"
          ? found
          : undefined;
      });
      const here = await lab.running("set-0");
      assert.equal(here.status?.podIP, second.status?.podIP);
      assert.equal(here.status?.containerStatuses?.[0]?.restartCount, 0);
    });

    it("count a remote pod that was made again as a restart", async () => {
      const first = await lab.remote("set-0");
      await lab.milan.delete(
        Pod,
        { name: "set-0", namespace: THERE },
        { uid: first?.metadata.uid, gracePeriodSeconds: 0 },
      );
      await until("the restart shows", async () => {
        return (await lab.local("set-0"))?.status?.containerStatuses?.[0]?.restartCount === 1;
      });
    });

    it("show how they ended", async () => {
      const there = await lab.remote("set-0");
      assert.ok(there);
      await lab.player.report(there, { phase: "Failed" });
      const here = await until("the pod has failed", async () => {
        const found = await lab.local("set-0");
        return found?.status?.phase === "Failed" ? found : undefined;
      });
      assert.equal(here.status?.containerStatuses?.[0]?.state?.terminated?.exitCode, 1);
    });

    it("leave strangers of their name alone, and say so", async () => {
      await lab.milan.create(ShadowPod, {
        apiVersion: ShadowPod.apiVersion,
        kind: ShadowPod.kind,
        metadata: { name: "stranger", namespace: THERE },
        spec: { pod: { containers: [{ name: "x", image: "x" }] } },
      });
      await lab.rome.create(Pod, podOf("stranger"));
      await until("the conflict is told", async () =>
        (await lab.eventsOf("stranger")).some(({ reason, message }) => {
          return reason === "FailedReflection" && message?.includes("remote object already exists");
        }),
      );
      assert.equal((await lab.shadow("stranger"))?.metadata.labels?.["offloading.liqo.io/origin"], undefined);
      await lab.milan.delete(ShadowPod, { name: "stranger", namespace: THERE });
      await lab.running("stranger");
    });

    it("get their tokens once a stranger's Secret in the place of theirs is gone", async () => {
      const ref = { name: "tokens-token", namespace: THERE };
      await lab.milan.create(Secret, { apiVersion: "v1", kind: "Secret", metadata: ref, type: "Opaque" });
      await lab.rome.create(Pod, podOf("tokens", { spec: { automountServiceAccountToken: true } }));
      await until("the conflict is told", async () =>
        (await lab.eventsOf("tokens")).some(({ message }) =>
          message?.includes("remote object already exists"),
        ),
      );
      assert.equal((await lab.milan.get(Secret, ref))?.data, undefined);
      await lab.milan.delete(Secret, ref);
      await until("the tokens are there", async () => (await lab.milan.get(Secret, ref))?.data, {
        timeoutMs: 10_000,
      });
    });

    it("wait in a namespace that is not offloaded, start when it is, and are given up when it no longer is", async () => {
      await lab.pair.namespace(lab.rome, "later");
      await lab.rome.create(Pod, podOf("early", { metadata: { namespace: "later" } }));
      await until(
        "the pod is held back",
        async () => (await lab.local("early", "later"))?.status?.reason === "OffloadingBackOff",
      );
      await lab.pair.remoteNamespace("later-rome");
      await lab.pair.map({ later: { remoteNamespace: "later-rome", phase: "Accepted" } });
      await until("the pod runs", async () => {
        const { phase, reason } = (await lab.local("early", "later"))?.status ?? {};
        return phase === "Running" && reason === undefined;
      });
      await lab.pair.map({ later: null });
      await until("the pod is given up", async () => {
        const { phase, reason } = (await lab.local("early", "later"))?.status ?? {};
        return phase === "Failed" && reason === "OffloadingAborted";
      });
    });
  });

  describe("what it costs", () => {
    const COUNT = 50;
    const names = Array.from({ length: COUNT }, (_, i) => `load-${i}`);

    it("is two requests for a pod, four with a token, and two for its end", async () => {
      await pause(300);
      const from = Date.now();
      await Promise.all(names.map((name) => lab.rome.create(Pod, podOf(name))));
      for (const name of names) await lab.running(name);
      await pause(1_500);
      const started = lab.requests(from, false);
      console.log(`      ${COUNT} pods: ${JSON.stringify(started)}`);
      assert.deepEqual(started, { "rome: patch pods/status": COUNT, "milan: create shadowpods": COUNT });

      const middle = Date.now();
      await Promise.all(names.map((name) => lab.rome.delete(Pod, { name, namespace: HERE })));
      for (const name of names) await gone(name, () => lab.local(name));
      await pause(1_500);
      const ended = lab.requests(middle, false);
      console.log(`      their end: ${JSON.stringify(ended)}`);
      assert.deepEqual(ended, { "rome: delete pods": COUNT, "milan: delete shadowpods": COUNT });

      const oneByOne: number[] = [];
      for (let i = 0; i < 20; i++) {
        const begin = performance.now();
        await lab.rome.create(Pod, podOf(`one-${i}`));
        await until("it runs", async () => (await lab.local(`one-${i}`))?.status?.phase === "Running", {
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
        robots.map((name) =>
          lab.rome.create(Pod, podOf(name, { spec: { automountServiceAccountToken: true } })),
        ),
      );
      for (const name of robots) await lab.running(name);
      await pause(1_500);
      const withTokens = lab.requests(last, false);
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
      const metrics = await lab.kubelet.metrics();
      assert.match(
        metrics,
        /liqo_virtual_kubelet_reflection_item_counter\{namespace="shop",reflector_resource="Pod",cluster_id="milan",node_name="milan-pool"\} \d+/,
      );
    });

    it("asks whether the clients of silent sessions are still there", async () => {
      const { kubeletEndpoint } = (await lab.rome.get(Node, { name: NODE }))?.status?.daemonEndpoints ?? {};
      const port = kubeletEndpoint?.Port ?? assert.fail("the node shows no endpoint");
      const client = connect(port, "127.0.0.1");
      try {
        await once(client, "connect");
        const list = promisify(execFile);
        await until("the system watches the connection", async () => {
          const { stdout } = await list("ss", ["-tnoH", "state", "established", `( sport = :${port} )`]);
          return stdout.includes("keepalive");
        });
      } finally {
        client.destroy();
      }
    });

    it("says nothing secret in its log", () => {
      const log = lab.kubelet.log();
      assert.ok(!/BEGIN (RSA |EC )?PRIVATE KEY|client-key-data|eyJhbGciOi/.test(log));
    });
  });
});
