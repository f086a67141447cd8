import assert from "node:assert/strict";
import { setTimeout as pause } from "node:timers/promises";

import { Configuration, Event, Lease, Namespace, Node, Pod, ShadowPod, VirtualNode } from "../../runtime/api";
import { installRoles } from "../support/install-roles";
import { ManagedAdmission } from "../support/managed-admission";
import { LIQO, TENANT, TOLERATION } from "../support/offloading-pair";
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

    it("are not ready while their node is said to be unavailable", async () => {
      await lab.rome.create(Pod, podOf("cut-off"));
      await lab.running("cut-off");
      const label = (value: string | null) =>
        lab.rome.patch(
          Pod,
          { name: "cut-off", namespace: HERE },
          { metadata: { labels: { "liqo.io/remote-unavailable": value } } },
          { type: "merge" },
        );
      const ready = async () =>
        (await lab.local("cut-off"))?.status?.conditions?.find(({ type }) => type === "Ready")?.status;
      await label("true");
      await until("the pod is not ready", async () => (await ready()) === "False");
      assert.equal((await lab.local("cut-off"))?.status?.phase, "Running");
      assert.equal((await lab.shadow("cut-off"))?.metadata.labels?.["liqo.io/remote-unavailable"], undefined);
      await label(null);
      await until("the pod is ready again", async () => (await ready()) === "True");
    });

    it("show an address of their provider's networks, and none that the provider makes up", async () => {
      await lab.rome.create(Pod, podOf("addressed"));
      const reported = (await lab.running("addressed")).status?.podIP ?? "";
      assert.match(reported, /^10\.201\./);
      const configuration = { name: "milan", namespace: TENANT };
      await lab.rome.create(Configuration, {
        apiVersion: "networking.liqo.io/v1beta1",
        kind: "Configuration",
        metadata: { ...configuration, labels: { "liqo.io/remote-cluster-id": "milan" } },
        spec: { remote: { cidr: { pod: ["10.201.0.0/16"], external: ["10.70.0.0/16"] } } },
      });
      const shows = (what: string, address: string | undefined) =>
        until(what, async () => {
          const pod = await lab.local("addressed");
          return pod !== undefined && pod.status?.podIP === address && pod.status?.conditions;
        });
      await shows("no address while the networks have no place", undefined);
      const status = { remote: { cidr: { pod: ["10.99.0.0/16"], external: ["10.98.0.0/16"] } } };
      const asStatus = { type: "merge", subresource: "status" } as const;
      await lab.rome.patch(Configuration, configuration, { status }, asStatus);
      await shows("the address as it is reached from here", reported.replace("10.201.", "10.99."));
      const report = (podIP: string) =>
        lab.milan.patch(
          Pod,
          { name: "addressed", namespace: THERE },
          { status: { podIP, podIPs: [{ ip: podIP }] } },
          asStatus,
        );
      for (const stolen of ["172.18.0.2", "10.97.0.1"]) {
        await report(stolen);
        const conditions = await until(`${stolen} is withheld`, async () => {
          const found = await shows("no address", undefined);
          return found.some(({ message = "" }) => message.includes(stolen)) && found;
        });
        assert.ok(conditions.some(({ type }) => type === "liqo.io/AddressReflected"));
      }
      await report(reported);
      const after = await shows("the address again", reported.replace("10.201.", "10.99."));
      assert.equal(
        after.some(({ type }) => type === "liqo.io/AddressReflected"),
        false,
      );
      const told = (await lab.eventsOf("addressed")).filter(({ reason }) => reason === "AddressWithheld");
      assert.ok(told.some(({ message = "" }) => message.includes("172.18.0.2")));
      await lab.rome.delete(Configuration, configuration);
      await shows("the address as it is reported", reported);
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

    it("says nothing secret in its log", () => {
      const log = lab.kubelet.log();
      assert.ok(!/BEGIN (RSA |EC )?PRIVATE KEY|client-key-data|eyJhbGciOi/.test(log));
    });
  });

  describe("what its provider refuses", () => {
    let admission: ManagedAdmission | undefined;
    after(() => admission?.stop());

    /** Waits until the pod at home says why, and so does an event. */
    const refused = async (name: string, why: RegExp) => {
      const { phase, message } = await until(`${name} is refused`, async () => {
        const { status } = (await lab.local(name)) ?? {};
        return status?.reason === "OffloadingRefused" && status;
      });
      assert.equal(phase, "Pending");
      assert.match(message ?? "", why);
      await until("an event says so too", async () =>
        (await lab.eventsOf(name)).some(
          ({ reason, message: told = "" }) => reason === "FailedReflection" && why.test(told),
        ),
      );
      assert.equal(await lab.remote(name), undefined);
    };
    const asDeployer = {
      "liqo.io/api-server-support": "remote",
      "liqo.io/remote-service-account-name": "deployer",
    };
    const account =
      /spec\.pod\.serviceAccountName is "deployer", and the provider allows .* \(allowed: default\); leave it out, or ask the provider's administrator to allow it/;

    it("waits at home, and says which field, which value and what to do", async () => {
      // As the provider's controllers label the namespaces that they make.
      const baseline = { "pod-security.kubernetes.io/enforce": "baseline" };
      await lab.milan.patch(
        Namespace,
        { name: THERE },
        { metadata: { labels: baseline } },
        { type: "merge" },
      );
      await lab.rome.create(
        Pod,
        podOf("files", { spec: { volumes: [{ name: "root", hostPath: { path: "/" } }] } }),
      );
      await lab.rome.create(Pod, podOf("deployer", { metadata: { annotations: asDeployer } }));
      await Promise.all([
        refused(
          "files",
          /violates PodSecurity "baseline:latest": hostPath volumes \(volume "root"\); take that out of the pod, or ask the provider's administrator/,
        ),
        refused("deployer", account),
      ]);
    });

    it("does so where the provider's webhooks refuse it", async () => {
      await lab.pair.namespace(lab.milan, LIQO);
      await installRoles(lab.milan, LIQO);
      admission = await ManagedAdmission.start({
        admin: lab.milan,
        controlPlane: lab.controlPlane("milan"),
        clusterId: "milan",
        liqoNamespace: LIQO,
      });
      await lab.rome.create(Pod, podOf("by-webhook", { metadata: { annotations: asDeployer } }));
      await refused("by-webhook", account);
      assert.equal(await lab.shadow("by-webhook"), undefined);
    });
  });
});
