import assert from "node:assert/strict";
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
  TokenReview,
  VirtualNode,
} from "../../runtime/api";
import { TENANT } from "../support/offloading-pair";
import { until } from "../support/until";
import { gone, HERE, NODE, podOf, THERE, withVirtualKubelet } from "../support/virtual-kubelet-lab";

describe("virtual kubelet: objects around pods, and several nodes", function () {
  this.timeout(60_000);
  const lab = withVirtualKubelet();
  const configMap = (name: string, namespace: string, data: Record<string, string>): Desired<ConfigMap> => ({
    apiVersion: "v1",
    kind: "ConfigMap",
    metadata: { name, namespace },
    data,
  });

  describe("objects around pods", () => {
    it("are reflected, follow, and go", async () => {
      await lab.rome.create(ConfigMap, {
        apiVersion: "v1",
        kind: "ConfigMap",
        metadata: { name: "settings", namespace: HERE, labels: { app: "web", stale: "x" } },
        data: { a: "1", b: "2" },
        binaryData: { c: "AAE=" },
      });
      await lab.rome.create(Secret, {
        apiVersion: "v1",
        kind: "Secret",
        metadata: { name: "password", namespace: HERE },
        type: "example.com/password",
        data: { password: "c2VjcmV0" },
      });
      const map = await until("the map is there", () =>
        lab.milan.get(ConfigMap, { name: "settings", namespace: THERE }),
      );
      assert.deepEqual(map.data, { a: "1", b: "2" });
      assert.deepEqual(map.binaryData, { c: "AAE=" });
      assert.equal(map.metadata.labels?.["offloading.liqo.io/origin"], "rome");
      const secret = await until("the secret is there", () =>
        lab.milan.get(Secret, { name: "password", namespace: THERE }),
      );
      assert.equal(secret.type, "example.com/password");
      assert.deepEqual(secret.data, { password: "c2VjcmV0" });

      await lab.rome.patch(
        ConfigMap,
        { name: "settings", namespace: HERE },
        { metadata: { labels: { stale: null } }, data: { a: null, b: "3" }, binaryData: null },
        { type: "merge" },
      );
      const changed = await until("the map follows", async () => {
        const found = await lab.milan.get(ConfigMap, { name: "settings", namespace: THERE });
        return found?.data?.b === "3" ? found : undefined;
      });
      assert.deepEqual(changed.data, { b: "3" });
      assert.equal(changed.binaryData, undefined);
      assert.equal(changed.metadata.labels?.stale, undefined);
      assert.equal(changed.metadata.uid, map.metadata.uid);

      await lab.milan.patch(
        ConfigMap,
        { name: "settings", namespace: THERE },
        { data: { b: "edited", d: "x" } },
        { type: "merge" },
      );
      await until("the edit is taken back", async () => {
        const found = await lab.milan.get(ConfigMap, { name: "settings", namespace: THERE });
        return found?.data?.b === "3" && found.data.d === undefined;
      });

      await lab.rome.delete(ConfigMap, { name: "settings", namespace: HERE });
      await lab.rome.delete(Secret, { name: "password", namespace: HERE });
      await gone("the map", () => lab.milan.get(ConfigMap, { name: "settings", namespace: THERE }));
      await gone("the secret", () => lab.milan.get(Secret, { name: "password", namespace: THERE }));
    });

    it("stay at home where they say so, and leave when they say so later", async () => {
      const annotations = { "liqo.io/skip-reflection": "true" };
      const map = configMap("private", HERE, {});
      await lab.rome.create(ConfigMap, { ...map, metadata: { ...map.metadata, annotations } });
      await lab.rome.create(ConfigMap, configMap("public", HERE, {}));
      await until("the public map is there", () =>
        lab.milan.get(ConfigMap, { name: "public", namespace: THERE }),
      );
      assert.equal(await lab.milan.get(ConfigMap, { name: "private", namespace: THERE }), undefined);
      await lab.rome.patch(
        ConfigMap,
        { name: "public", namespace: HERE },
        { metadata: { annotations } },
        { type: "merge" },
      );
      await gone("the map", () => lab.milan.get(ConfigMap, { name: "public", namespace: THERE }));
    });

    it("are not put in the place of strangers", async () => {
      await lab.milan.create(ConfigMap, configMap("theirs", THERE, { a: "theirs" }));
      await lab.rome.create(ConfigMap, configMap("theirs", HERE, { a: "ours" }));
      await until("the conflict is told", async () =>
        (await lab.eventsOf("theirs")).some(({ reason }) => reason === "FailedReflection"),
      );
      assert.deepEqual((await lab.milan.get(ConfigMap, { name: "theirs", namespace: THERE }))?.data, {
        a: "theirs",
      });
      await lab.milan.delete(ConfigMap, { name: "theirs", namespace: THERE });
      await until("ours takes its place", async () => {
        return (await lab.milan.get(ConfigMap, { name: "theirs", namespace: THERE }))?.data?.a === "ours";
      });
    });

    it("say on the local object that a forced node port is taken at the provider, and take it when it is free", async () => {
      const service = (name: string, namespace: string, annotations = {}): Desired<Service> => ({
        apiVersion: "v1",
        kind: "Service",
        metadata: { name, namespace, annotations },
        spec: { type: "NodePort", ports: [{ name: "http", port: 80, nodePort: 30_080 }] },
      });
      await lab.milan.create(Service, service("first", THERE));
      await lab.rome.create(Service, service("forced", HERE, { "liqo.io/force-remote-node-port": "true" }));
      await until("the event", async () =>
        (await lab.eventsOf("forced")).some(
          ({ reason, message }) =>
            reason === "FailedReflection" && message?.includes("provided port is already allocated"),
        ),
      );
      await lab.milan.delete(Service, { name: "first", namespace: THERE });
      const there = await until(
        "the Service is there",
        () => lab.milan.get(Service, { name: "forced", namespace: THERE }),
        { timeoutMs: 30_000 },
      );
      assert.equal(there.spec.ports?.[0]?.nodePort, 30_080);
    });

    it("are those that there are now, however fast they were made anew", async () => {
      const service = (port: number): Desired<Service> => ({
        apiVersion: "v1",
        kind: "Service",
        metadata: { name: "renewed", namespace: HERE },
        spec: { ports: [{ name: "http", port }] },
      });
      for (const port of [80, 81, 82]) {
        if (port > 80) await lab.rome.delete(Service, { name: "renewed", namespace: HERE });
        await lab.rome.create(Service, service(port));
      }
      await until("the last one is there", async () => {
        const there = await lab.milan.get(Service, { name: "renewed", namespace: THERE });
        return there?.spec.ports?.[0]?.port === 82;
      });
      await lab.rome.delete(Service, { name: "renewed", namespace: HERE });
      await gone("the Service", () => lab.milan.get(Service, { name: "renewed", namespace: THERE }));
    });

    it("are put right ever more slowly where somebody at the provider undoes it time and again", async () => {
      const ref = { name: "contested", namespace: THERE };
      await lab.rome.create(ConfigMap, configMap("contested", HERE, { owner: "rome" }));
      const owner = async () => (await lab.milan.get(ConfigMap, ref))?.data?.["owner"];
      let undone = 0;
      const end = performance.now() + 4_000;
      while (performance.now() < end) {
        if ((await owner()) === "rome") {
          await lab.milan.patch(ConfigMap, ref, { data: { owner: "milan" } }, { type: "merge" });
          undone += 1;
        }
        await pause(5);
      }
      assert.ok(undone >= 2 && undone <= 8, `undone ${undone} times`);
      await until("it is told", async () =>
        (await lab.eventsOf("contested")).some(({ message }) => message?.includes("time and again")),
      );
      await until("it is right in the end", async () => (await owner()) === "rome", { timeoutMs: 30_000 });
      await lab.rome.delete(ConfigMap, { name: "contested", namespace: HERE });
      await gone("the map", () => lab.milan.get(ConfigMap, ref));
    });

    it("include the root CA under a name of its own, and Services with addresses of the provider", async () => {
      const here = await lab.rome.get(ConfigMap, { name: "kube-root-ca.crt", namespace: HERE });
      const there = await until("the CA is there", () =>
        lab.milan.get(ConfigMap, { name: "kube-root-ca.crt.rome", namespace: THERE }),
      );
      assert.deepEqual(there.data, here?.data);
      await lab.rome.create(Service, {
        apiVersion: "v1",
        kind: "Service",
        metadata: { name: "web", namespace: HERE },
        spec: { selector: { app: "web" }, ports: [{ name: "http", port: 80, targetPort: 8080 }] },
      });
      const service = await until("the service is there", () =>
        lab.milan.get(Service, { name: "web", namespace: THERE }),
      );
      assert.match(service.spec.clusterIP ?? "", /^10\.98\./);
      await lab.rome.patch(
        Service,
        { name: "web", namespace: HERE },
        { spec: { selector: { app: null, tier: "front" } } },
        { type: "merge" },
      );
      await until("the selector follows", async () => {
        const { selector } = (await lab.milan.get(Service, { name: "web", namespace: THERE }))?.spec ?? {};
        return selector?.tier === "front" && selector.app === undefined;
      });
      assert.equal(
        (await lab.milan.get(Service, { name: "web", namespace: THERE }))?.spec.clusterIP,
        service.spec.clusterIP,
      );
    });

    it("include tokens of the consumer for pods that mount them", async () => {
      await lab.rome.create(Pod, podOf("robot", { spec: { automountServiceAccountToken: true } }));
      await lab.running("robot");
      const secret = await until("the token is there", () =>
        lab.milan.get(Secret, { name: "robot-token", namespace: THERE }),
      );
      const [token] = Object.values(secret.data ?? {});
      const { status } = await lab.rome.post(TokenReview, {
        apiVersion: TokenReview.apiVersion,
        kind: TokenReview.kind,
        spec: { token: Buffer.from(token ?? "", "base64").toString("utf8") },
      });
      assert.equal(status?.user?.username, `system:serviceaccount:${HERE}:default`);
      const [source] = (await lab.shadow("robot"))?.spec.pod?.volumes?.[0]?.projected?.sources ?? [];
      assert.equal(source?.secret?.name, "robot-token");
      assert.equal(source?.secret?.items?.[0]?.key, Object.keys(secret.data ?? {})[0]);
      // As when the whole namespace is made anew: soon after it was issued, too.
      await lab.milan.delete(Secret, secret.metadata);
      const again = await until("the token is there again", () =>
        lab.milan.get(Secret, { name: "robot-token", namespace: THERE }),
      );
      assert.notEqual(again.metadata.uid, secret.metadata.uid);
      await lab.rome.delete(Pod, { name: "robot", namespace: HERE });
      await gone("the token", () => lab.milan.get(Secret, { name: "robot-token", namespace: THERE }));
    });

    it("include the tokens of a pod that comes again at once before it starts", async () => {
      const again = podOf("returning", { spec: { automountServiceAccountToken: true } });
      await lab.rome.create(Pod, again);
      await lab.running("returning");
      const ref = { name: "returning-token", namespace: THERE };
      const first = await until("the token is there", () => lab.milan.get(Secret, ref));
      await lab.rome.delete(Pod, { name: "returning", namespace: HERE });
      await gone("the pod", () => lab.local("returning"));
      const { uid } = (await lab.rome.create(Pod, again)).metadata;
      const shadow = await until(
        "its own ShadowPod is there",
        async () => {
          const found = await lab.shadow("returning");
          const source = found?.metadata.annotations?.["offloading.liqo.io/source"];
          return source?.includes(`"${uid}"`) === true ? found : undefined;
        },
        { everyMs: 5 },
      );
      const secret = await lab.milan.get(Secret, ref);
      // It was kept for the while in which pods were leaving, or went and was made anew.
      if (secret !== undefined && secret.metadata.uid === first.metadata.uid) {
        assert.equal(secret.metadata.annotations?.["offloading.liqo.io/service-account-for-pod-uid"], uid);
        const written = Number(secret.metadata.resourceVersion);
        assert.ok(
          written < Number(shadow.metadata.resourceVersion),
          "the tokens were the earlier pod's when this one was made",
        );
      }
      await lab.running("returning");
      await until("there is one token", async () => {
        const { data = {} } = (await lab.milan.get(Secret, ref)) ?? {};
        return Object.keys(data).length === 1;
      });

      // One that mounts none leaves nothing of those before it.
      await lab.rome.delete(Pod, { name: "returning", namespace: HERE });
      await gone("the pod", () => lab.local("returning"));
      await lab.rome.create(Pod, podOf("returning"));
      await gone("the token", () => lab.milan.get(Secret, ref));
      await lab.running("returning");
    });

    it("show what happens to them at the provider", async () => {
      await lab.rome.create(Pod, podOf("talkative"));
      await lab.running("talkative");
      const there = await lab.remote("talkative");
      const now = new Date().toISOString().replace(/\.\d+Z$/, "Z");
      const happens = (name: string, reason: string, message: string) =>
        lab.milan.create(Event, {
          apiVersion: "v1",
          kind: "Event",
          metadata: { name, namespace: THERE },
          involvedObject: {
            apiVersion: "v1",
            kind: "Pod",
            name: "talkative",
            namespace: THERE,
            uid: there?.metadata.uid,
          },
          reason,
          message,
          type: "Normal",
          source: { component: "kubelet" },
          firstTimestamp: now,
          lastTimestamp: now,
          count: 1,
        });
      // The scheduler here has said as much.
      await happens("talkative.0", "Scheduled", "assigned to milan-1");
      await happens("talkative.1", "Pulled", "the image is there");
      const here = await lab.local("talkative");
      const copy = await until("the event is here", () =>
        lab.rome.get(Event, { name: "talkative.1", namespace: HERE }),
      );
      assert.equal(copy.involvedObject.uid, here?.metadata.uid);
      assert.equal(copy.source?.component, "kubelet (remote)");
      assert.equal(await lab.rome.get(Event, { name: "talkative.0", namespace: HERE }), undefined);
      await lab.milan.delete(Event, { name: "talkative.1", namespace: THERE });
      await gone("the copy", () => lab.rome.get(Event, { name: "talkative.1", namespace: HERE }));
    });
  });

  describe("several nodes in one process", () => {
    it("share what they can of one provider, and keep their pods apart", async () => {
      const from = Date.now();
      await lab.pair.virtualNode("milan-second");
      await until("the second node is there", () => lab.rome.get(Node, { name: "milan-second" }));
      await lab.rome.create(Pod, podOf("other", { spec: { nodeName: "milan-second" } }));
      await lab.running("other");
      assert.equal(
        (await lab.shadow("other"))?.metadata.labels?.["offloading.liqo.io/nodename"],
        "milan-second",
      );
      await until("one of them leads", async () => {
        const lease = await lab.rome.get(Lease, {
          name: "virtual-kubelet-leader-election",
          namespace: TENANT,
        });
        return lease?.spec.holderIdentity === "vk-0";
      });
      await lab.rome.create(ConfigMap, configMap("shared", HERE, { a: "1" }));
      await until("the map is there", () => lab.milan.get(ConfigMap, { name: "shared", namespace: THERE }));
      await pause(1_500);
      assert.equal(lab.requests(from)["milan: create configmaps"], 1);

      // The pod moves to the first node, under its name.
      await lab.rome.delete(Pod, { name: "other", namespace: HERE });
      await gone("the pod", () => lab.local("other"));
      await lab.rome.create(Pod, podOf("other"));
      await lab.running("other");
      assert.equal((await lab.shadow("other"))?.metadata.labels?.["offloading.liqo.io/nodename"], NODE);
      await lab.rome.delete(VirtualNode, { name: "milan-second", namespace: TENANT });
      await gone("the second node's lease", () =>
        lab.rome.get(Lease, { name: "milan-second", namespace: TENANT }),
      );
      await lab.rome.delete(Node, { name: "milan-second" });
    });

    it("do not suffer from each other's providers", async () => {
      const [nobody = 0] = await freePorts(1);
      const text = (await lab.controlPlane("milan").kubeconfigFor({ name: "nobody" })).replaceAll(
        lab.controlPlane("milan").url,
        `https://127.0.0.1:${nobody}`,
      );
      await lab.pair.namespace(lab.rome, "liqo-tenant-naples");
      await lab.rome.create(Secret, {
        apiVersion: "v1",
        kind: "Secret",
        metadata: { name: "naples", namespace: "liqo-tenant-naples" },
        data: { kubeconfig: Buffer.from(text).toString("base64") },
      });
      await lab.rome.create(VirtualNode, {
        apiVersion: VirtualNode.apiVersion,
        kind: VirtualNode.kind,
        metadata: { name: "naples", namespace: "liqo-tenant-naples" },
        spec: { clusterID: "naples", createNode: true, kubeconfigSecretRef: { name: "naples" } },
      });
      await until("the event says why", async () => {
        const events = await lab.rome.list(Event, { namespace: "liqo-tenant-naples" });
        return events.some(({ reason, message = "" }) => {
          return reason === "ProviderUnreachable" && message.includes(`127.0.0.1:${nobody}`);
        });
      });
      const begin = performance.now();
      await lab.rome.create(Pod, podOf("unimpressed"));
      await lab.running("unimpressed");
      assert.ok(performance.now() - begin < 5_000);
      assert.equal(await lab.rome.get(Node, { name: "naples" }), undefined);
      await lab.rome.delete(VirtualNode, { name: "naples", namespace: "liqo-tenant-naples" });
    });
  });
});
