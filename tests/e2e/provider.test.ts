import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";

import type * as pulumi from "@pulumi/pulumi";
import type { OutputMap, Stack } from "@pulumi/pulumi/automation";
import { stringify } from "yaml";

import { Ed25519KeyPair, Preflight, WaitFor, WireGuardKeyPair } from "../../provider";
import { discoverKind } from "../../provider/waiting/kind-discovery";
import {
  ConfigMap,
  CustomResourceDefinition,
  DaemonSet,
  type KubeObject,
  Namespace,
  Node,
  Pod,
  Secret,
  ServiceAccount,
} from "../../runtime/api";
import { parseKubeconfig, publicKeyOf, wireGuardPublicKey } from "../../runtime/identity";
import { KubeClient } from "../../runtime/kube";
import { pulumiProject, type PulumiProject } from "../support/pulumi-project";
import { until } from "../support/until";
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

  describe("WaitFor", () => {
    const controlPlane = withControlPlanes({ milan: {} });
    const namespace = "liqo-tenant-rome";
    let client: KubeClient;

    before(async () => {
      client = KubeClient.fromKubeconfig(controlPlane("milan").kubeconfig);
      await client.create(Namespace, { apiVersion: "v1", kind: "Namespace", metadata: { name: namespace } });
    });
    after(() => client?.close());

    const configMap = (name: string, data: Record<string, string>) =>
      client.apply(
        ConfigMap,
        { apiVersion: "v1", kind: "ConfigMap", metadata: { name, namespace }, data },
        { fieldManager: "test" },
      );
    const waiting = (name: string, more: Partial<ConstructorParameters<typeof WaitFor>[1]>) => () => {
      const wait = new WaitFor("wait", {
        kubeconfig: controlPlane("milan").kubeconfig,
        apiVersion: "v1",
        kind: "ConfigMap",
        name,
        namespace,
        timeoutSeconds: 60,
        ...more,
      });
      return Promise.resolve({ value: wait.value });
    };
    const field = (path: string, equals?: string) => ({
      field: { path, ...(equals !== undefined && { equals }) },
    });

    it("waits for a field that comes later, and gives its value", async () => {
      const stack = await project.stack("field", waiting("late", field("{.data.phase}")));
      const up = stack.up();
      await configMap("late", {});
      setTimeout(() => void configMap("late", { phase: "Bound" }), 2_000);
      assert.equal(text((await up).outputs["value"]), "Bound");
      await settled(stack);
      assert.ok(
        !project.stateFile("field").includes("certificate-authority-data"),
        "the kubeconfig is a secret",
      );
    });

    it("with another expectation is an update and looks again", async () => {
      await configMap("late", { phase: "Bound", next: "Released" });
      const stack = await project.stack("field", waiting("late", field("{.data.next}", "Released")));
      const { summary, outputs } = await stack.up();
      assert.equal(summary.resourceChanges?.["update"], 1);
      assert.equal(text(outputs["value"]), "Released");
      await settled(stack);
    });

    it("waits anew after a refresh that found it no longer so", async () => {
      await configMap("late", { phase: "Bound" });
      const stack = await project.stack("field", waiting("late", field("{.data.next}", "Released")));
      assert.equal((await stack.refresh()).summary.resourceChanges?.["delete"], 1);
      const up = stack.up();
      setTimeout(() => void configMap("late", { next: "Released" }), 1_000);
      assert.equal((await up).summary.resourceChanges?.["create"], 1);
      await stack.destroy();
    });

    it("waits for absence", async () => {
      await configMap("leaving", {});
      const stack = await project.stack("absence", waiting("leaving", { absent: true }));
      const up = stack.up();
      setTimeout(() => void client.delete(ConfigMap, { name: "leaving", namespace }), 1_500);
      await up;
      await settled(stack);
      await stack.destroy();
    });

    it("waits for a condition, of a kind that is not served yet", async () => {
      const wanted = {
        apiVersion: "tests.liqo.io/v1",
        kind: "Probe",
        name: "pool",
        condition: { type: "Ready" },
      };
      const stack = await project.stack("condition", waiting("pool", wanted));
      const up = stack.up();
      setTimeout(() => void readyProbe(client, { name: "pool", namespace }), 1_500);
      await up;
      await settled(stack);
      await stack.destroy();
    });

    it("that reaches its deadline says what it saw and what to do, and the next run goes on waiting", async () => {
      await configMap("never", { phase: "Pending" });
      const stack = await project.stack(
        "deadline",
        waiting("never", { ...field("{.data.phase}", "Bound"), timeoutSeconds: 3 }),
      );
      await assert.rejects(stack.up(), (error: Error) => {
        const url = controlPlane("milan").url;
        for (const part of [
          `ConfigMap "${namespace}/never" at ${url}: waited 3 s for field {.data.phase}=Bound; last seen: {.data.phase} is Pending`,
          "seen: 0 s: {.data.phase} is Pending",
          `next: look with "kubectl get configmap never -n ${namespace} -o yaml"`,
        ]) {
          assert.ok(error.message.includes(part), `${part}\nin\n${error.message}`);
        }
        return true;
      });
      await configMap("never", { phase: "Bound" });
      assert.equal(text((await stack.up()).outputs["value"]), "Bound");
      await settled(stack);
      await stack.destroy();
    });

    it("gives up at once when it cannot come true", async () => {
      await configMap("denied", { phase: "Denied" });
      const failOn = { path: "{.data.phase}", equals: "Denied" };
      const stack = await project.stack(
        "refusal",
        waiting("denied", { ...field("{.data.phase}", "Bound"), failOn }),
      );
      await assert.rejects(
        stack.up(),
        /field \{\.data\.phase\}=Bound cannot come: \{\.data\.phase\} is Denied/,
      );
      await stack.destroy();
    });

    it("with credentials that are not accepted fails at once and says so", async () => {
      const kubeconfig = withToken(controlPlane("milan").kubeconfig, "expired");
      const stack = await project.stack(
        "unauthorized",
        waiting("late", { ...field("{.data.phase}"), kubeconfig }),
      );
      await assert.rejects(stack.up(), /does not accept the kubeconfig's credentials \(401\)/);
      await stack.destroy();
    });

    it("with another cluster's CA fails at once and says so", async () => {
      const { server } = parseKubeconfig(controlPlane("milan").kubeconfig);
      const kubeconfig = kubeconfigOf(server, {}, { "certificate-authority-data": otherAuthority() });
      const stack = await project.stack(
        "authority",
        waiting("late", { ...field("{.data.phase}"), kubeconfig, timeoutSeconds: 250 }),
      );
      await assert.rejects(stack.up(), /the API server cannot be used: .*(certificate|CERT)/i);
      await stack.destroy();
    });

    it("marks values of Secrets as secret", async () => {
      const data = { token: Buffer.from("very secret token").toString("base64") };
      await client.create(Secret, {
        apiVersion: "v1",
        kind: "Secret",
        metadata: { name: "token", namespace },
        data,
      });
      const stack = await project.stack(
        "secret",
        waiting("token", { kind: "Secret", ...field("{.data.token}") }),
      );
      const { outputs } = await stack.up();
      assert.deepEqual(outputs["value"], { value: data.token, secret: true });
      await settled(stack);
      assert.ok(!project.stateFile("secret").includes(data.token));
      await stack.destroy();
    });

    it("refuses inputs that make no sense, naming each", async () => {
      const nothing = await project.stack("refused", waiting("late", {}));
      await assert.rejects(nothing.preview(), /nothing to wait for: give condition, field or absent/);
      const wrong = { field: { path: "{.a..b}" }, timeoutSeconds: 0, name: "Not_A_Name" };
      const faulty = await project.stack("refused", waiting("late", wrong));
      await assert.rejects(faulty.preview(), (error: Error) => {
        assert.match(error.message, /is not a path at/);
        assert.match(error.message, /timeoutSeconds/);
        assert.match(error.message, /"Not_A_Name" is not a name/);
        return true;
      });
    });
  });

  describe("Preflight", () => {
    const controlPlane = withControlPlanes({ blue: {}, green: {} });
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
      await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
      try {
        const address = server.address();
        assert.ok(address !== null && typeof address === "object");
        const kubeconfig = kubeconfigOf(`http://127.0.0.1:${address.port}`);
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

/** Defines a kind and makes one object of it that becomes Ready: first for an older generation, then for the present one. */
async function readyProbe(client: KubeClient, ref: { name: string; namespace: string }): Promise<void> {
  const [group, version, kind, plural] = ["tests.liqo.io", "v1", "Probe", "probes"];
  const schema = { openAPIV3Schema: { type: "object", "x-kubernetes-preserve-unknown-fields": true } };
  await client.create(CustomResourceDefinition, {
    apiVersion: "apiextensions.k8s.io/v1",
    kind: "CustomResourceDefinition",
    metadata: { name: `${plural}.${group}` },
    spec: {
      group,
      names: { kind, plural },
      scope: "Namespaced",
      versions: [{ name: version, served: true, storage: true, subresources: { status: {} }, schema }],
    },
  });
  const limits = { signal: AbortSignal.timeout(30_000), deadlineMs: 5_000 };
  const probe = await until("the kind", () => discoverKind(client, `${group}/${version}`, kind, limits));
  const made = await until("the object", () =>
    client.create<KubeObject>(probe, { apiVersion: `${group}/${version}`, kind, metadata: ref }),
  );
  for (const observedGeneration of [0, made.metadata.generation]) {
    await new Promise((resolve) => setTimeout(resolve, 500));
    const status = { conditions: [{ type: "Ready", status: "True", observedGeneration }] };
    await client.patch(probe, ref, { status }, { type: "merge", subresource: "status" });
  }
}

/** A stack at rest: no change planned, nothing found by a refresh, and still no change planned after it. */
async function settled(stack: Stack): Promise<void> {
  await stack.preview({ expectNoChanges: true });
  await stack.refresh({ expectNoChanges: true });
  await stack.preview({ expectNoChanges: true });
}

function text(output: OutputMap[string] | undefined): string {
  assert.equal(typeof output?.value, "string");
  return String(output?.value);
}

/** A CA that signed nothing here, base64 of PEM. */
function otherAuthority(): string {
  const folder = mkdtempSync(join(tmpdir(), "liqo-ca-"));
  try {
    const [key, certificate] = [join(folder, "key.pem"), join(folder, "ca.pem")];
    const subject = ["-subj", "/CN=another cluster"];
    const request = ["req", "-x509", "-newkey", "ed25519", "-nodes", "-days", "1", ...subject];
    execFileSync("openssl", [...request, "-keyout", key, "-out", certificate], { stdio: "ignore" });
    return readFileSync(certificate).toString("base64");
  } finally {
    rmSync(folder, { recursive: true });
  }
}

/** The same cluster with a user whom it does not know. */
function withToken(kubeconfig: string, token: string): string {
  const { server, ca } = parseKubeconfig(kubeconfig);
  return kubeconfigOf(
    server,
    { token },
    { "certificate-authority-data": Buffer.from(ca ?? "").toString("base64") },
  );
}

function kubeconfigOf(server: string, user: object = {}, cluster: object = {}): string {
  return stringify({
    apiVersion: "v1",
    kind: "Config",
    clusters: [{ name: "milan", cluster: { server, ...cluster } }],
    users: [{ name: "someone", user }],
    contexts: [{ name: "milan", context: { cluster: "milan", user: "someone" } }],
    "current-context": "milan",
  });
}
