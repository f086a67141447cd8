import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { delimiter, join } from "node:path";

import { credentials } from "@grpc/grpc-js";
import * as pulumi from "@pulumi/pulumi";
import { ResourceProviderClient } from "@pulumi/pulumi/proto/provider_grpc_pb";
import { GetSchemaRequest, type GetSchemaResponse } from "@pulumi/pulumi/proto/provider_pb";

import { schemaFile } from "../../plugin/plugin-provider";
import { ConfigMap, Identity, Namespace, ResourceSlice } from "../../runtime/api";
import { packageRoot } from "../../runtime/api/package-root";
import { wireGuardPublicKey } from "../../runtime/identity";
import { KubeClient } from "../../runtime/kube";
import { installDefinitions } from "../support/install-definitions";
import { pulumiProject, type PulumiProject } from "../support/pulumi-project";
import { until } from "../support/until";
import { withControlPlanes } from "../support/with-control-planes";

/** What the SDK of another language does: registers a type and its inputs, and leaves the rest to the plugin. */
class PluginResource extends pulumi.CustomResource {
  declare readonly publicKey: pulumi.Output<string>;
  declare readonly privateKey: pulumi.Output<string>;
  declare readonly value: pulumi.Output<string>;

  constructor(type: string, name: string, inputs: pulumi.Inputs) {
    const outputs = { publicKey: undefined, privateKey: undefined, value: undefined };
    super(`pulumi-liqo:index:${type}`, name, { ...outputs, ...inputs });
  }
}

class RemoteSlice extends pulumi.ComponentResource {
  declare readonly sliceName: pulumi.Output<string>;
  declare readonly kubeconfigSecretName: pulumi.Output<string>;

  constructor(name: string, inputs: pulumi.Inputs) {
    const outputs = { sliceName: undefined, kubeconfigSecretName: undefined };
    super("pulumi-liqo:index:ResourceSlice", name, { ...outputs, ...inputs }, {}, true);
  }
}

describe("the plugin for other languages, on the real engine", function () {
  this.timeout(300_000);
  const controlPlane = withControlPlanes({ rome: { controllerManager: true } });
  const namespace = "peer-milan";
  let folder: string;
  let project: PulumiProject;
  let client: KubeClient;

  before(async function () {
    this.timeout(45 * 60_000);
    folder = mkdtempSync(join(tmpdir(), "liqo-plugin-"));
    const main = join(__dirname, "..", "..", "plugin", "main.js");
    writeFileSync(
      join(folder, "pulumi-resource-pulumi-liqo"),
      `#!/bin/sh\nexec "${process.execPath}" "${main}" "$@"\n`,
      { mode: 0o755 },
    );
    project = await pulumiProject("plugin", {
      resourcePlugins: ["kubernetes"],
      progress: console.log,
      environment: { ...process.env, PATH: `${folder}${delimiter}${process.env["PATH"] ?? ""}` },
    });
    client = KubeClient.fromKubeconfig(controlPlane("rome").kubeconfig);
    await installDefinitions(client);
    await client.create(Namespace, { apiVersion: "v1", kind: "Namespace", metadata: { name: namespace } });
  });
  after(() => {
    client?.close();
    project?.remove();
    rmSync(folder, { recursive: true, force: true });
  });

  it("serves resources: made, at rest, refreshed, finished after a failure, destroyed; secrets stay secret", async () => {
    const inputs = (equals: string) => ({
      kubeconfig: controlPlane("rome").kubeconfig,
      apiVersion: "v1",
      kind: "ConfigMap",
      name: "later",
      namespace,
      field: { path: "{.data.phase}", equals },
      timeoutSeconds: 3,
    });
    const program = () => {
      const keys = new PluginResource("WireGuardKeyPair", "keys", {});
      const wait = new PluginResource("WaitFor", "wait", inputs("Bound"));
      return Promise.resolve({ publicKey: keys.publicKey, privateKey: keys.privateKey, value: wait.value });
    };
    const stack = await project.stack("resources", program);
    await assert.rejects(
      stack.up(),
      /waited 3 s for field \{\.data\.phase\}=Bound; last seen: does not exist/,
    );
    await client.create(ConfigMap, {
      apiVersion: "v1",
      kind: "ConfigMap",
      metadata: { name: "later", namespace },
      data: { phase: "Bound" },
    });
    const { outputs } = await stack.up();
    assert.equal(wireGuardPublicKey(String(outputs["privateKey"]?.value)), outputs["publicKey"]?.value);
    assert.deepEqual([outputs["privateKey"]?.secret, outputs["value"]?.value], [true, "Bound"]);
    await stack.preview({ expectNoChanges: true });
    await stack.refresh({ expectNoChanges: true });
    await stack.preview({ expectNoChanges: true });
    const stored = project.stateFile("resources");
    for (const secret of [String(outputs["privateKey"]?.value), "certificate-authority-data"]) {
      assert.ok(!stored.includes(secret));
    }
    await client.delete(ConfigMap, { name: "later", namespace });
    assert.equal((await stack.refresh()).summary.resourceChanges?.["delete"], 1);
    await stack.destroy();
  });

  it("serves components, whose own waits are the plugin's resources", async () => {
    const program = () => {
      const slice = new RemoteSlice("pool", {
        consumer: { kubeconfig: pulumi.secret(controlPlane("rome").kubeconfig), clusterId: "rome" },
        providerClusterId: "milan",
        tenantNamespace: namespace,
        sliceName: "pool",
        createVirtualNode: false,
        timeoutSeconds: 60,
      });
      return Promise.resolve({ sliceName: slice.sliceName, secretName: slice.kubeconfigSecretName });
    };
    const stack = await project.stack("components", program);
    const up = stack.up();
    await grantSlice(client, { name: "pool", namespace });
    const { outputs } = await up;
    assert.deepEqual(
      [outputs["sliceName"]?.value, outputs["secretName"]?.value],
      ["pool", "kubeconfig-resourceslice-pool"],
    );
    await stack.preview({ expectNoChanges: true });
    const stored = project.stateFile("components");
    assert.ok(!stored.includes("pulumi-nodejs:dynamic"), "nothing needs Node in the program's folder");
    assert.ok(!stored.includes("certificate-authority-data"));
    await stack.destroy();
    assert.equal(await client.get(ResourceSlice, { name: "pool", namespace }), undefined);
  });

  it("tells its schema", async () => {
    const plugin = spawn(join(folder, "pulumi-resource-pulumi-liqo"), {
      stdio: ["ignore", "pipe", "inherit"],
    });
    try {
      const [port] = (await once(plugin.stdout, "data")) as [Buffer];
      const connection = new ResourceProviderClient(
        `127.0.0.1:${port.toString().trim()}`,
        credentials.createInsecure(),
      );
      const told = await new Promise<GetSchemaResponse>((resolve, reject) =>
        connection.getSchema(new GetSchemaRequest(), (error, response) =>
          error === null ? resolve(response) : reject(error),
        ),
      );
      assert.deepEqual(JSON.parse(told.getSchema()), JSON.parse(readFileSync(schemaFile(), "utf8")));
      connection.close();
    } finally {
      plugin.kill();
    }
  });

  it("is started from the package's folder too, as a plugin that Pulumi fetched from a repository", async () => {
    const program = () =>
      Promise.resolve({ key: new PluginResource("WireGuardKeyPair", "keys", {}).publicKey });
    const elsewhere = await pulumiProject("plugin-folder");
    try {
      const plugins = { providers: [{ name: "pulumi-liqo", path: packageRoot() }] };
      const stack = await elsewhere.stack("dev", program, { plugins });
      const { outputs } = await stack.up();
      assert.equal(String(outputs["key"]?.value).length, 44);
      await stack.destroy();
    } finally {
      elsewhere.remove();
    }
  });
});

/** What the controllers of both sides would do to a slice. */
async function grantSlice(client: KubeClient, ref: { name: string; namespace: string }): Promise<void> {
  await until("the slice", () => client.get(ResourceSlice, ref));
  const lastTransitionTime = new Date().toISOString();
  const conditions = ["Authentication", "Resources"].map((type) => ({
    type,
    status: "Accepted",
    lastTransitionTime,
    reason: "Test",
    message: "granted by the test",
  }));
  await client.patch(
    ResourceSlice,
    ref,
    { status: { conditions } },
    { type: "merge", subresource: "status" },
  );
  const identity = { ...ref, name: `resourceslice-${ref.name}` };
  await client.create(Identity, {
    apiVersion: "authentication.liqo.io/v1beta1",
    kind: "Identity",
    metadata: identity,
    spec: { clusterID: "milan", type: "ResourceSlice" },
  });
  const status = { kubeconfigSecretRef: { name: `kubeconfig-${identity.name}` } };
  await client.patch(Identity, identity, { status }, { type: "merge", subresource: "status" });
}
