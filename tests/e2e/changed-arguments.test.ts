/** What `pulumi up` does when arguments of what is already there change: on the real engine, against control planes without nodes. */
import assert from "node:assert/strict";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { delimiter, join } from "node:path";

import * as pulumi from "@pulumi/pulumi";

import * as liqo from "../../components";
import { WaitFor } from "../../provider";
import {
  ClusterRoleBinding,
  ConfigMap,
  DataKey,
  Deployment,
  Name,
  Namespace,
  Secret,
} from "../../runtime/api";
import { KubeClient } from "../../runtime/kube";
import type { ManifestMeta } from "../../runtime/plan/manifest";
import type { ManagedCluster } from "../support/managed-cluster";
import { installPair } from "../support/managed-pair";
import { pulumiProject, type PulumiProject } from "../support/pulumi-project";
import { settled } from "../support/stack-outcome";
import { userKubeconfig } from "../support/user-kubeconfig";
import { withControlPlanes } from "../support/with-control-planes";

/** What these tests look at in an exported stack. */
interface State {
  version: number;
  deployment: {
    resources: {
      urn: string;
      type: string;
      delete?: boolean;
      inputs?: Record<string, unknown>;
      outputs?: Record<string, unknown>;
    }[];
  };
}

/** There are no nodes: a Deployment never becomes ready, so nobody waits for it. */
const withoutWaiting: pulumi.ResourceTransformation = ({ type, props, opts }) => {
  if (type !== "kubernetes:apps/v1:Deployment") return undefined;
  const given = pulumi.output(props["metadata"] as pulumi.Input<ManifestMeta>);
  const metadata = given.apply((value) => ({
    ...value,
    annotations: { ...value.annotations, "pulumi.com/skipAwait": "true" },
  }));
  return { props: { ...props, metadata }, opts };
};

describe("arguments that change, on the real engine", function () {
  this.timeout(300_000);
  let project: PulumiProject;
  let folder: string;

  before(async function () {
    this.timeout(30 * 60_000); // the first run on a machine builds the engine
    folder = mkdtempSync(join(tmpdir(), "liqo-plugin-"));
    const main = join(__dirname, "..", "..", "plugin", "main.js");
    writeFileSync(
      join(folder, "pulumi-resource-pulumi-liqo"),
      `#!/bin/sh\nexec "${process.execPath}" "${main}" "$@"\n`,
      { mode: 0o755 },
    );
    project = await pulumiProject("changed-arguments", {
      resourcePlugins: ["kubernetes", "random"],
      progress: console.log,
      environment: { ...process.env, PATH: `${folder}${delimiter}${process.env["PATH"] ?? ""}` },
    });
  });
  after(() => {
    project?.remove();
    if (folder !== undefined) rmSync(folder, { recursive: true, force: true });
  });

  describe("of an Installation", () => {
    const controlPlane = withControlPlanes({ turin: { controllerManager: true, definitions: "absent" } });
    let client: KubeClient;
    let untouched: string[];
    before(() => {
      client = KubeClient.fromKubeconfig(controlPlane("turin").kubeconfig);
    });
    after(() => client?.close());

    const installing = (args: Partial<liqo.InstallationArgs> = {}) =>
      project.stack("installation", () => {
        const { kubeconfig } = controlPlane("turin");
        const { clusterId, namespace } = new liqo.Installation(
          "turin",
          {
            cluster: { kubeconfig },
            clusterId: "turin",
            namespace: "liqo-system",
            image: "registry.example/runtime:7",
            apiServer: { address: controlPlane("turin").url },
            ...args,
          },
          { transformations: [withoutWaiting] },
        );
        return Promise.resolve({ clusterId, namespace });
      });

    /** What stands in the Liqo namespace, by UID: it is the very same as long as nothing is made anew. */
    const standing = async (namespace = "liqo-system") => {
      const found = [
        ...(await client.list(Deployment, { namespace })),
        ...(await client.list(ConfigMap, { namespace })),
      ];
      return found
        .map(({ metadata: { name, uid, deletionTimestamp } }) => `${name} ${uid} ${deletionTimestamp ?? ""}`)
        .sort();
    };

    it("is there, and at rest", async () => {
      await (await installing()).up();
      await settled(await installing());
      untouched = await standing();
      assert.ok(untouched.length >= 4, untouched.join(", "));
    });

    for (const [what, args, message] of [
      [
        "a changed cluster ID",
        { clusterId: "torino" },
        /is "torino", but the installation has "turin".*Put "turin" back.*remove the peerings and then the installation/s,
      ],
      [
        "a changed namespace",
        { namespace: "liqo-two" },
        /is "liqo-two", but the installation has "liqo-system".*Put "liqo-system" back/s,
      ],
    ] as const) {
      it(`${what} is refused in the preview, and nothing is touched by up`, async () => {
        await assert.rejects((await installing(args)).preview(), message);
        await (await installing()).preview({ expectNoChanges: true });
        // The SDK's up makes no preview before.
        await assert.rejects((await installing(args)).up(), message);
        assert.deepEqual(await standing(), untouched);
        assert.equal(await client.get(Namespace, { name: "liqo-two" }), undefined);
      });

      it(`${what} that is put back changes nothing but the record of the argument`, async () => {
        const stack = await installing();
        const { changeSummary } = await stack.preview();
        const { same, update, ...others } = changeSummary;
        assert.deepEqual([same !== undefined && same > 30, update, others], [true, 1, {}]);
        await stack.up({ refresh: true });
        await settled(stack);
        assert.deepEqual(await standing(), untouched);
        const state: State = await stack.exportStack();
        assert.deepEqual(
          state.deployment.resources.filter((resource) => resource.delete === true).map(({ urn }) => urn),
          [],
        );
      });
    }

    it("an ID that is drawn instead is refused before anything is touched", async () => {
      const drawn = await project.stack("installation", () => {
        new liqo.Installation(
          "turin",
          {
            cluster: { kubeconfig: controlPlane("turin").kubeconfig },
            namespace: "liqo-system",
            image: "registry.example/runtime:7",
            apiServer: { address: controlPlane("turin").url },
          },
          { transformations: [withoutWaiting] },
        );
        return Promise.resolve({});
      });
      await assert.rejects(drawn.up(), /but the installation has "turin"/);
      assert.deepEqual(await standing(), untouched);
      await (await installing()).up();
      assert.deepEqual(await standing(), untouched);
    });

    it("a state of before, whose provider is known by an older ID, is kept, and still holds the ID", async () => {
      const stack = await installing();
      const state: State = await stack.exportStack();
      for (const { type, inputs, outputs } of state.deployment.resources) {
        for (const properties of [inputs, outputs]) {
          if (properties === undefined) continue;
          if (type === "pulumi:providers:kubernetes") properties["clusterIdentifier"] = "an-older-id";
          if (!type.endsWith(":Preflight")) continue;
          delete properties["clusterId"];
          delete properties["namespace"];
        }
      }
      await stack.importStack(state);
      const { changeSummary } = await stack.preview();
      const { same, update, ...others } = changeSummary;
      assert.deepEqual([same !== undefined && same > 30, update, others], [true, 1, {}]);
      await assert.rejects(
        (await installing({ clusterId: "torino" })).up(),
        /clusterId is "torino", but the installation has "turin".*ConfigMap liqo-system\/liqo-clusterid-configmap/s,
      );
      await assert.rejects(
        (await installing({ namespace: "liqo-two" })).preview(),
        /is "liqo-two", but the installation has "liqo-system"/,
      );
      await (await installing()).up();
      await settled(await installing());
      assert.deepEqual(await standing(), untouched);
    });

    it("goes, and comes with the other ID", async () => {
      await (await installing()).destroy();
      assert.equal(await client.get(Namespace, { name: "liqo-system" }), undefined);
      const stack = await installing({ clusterId: "torino" });
      await stack.up();
      const ref = { name: Name.clusterIDConfigMap, namespace: "liqo-system" };
      assert.equal((await client.get(ConfigMap, ref))?.data?.[DataKey.clusterID], "torino");
      await stack.destroy();
    });
  });

  describe("of a peering", () => {
    const controlPlane = withControlPlanes({
      rome: { serviceCidr: "10.81.0.0/16", controllerManager: true },
      milan: { serviceCidr: "10.92.0.0/16", controllerManager: true },
    });
    let clusters: ManagedCluster[] = [];
    before(async () => {
      clusters = await installPair(controlPlane);
      await Promise.all(clusters.map((cluster) => cluster.start()));
    });
    after(() => Promise.all(clusters.map((cluster) => cluster.stop())));

    const peering = (kubeconfigs: Record<"rome" | "milan", string>) =>
      project.stack("peering", () => {
        const { consumerTenantNamespace } = new liqo.AuthenticationPeering("rome-milan", {
          consumer: { kubeconfig: kubeconfigs.rome, clusterId: "rome" },
          provider: { kubeconfig: kubeconfigs.milan, clusterId: "milan", liqoNamespace: "liqo-system" },
        });
        return Promise.resolve({ consumerTenantNamespace });
      });

    it("other credentials in the kubeconfigs replace nothing, in the preview as in up", async () => {
      const kubeconfigs = { rome: controlPlane("rome").kubeconfig, milan: controlPlane("milan").kubeconfig };
      await (await peering(kubeconfigs)).up();
      await settled(await peering(kubeconfigs));
      const rotated = {
        rome: await otherAdministrator(clusters[0], kubeconfigs.rome),
        milan: await otherAdministrator(clusters[1], kubeconfigs.milan),
      };
      for (const next of [{ ...kubeconfigs, milan: rotated.milan }, rotated]) {
        const stack = await peering(next);
        const { changeSummary } = await stack.preview();
        assert.deepEqual(
          [changeSummary["replace"], changeSummary["delete"], changeSummary["create"]],
          [undefined, undefined, undefined],
          JSON.stringify(changeSummary),
        );
        const { summary } = await stack.up();
        assert.equal(summary.resourceChanges?.["replace"], undefined);
        await settled(stack);
      }
      await (await peering(rotated)).destroy();
    });
  });

  describe("a WaitFor on a Secret", () => {
    const controlPlane = withControlPlanes({ genoa: { definitions: "absent" } });
    const namespace = "shop";
    const password = Buffer.from("correct horse battery").toString("base64");
    before(async () => {
      const client = KubeClient.fromKubeconfig(controlPlane("genoa").kubeconfig);
      try {
        await client.create(Namespace, {
          apiVersion: "v1",
          kind: "Namespace",
          metadata: { name: namespace },
        });
        await client.create(Secret, {
          apiVersion: "v1",
          kind: "Secret",
          metadata: { name: "database", namespace },
          data: { password },
        });
      } finally {
        client.close();
      }
    });

    const args = (more: object = {}) => ({
      kubeconfig: controlPlane("genoa").kubeconfig,
      apiVersion: "v1",
      kind: "Secret",
      name: "database",
      namespace,
      field: { path: "{.data.password}" },
      timeoutSeconds: 3,
      ...more,
    });
    const adapters: [string, (more?: object) => pulumi.Output<string>][] = [
      ["in a TypeScript program", (more) => new WaitFor("wait", args(more)).value],
      [
        "in a TypeScript program, its kind known later",
        (more) => new WaitFor("wait", { ...args(more), kind: pulumi.output("Secret") }).value,
      ],
      ["in another language", (more) => new PluginWait("wait", args(more)).value],
    ];
    for (const [index, [where, value]] of adapters.entries()) {
      it(`${where} has no value of it in clear in the state`, async () => {
        const name = `secret-${index}`;
        const stack = await project.stack(name, () => Promise.resolve({ value: value() }));
        const { outputs } = await stack.up();
        assert.deepEqual(outputs["value"], { value: password, secret: true });
        await settled(stack);
        assert.ok(project.stateFile(name).includes("database"), "the state is the one looked at");
        assert.ok(!project.stateFile(name).includes(password));
        await stack.destroy();
      });

      it(`${where} that fails tells no value of it either`, async () => {
        const name = `failing-${index}`;
        const field = { path: "{.data.password}", equals: "another-secret" };
        const stack = await project.stack(name, () => Promise.resolve({ value: value({ field }) }));
        await assert.rejects(stack.up(), (error: Error) => {
          assert.match(error.message, /waited 3 s for field/);
          assert.ok(!error.message.includes(password) && !error.message.includes("another-secret"));
          return true;
        });
        const state = project.stateFile(name);
        assert.ok(!state.includes(password) && !state.includes("another-secret"));
        await stack.destroy();
      });
    }
  });
});

/** What the SDK of another language does: registers a type and its inputs, and leaves the rest to the plugin. */
class PluginWait extends pulumi.CustomResource {
  declare readonly value: pulumi.Output<string>;

  constructor(name: string, inputs: pulumi.Inputs) {
    super("pulumi-liqo:index:WaitFor", name, { value: undefined, ...inputs });
  }
}

/** A kubeconfig with other credentials and the same rights. */
async function otherAdministrator(cluster: ManagedCluster | undefined, kubeconfig: string): Promise<string> {
  assert.ok(cluster);
  const group = "operators";
  await cluster.admin.create(ClusterRoleBinding, {
    apiVersion: "rbac.authorization.k8s.io/v1",
    kind: "ClusterRoleBinding",
    metadata: { name: group },
    roleRef: { apiGroup: "rbac.authorization.k8s.io", kind: "ClusterRole", name: "cluster-admin" },
    subjects: [{ apiGroup: "rbac.authorization.k8s.io", kind: "Group", name: group }],
  });
  return await userKubeconfig(cluster.admin, kubeconfig, { name: "ana", group });
}
