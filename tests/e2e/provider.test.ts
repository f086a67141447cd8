import assert from "node:assert/strict";
import { createServer } from "node:net";

import type * as pulumi from "@pulumi/pulumi";
import type { OutputMap } from "@pulumi/pulumi/automation";
import { stringify } from "yaml";

import { Ed25519KeyPair, Preflight, WaitFor, WireGuardKeyPair } from "../../provider";
import { DaemonSet, Node, Pod, ServiceAccount } from "../../runtime/api";
import { publicKeyOf, wireGuardPublicKey } from "../../runtime/identity";
import { KubeClient } from "../../runtime/kube";
import { listen } from "../support/listen";
import { pulumiProject, type PulumiProject } from "../support/pulumi-project";
import { settled, text } from "../support/stack-outcome";
import { withControlPlanes } from "../support/with-control-planes";

describe("resources of the provider, on the real engine", function () {
  this.timeout(300_000);
  let project: PulumiProject;

  before(async function () {
    this.timeout(30 * 60_000); // the first run on a machine builds the engine
    project = await pulumiProject("provider", { progress: console.log });
  });
  after(() => project?.remove());

  describe("key pairs", () => {
    const program = (generation: string) => () => {
      const tunnel = new WireGuardKeyPair("tunnel", { keepers: { generation } });
      const identity = new Ed25519KeyPair("identity");
      return Promise.resolve({
        tunnelPublic: tunnel.publicKey,
        tunnelPrivate: tunnel.privateKey,
        identityPublic: identity.publicKey,
        identityPrivate: identity.privateKey,
      });
    };
    const upTo = (generation: string) => project.stack("keys", program(generation));
    let first: OutputMap;

    it("are made once", async () => {
      first = (await (await upTo("1")).up()).outputs;
      const { tunnelPublic, tunnelPrivate, identityPublic, identityPrivate } = first;
      assert.equal(wireGuardPublicKey(text(tunnelPrivate)), text(tunnelPublic));
      assert.equal(publicKeyOf(text(identityPrivate)), text(identityPublic));
      assert.deepEqual(
        [tunnelPrivate?.secret, identityPrivate?.secret, tunnelPublic?.secret],
        [true, true, false],
      );
    });

    it("stay: no change in a second preview, none in a refresh", async () => {
      await settled(await upTo("1"));
    });

    it("keep private keys out of the stored state in clear text, also after a refresh", () => {
      const stored = project.stateFile("keys");
      assert.ok(stored.includes(text(first["tunnelPublic"])), "the state is the one looked at");
      for (const name of ["tunnelPrivate", "identityPrivate"]) {
        const key = text(first[name]);
        assert.ok(!stored.includes(key) && !stored.includes(JSON.stringify(key).slice(1, -1)), name);
      }
    });

    it("are replaced when a keeper changes, and only those", async () => {
      const { outputs, summary } = await (await upTo("2")).up();
      assert.notEqual(text(outputs["tunnelPublic"]), text(first["tunnelPublic"]));
      assert.equal(text(outputs["identityPublic"]), text(first["identityPublic"]));
      assert.equal(summary.resourceChanges?.["replace"], 1);
    });

    it("go with the stack", async () => {
      const stack = await upTo("2");
      await stack.destroy();
      assert.deepEqual(await stack.workspace.listStacks().then((stacks) => stacks[0]?.resourceCount ?? 0), 0);
    });
  });

  describe("Preflight", () => {
    const controlPlane = withControlPlanes({
      blue: { definitions: "absent" },
      green: { definitions: "absent" },
    });
    const looking = (cluster: "blue" | "green", podCidrs: string[] = []) => {
      const { kubeconfig } = controlPlane(cluster);
      return project.stack("preflight", () => {
        const { cluster: uid } = new Preflight("look", { kubeconfig, podCidrs });
        return Promise.resolve({ uid });
      });
    };

    it("goes on with the same cluster, and refuses another one that the kubeconfig leads to", async () => {
      const { uid } = (await (await looking("blue")).up()).outputs;
      assert.match(text(uid), /^[0-9a-f-]{36}$/);
      await settled(await looking("blue"));
      await assert.rejects((await looking("green")).up(), (error: Error) => {
        assert.match(error.message, /the kubeconfig leads to another cluster than before/);
        assert.ok(error.message.includes(text(uid)), "the cluster that it was is named");
        return true;
      });
      assert.deepEqual((await (await looking("blue")).up()).outputs["uid"], uid);
    });

    it("tells what in the cluster's networks will be in the way, and fails for none of it", async () => {
      const client = KubeClient.fromKubeconfig(controlPlane("blue").kubeconfig);
      try {
        await client.create(DaemonSet, calicoNode);
        await client.create(Node, { apiVersion: "v1", kind: "Node", metadata: { name: "node-1" }, spec: {} });
        await runningPod(client, "away", "10.200.0.5");
        const { stdout } = await (await looking("blue", ["10.42.0.0/16"])).up();
        assert.match(
          stdout,
          /outside of networking\.podCidrs \(10\.42\.0\.0\/16\).*default\/away \(10\.200\.0\.5\)/,
        );
        assert.match(stdout, /no node has the label of a control-plane node.*apiServer: \{ address/);
        assert.match(stdout, /Calico \(DaemonSet kube-system\/calico-node\).*skip-interface=liqo\.\*/);
      } finally {
        client.close();
      }
    });
  });

  describe("a cluster that is not to be asked", () => {
    it("is not dialled by a preview, whether the kubeconfig is known or not", async () => {
      let dialled = 0;
      const server = createServer((socket) => {
        dialled++;
        socket.destroy();
      });
      const port = await listen(server);
      try {
        const kubeconfig = kubeconfigOf(`http://127.0.0.1:${port}`);
        const program = (text: (later: pulumi.Output<string>) => pulumi.Input<string>) => () => {
          const later = new WireGuardKeyPair("cluster");
          const name = "pool";
          new WaitFor("wait", {
            kubeconfig: text(later.publicKey),
            apiVersion: "v1",
            kind: "ConfigMap",
            name,
            namespace: "default",
            absent: true,
          });
          return Promise.resolve({});
        };
        const unknown = await project.stack(
          "unknown",
          program((later) => later.apply(() => kubeconfig)),
        );
        assert.deepEqual((await unknown.preview()).changeSummary["create"], 3);
        const known = await project.stack(
          "known",
          program(() => kubeconfig),
        );
        assert.deepEqual((await known.preview()).changeSummary["create"], 3);
        assert.equal(dialled, 0);
      } finally {
        server.close();
      }
    });
  });
});

/** As Calico's manifests have it. */
const calicoNode: DaemonSet = {
  apiVersion: "apps/v1",
  kind: "DaemonSet",
  metadata: { name: "calico-node", namespace: "kube-system", labels: { "k8s-app": "calico-node" } },
  spec: {
    selector: { matchLabels: { "k8s-app": "calico-node" } },
    template: {
      metadata: { labels: { "k8s-app": "calico-node" } },
      spec: { containers: [{ name: "calico-node", image: "calico:1" }] },
    },
  },
};

/** A pod that a node says to run, with an address. */
async function runningPod(client: KubeClient, name: string, podIP: string): Promise<void> {
  const ref = { name, namespace: "default" };
  // Nobody makes accounts here.
  await client.create(ServiceAccount, {
    apiVersion: "v1",
    kind: "ServiceAccount",
    metadata: { name: "default", namespace: "default" },
  });
  await client.create(Pod, {
    apiVersion: "v1",
    kind: "Pod",
    metadata: ref,
    spec: {
      nodeName: "node-1",
      automountServiceAccountToken: false,
      containers: [{ name: "main", image: "shop:1" }],
    },
  });
  const status = { phase: "Running", podIP, podIPs: [{ ip: podIP }] };
  await client.patch(Pod, ref, { status }, { type: "merge", subresource: "status" });
}

/** Of a server that wants no credentials. */
function kubeconfigOf(server: string): string {
  return stringify({
    apiVersion: "v1",
    kind: "Config",
    clusters: [{ name: "milan", cluster: { server } }],
    users: [{ name: "someone", user: {} }],
    contexts: [{ name: "milan", context: { cluster: "milan", user: "someone" } }],
    "current-context": "milan",
  });
}
