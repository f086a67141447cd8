import assert from "node:assert/strict";

import { pulumiProject, type PulumiProject } from "../support/pulumi-project";

const program = `
import * as pulumi from "@pulumi/pulumi";
import { WireGuardKeyPair } from "pulumi-liqo/provider";

const config = new pulumi.Config();
interface Names { consumer: string; provider: string }
const names: Names = config.requireObject<Names>("names");
const keys = new WireGuardKeyPair("tunnel");
console.log(\`peering \${names.consumer} with \${names.provider}\`);

export const stack: string = pulumi.getStack();
export const title = names.consumer + " " + names.provider;
export const publicKey: pulumi.Output<string> = keys.publicKey;
export const token = config.requireSecret("token");
`;

describe("pulumi up on a folder with a TypeScript program", function () {
  this.timeout(300_000);
  let project: PulumiProject;

  before(async function () {
    this.timeout(30 * 60_000);
    project = await pulumiProject("folder", { progress: console.log });
  });
  after(() => project?.remove());

  it("runs it with its configuration, prints what it prints and takes its outputs", async () => {
    const stack = await project.folderStack("dev", { "index.ts": program });
    await stack.setAllConfig({
      names: { value: JSON.stringify({ consumer: "rome", provider: "milan" }) },
      token: { value: "open sesame", secret: true },
    });
    const { outputs, stdout } = await stack.up();
    assert.match(stdout, /peering rome with milan/);
    assert.equal(outputs["stack"]?.value, "dev");
    assert.equal(outputs["title"]?.value, "rome milan");
    assert.equal(String(outputs["publicKey"]?.value).length, 44);
    assert.deepEqual(outputs["token"], { value: "open sesame", secret: true });
    assert.ok(!project.stateFile("dev").includes("open sesame"));
  });

  it("knows a preview from an update", async () => {
    const stack = await project.folderStack("dev", { "index.ts": program });
    await stack.preview({ expectNoChanges: true });
    const dryRun = program.replace("peering", "${pulumi.runtime.isDryRun()} peering");
    const changed = await project.folderStack("dev", { "index.ts": dryRun });
    assert.match((await changed.preview()).stdout, /true peering rome/);
    assert.match((await changed.up()).stdout, /false peering rome/);
  });

  it("says what is wrong with a component's arguments, and where", async () => {
    const faulty = `
import { NamespaceOffloading } from "pulumi-liqo";
const cluster = { kubeconfig: "open sesame", clusterId: "rome" };
const strategy: string = "Everywhere";
new NamespaceOffloading("shop", { cluster, namespace: "shop", podOffloadingStrategy: strategy });
`;
    const stack = await project.folderStack("dev", { "index.ts": faulty });
    await assert.rejects(stack.preview(), (error: Error) => {
      const said = error.message.slice(error.message.indexOf("Diagnostics:"));
      assert.match(
        said,
        /error: NamespaceOffloading "shop": podOffloadingStrategy: "Everywhere" is not one of/,
      );
      assert.doesNotMatch(said, /serializing|unhandled|ZodError|at .*\.ts:\d|sesame/);
      return true;
    });
  });

  it("says once what the program throws", async () => {
    const failing = `${program}\nthrow new pulumi.RunError("no such cluster: turin");\n`;
    const stack = await project.folderStack("dev", { "index.ts": failing });
    await assert.rejects(stack.up(), (error: Error) => {
      const diagnostics = error.message.slice(
        error.message.indexOf("Diagnostics:"),
        error.message.indexOf("err?:"),
      );
      assert.equal(diagnostics.split("no such cluster: turin").length - 1, 1, error.message);
      assert.doesNotMatch(diagnostics, /exit code|runProgram|non-zero/);
      return true;
    });
  });

  it("says that the program ended badly when that is all there is to say", async () => {
    const stack = await project.folderStack("dev", { "index.ts": `${program}\nprocess.exit(3);\n` });
    await assert.rejects(stack.up(), /exit(ed with non-zero exit)? code:? 3/);
  });

  it("destroys without running the program", async () => {
    const stack = await project.folderStack("dev", { "index.ts": "this is no program" });
    assert.match((await stack.destroy()).stdout, /deleted/);
  });
});
