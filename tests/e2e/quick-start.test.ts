import assert from "node:assert/strict";
import { cpSync, readFileSync, symlinkSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

import {
  LocalWorkspace,
  type OutputMap,
  type PreviewResult,
  Stack,
  type UpResult,
} from "@pulumi/pulumi/automation";

import { z } from "zod";

import { workspaceOptions } from "../../provider/engine/automation";
import { preparePulumi } from "../../provider/engine/engine";
import { runCommand } from "../../provider/local-cluster/run-command";
import { listClusters } from "../../provider/local-cluster/local-clusters";
import { Node, packageRoot, Pod } from "../../runtime/api";
import { KubeClient } from "../../runtime/kube";
import { describeResult } from "../../scripts/quick-start/result";
import { commandsOf, documents } from "../support/documents";
import { kubectlWith } from "../support/kubectl";
import { ownCheckout } from "../support/local-checkout";

const stateSchema = z.object({ deployment: z.object({ resources: z.array(z.unknown()).default([]) }) });

describe("examples/quick-start, as a user's project, on the real engine and real clusters", function () {
  this.timeout(5 * 60_000);
  const checkout = ownCheckout("qs");
  let stack: Stack;
  let stateFile: string;
  let outputs: OutputMap;
  let rome: KubeClient;
  let milan: KubeClient;

  before(async function () {
    this.timeout(40 * 60_000); // the first run on a machine builds the tools
    const engine = await preparePulumi({ progress: (line) => console.log(`    ${line}`) });
    const folder = join(checkout.folder, "project");
    cpSync(join(packageRoot(), "examples", "quick-start"), folder, { recursive: true });
    symlinkSync(join(packageRoot(), "node_modules"), join(folder, "node_modules"));
    const workspace = await LocalWorkspace.create({ workDir: folder, ...(await workspaceOptions(engine)) });
    stack = await Stack.create("test", workspace);
    const backend = fileURLToPath(engine.environment["PULUMI_BACKEND_URL"] ?? "");
    stateFile = join(backend, ".pulumi", "stacks", "quick-start", "test.json");
  });
  after(() => {
    rome?.close();
    milan?.close();
  });

  it("previews on an empty state, with clusters that do not exist yet, and writes nothing", async () => {
    const { changeSummary }: PreviewResult = await stack.preview();
    assert.deepEqual(Object.keys(changeSummary), ["create"]);
    assert.ok((changeSummary.create ?? 0) > 60, `${changeSummary.create} resources`);
    assert.deepEqual(await listClusters(), []);
    assert.deepEqual(await resourcesInState(), []);
  });

  it("comes up: three pods at the peer, as the consumer and the provider see them", async () => {
    const begin = performance.now();
    const result: UpResult = await stack.up();
    outputs = result.outputs;
    console.log(`    pulumi up: ${((performance.now() - begin) / 1000).toFixed(1)} s`);
    rome = KubeClient.fromKubeconfig(text("romeKubeconfig"));
    milan = KubeClient.fromKubeconfig(text("milanKubeconfig"));

    const nodes = await rome.list(Node, { labelSelector: "liqo.io/type=virtual-node" });
    assert.deepEqual(
      nodes.map(({ metadata: { name } }) => name),
      ["milan"],
    );
    assert.equal(nodes[0]?.metadata.labels?.["topology.kubernetes.io/region"], "lombardy");
    const pods = await rome.list(Pod, { namespace: "shop" });
    assert.deepEqual(
      pods.map(({ spec, status }) => [spec.nodeName, status?.phase]),
      Array(3).fill(["milan", "Running"]),
    );
    assert.equal(text("remoteNamespace"), "shop-rome");
    const remote = await milan.list(Pod, { namespace: "shop-rome" });
    assert.deepEqual(
      remote.map(({ spec, status }) => [spec.nodeName, status?.phase]),
      Array(3).fill(["milan-1", "Running"]),
    );
    assert.deepEqual(
      remote.map(({ metadata: { name } }) => name).sort(),
      pods.map(({ metadata: { name } }) => name).sort(),
    );
  });

  it("gives the remote pods their ConfigMap and Secret, their logs to the consumer, and their answers to its pods", async () => {
    const description = await describeResult({
      rome,
      milan,
      namespace: "shop",
      remoteNamespace: "shop-rome",
      visitors: "visitors",
    });
    assert.match(description, /Saluti from pod shop-\S+, with a secret of 15 characters/);
    assert.match(description, /Saluti from pod shop-\S+ answered visitor-/);
  });

  it("answers the commands that the documents tell people to type", async () => {
    const kubectl = kubectlWith(text("romeKubeconfig"));
    // A bare verb, as in a sentence about `kubectl get`, is no command.
    const commands = documents()
      .flatMap((document) => commandsOf(document, "kubectl"))
      .filter((command) => command.split(" ").length > 2);
    assert.ok(commands.length >= 12, `${commands.length} commands`);
    for (const command of commands) await kubectl(command.split(" ").slice(1));

    const clusters = (...words: string[]) =>
      runCommand(process.execPath, [join(__dirname, "..", "..", "scripts", "clusters.js"), ...words]);
    assert.match(await clusters("list"), /milan[^\n]*\n[^]*rome/);
    assert.equal((await clusters("kubeconfig", "rome")).trim(), text("romeKubeconfig").trim());
  });

  it("has nothing to change the second time, and nothing to refresh", async () => {
    const { changeSummary } = await stack.preview({ expectNoChanges: true });
    assert.deepEqual(Object.keys(changeSummary), ["same"]);
    const { summary } = await stack.up({ expectNoChanges: true });
    assert.deepEqual(Object.keys(summary.resourceChanges ?? {}), ["same"]);
    await stack.refresh({ expectNoChanges: true });
    await stack.preview({ expectNoChanges: true });
  });

  it("keeps kubeconfigs, keys and the application's secret out of the state in clear text", () => {
    const state = readFileSync(stateFile, "utf8");
    assert.ok(state.includes("liqo-tenant-milan"), "the state is the one looked at");
    for (const secret of ["client-key-data", "PRIVATE KEY", "not-for-the-log", base64("not-for-the-log")]) {
      assert.ok(!state.includes(secret), `${secret} stands in the state`);
    }
  });

  it("is removed as a whole, the clusters with it", async () => {
    const begin = performance.now();
    await stack.destroy();
    console.log(`    pulumi destroy: ${((performance.now() - begin) / 1000).toFixed(1)} s`);
    assert.deepEqual(await listClusters(), []);
    assert.deepEqual(await resourcesInState(), []);
  });

  async function resourcesInState(): Promise<unknown[]> {
    const exported = stateSchema.parse(await stack.exportStack());
    return exported.deployment.resources;
  }

  function text(name: string): string {
    const value: unknown = outputs[name]?.value;
    assert.ok(typeof value === "string", `output ${name}`);
    return value;
  }
});

function base64(plain: string): string {
  return Buffer.from(plain).toString("base64");
}
