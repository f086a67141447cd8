import assert from "node:assert/strict";
import { cpSync, mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

import { preparePulumi } from "../../provider/engine/engine";
import { runCommand } from "../../provider/local-cluster/run-command";
import { packageRoot } from "../../runtime/api";
import { KubeClient } from "../../runtime/kube";
import { blocksOf, commandsOf, type DocumentBlock, documents } from "../support/documents";
import { installDefinitions } from "../support/install-definitions";
import { kubectlWith } from "../support/kubectl";
import { pulumiProject } from "../support/pulumi-project";
import { withControlPlanes } from "../support/with-control-planes";

/** What the fragments of programs in documents take from the program around them. */
const AROUND = `
declare const kubeconfig: pulumi.Output<string>;
declare const romeKubeconfig: pulumi.Output<string>;
declare const milanKubeconfig: pulumi.Output<string>;
declare const image: string;
declare const rome: liqo.Installation;
declare const milan: liqo.Installation;
declare const peering: liqo.Peering;
`;

describe("the documents", function () {
  this.timeout(120_000);
  const controlPlane = withControlPlanes({
    rome: { serviceCidr: "10.94.0.0/16", definitions: "absent" },
    milan: { serviceCidr: "10.95.0.0/16", definitions: "absent" },
  });
  const scratch = mkdtempSync(join(tmpdir(), "pulumi-liqo-docs-"));
  after(() => rmSync(scratch, { recursive: true, force: true }));

  const blocks = documents().flatMap(blocksOf);
  const inLanguage = (language: string) => blocks.filter((block) => block.language === language);

  it("hold programs that compile", async () => {
    const programs = inLanguage("ts");
    assert.ok(programs.length >= 6, `${programs.length} programs`);
    const folder = join(scratch, "programs");
    mkdirSync(folder);
    for (const [at, block] of programs.entries()) writeFileSync(join(folder, `${at}.ts`), asModule(block));
    const root = packageRoot();
    const compiled = join(__dirname, "..", "..");
    const compilerOptions = {
      strict: true,
      noEmit: true,
      module: "nodenext",
      target: "es2023",
      lib: ["es2023"],
      skipLibCheck: true,
      types: ["node"],
      typeRoots: [join(root, "node_modules", "@types")],
      paths: {
        "pulumi-liqo": [join(compiled, "components", "index.d.ts")],
        "pulumi-liqo/provider": [join(compiled, "provider", "index.d.ts")],
        "@pulumi/*": [join(root, "node_modules", "@pulumi", "*")],
      },
    };
    writeFileSync(
      join(folder, "tsconfig.json"),
      JSON.stringify({ compilerOptions, files: programs.map((_, at) => `${at}.ts`) }),
    );
    const compiler = join(root, "node_modules", "typescript", "bin", "tsc");
    let found = "";
    const onOutput = (text: string) => (found += text);
    await runCommand(process.execPath, [compiler, "-p", folder], { onOutput }).catch(() => {
      const named = found.replace(/^\S*?(\d+)\.ts/gm, (_, at: string) => `${programs[Number(at)]?.at}: line`);
      assert.fail(named);
    });
  });

  it("open with a program that a preview accepts", async () => {
    const program = inLanguage("ts").find(({ at }) => at.startsWith("README.md"));
    assert.ok(program !== undefined);
    const project = await pulumiProject("readme", { resourcePlugins: ["kubernetes", "random"] });
    try {
      const stack = await project.folderStack("production", { "index.ts": program.text });
      for (const name of ["rome", "milan"] as const)
        await stack.setConfig(`${name}Kubeconfig`, { value: controlPlane(name).kubeconfig, secret: true });
      const { changeSummary } = await stack.preview();
      assert.deepEqual(Object.keys(changeSummary), ["create"]);
    } finally {
      project.remove();
    }
  });

  it("make a fleet of a stack's configuration, command by command", async () => {
    const { pulumi, environment } = await preparePulumi();
    const folder = join(scratch, "fleet");
    const backend = join(scratch, "backend");
    mkdirSync(backend);
    for (const part of ["Pulumi.yaml", join("examples", "fleet")])
      cpSync(join(packageRoot(), part), join(folder, part), { recursive: true });
    symlinkSync(join(packageRoot(), "node_modules"), join(folder, "node_modules"));
    for (const name of ["rome", "milan"] as const)
      writeFileSync(join(folder, `${name}.kubeconfig`), controlPlane(name).kubeconfig);
    const commands = commandsOf("docs/user/install.md", "pulumi").filter(
      (command) => command !== "pulumi destroy",
    );
    assert.equal(commands.at(-1), "pulumi up");
    const env = {
      ...environment,
      PULUMI_BACKEND_URL: `file://${backend}`,
      PULUMI_CONFIG_PASSPHRASE: "only for tests",
    };
    let said = "";
    for (const command of commands) {
      // No pod runs on these clusters, so the installation would wait for its pods: what it would do has to suffice.
      const typed = command.replace(/^pulumi up$/, "pulumi preview --non-interactive");
      said = await runCommand("bash", ["-c", typed.replace(/^pulumi/, pulumi)], { cwd: folder, env });
    }
    assert.match(said, /pulumi-liqo:index:Peering|Peering/);
    assert.match(said, /\d+ to create/);
  });

  it("hold manifests that a cluster with the definitions accepts", async () => {
    const kubeconfig = (name: "rome" | "milan") => controlPlane(name).kubeconfig;
    for (const name of ["rome", "milan"] as const) {
      const client = KubeClient.fromKubeconfig(kubeconfig(name));
      await installDefinitions(client);
      client.close();
    }
    const kubectl = { rome: kubectlWith(kubeconfig("rome")), milan: kubectlWith(kubeconfig("milan")) };
    for (const namespace of ["shop", "liqo-tenant-rome", "liqo-tenant-milan"]) {
      await kubectl.rome(["create", "namespace", namespace]);
    }
    const manifests = inLanguage("yaml").filter(({ text }) => text.startsWith("apiVersion:"));
    assert.ok(manifests.length >= 3, `${manifests.length} manifests`);
    for (const { at, text } of manifests) {
      const side = text.includes("kind: Tenant") ? "milan" : "rome";
      await kubectl[side](["apply", "-f", "-"], text).catch((error: unknown) => {
        throw new Error(`${at}: ${String(error)}`);
      });
    }
  });
});

/** Fragments get what stands around them: imports, declarations, the arguments that a property belongs to. */
function asModule({ text }: DocumentBlock): string {
  if (/^import /m.test(text)) return text;
  const program = /^\w+: /.test(text)
    ? `export const fragment: Partial<liqo.NamespaceOffloadingArgs> = {\n${text}\n};`
    : text;
  const redeclared = [...program.matchAll(/const (\w+) =/g)].map(([, name]) => name);
  const around = AROUND.split("\n").filter(
    (line) => !redeclared.some((name) => line.startsWith(`declare const ${name}:`)),
  );
  return [
    'import * as pulumi from "@pulumi/pulumi";',
    'import * as liqo from "pulumi-liqo";',
    'import { LocalCluster } from "pulumi-liqo/provider";',
    ...around,
    program,
    "export {};",
  ].join("\n");
}
