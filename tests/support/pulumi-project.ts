import { mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

import {
  fullyQualifiedStackName,
  LocalWorkspace,
  type ProjectSettings,
  type PulumiFn,
  type Stack,
} from "@pulumi/pulumi/automation";

import { workspaceOptions } from "../../provider/engine/automation";
import { preparePulumi, type PreparePulumiOptions } from "../../provider/engine/engine";
import { packageRoot } from "../../runtime/api/package-root";

/** A Pulumi project in a folder of its own, with stacks in files, that finds the package under test as an installed one. */
export interface PulumiProject {
  readonly folder: string;
  /** A stack of an inline program; the same name gives the same stack. */
  stack(name: string, program: PulumiFn, settings?: MoreSettings): Promise<Stack>;
  /** A stack of the program in the project's folder, made of these files beside Pulumi.yaml; run by the language host. */
  folderStack(name: string, files: Readonly<Record<string, string>>): Promise<Stack>;
  /** What the backend holds of a stack, as it is in the file. */
  stateFile(name: string): string;
  remove(): void;
}

/** Fields of Pulumi.yaml beside those that every project of the tests has; the SDK's type knows nothing of `plugins`. */
type MoreSettings = Partial<ProjectSettings> & { plugins?: { providers: { name: string; path: string }[] } };

const passphrase = "only for tests";

/** Makes a project. The engine is prepared with the resource plugins given, none by default. */
export async function pulumiProject(
  name: string,
  options: PreparePulumiOptions & { environment?: NodeJS.ProcessEnv } = {},
): Promise<PulumiProject> {
  const folder = mkdtempSync(join(tmpdir(), `liqo-pulumi-${name}-`));
  const backend = join(folder, "backend");
  mkdirSync(backend);
  const engine = await preparePulumi({
    resourcePlugins: [],
    ...options,
    environment: {
      ...(options.environment ?? process.env),
      PULUMI_BACKEND_URL: `file://${backend}`,
      PULUMI_CONFIG_PASSPHRASE: passphrase,
    },
  });
  installPackage(folder);
  const workspace = await workspaceOptions(engine);
  return {
    folder,
    stack: (stackName, program, settings) =>
      LocalWorkspace.createOrSelectStack(
        { stackName: fullyQualifiedStackName("organization", name, stackName), projectName: name, program },
        // Without `main`, dynamic resources would look for packages from the present folder of this process.
        {
          ...workspace,
          workDir: folder,
          projectSettings: { name, runtime: "nodejs", main: folder, ...settings },
        },
      ),
    folderStack(stackName, files) {
      writeFileSync(join(folder, "Pulumi.yaml"), `name: ${name}\nruntime: nodejs\n`);
      writeFileSync(join(folder, "package.json"), JSON.stringify({ name, private: true, main: "index.ts" }));
      for (const [file, text] of Object.entries(files)) writeFileSync(join(folder, file), text);
      return LocalWorkspace.createOrSelectStack(
        { stackName, workDir: folder },
        { ...workspace, workDir: folder },
      );
    },
    stateFile: (stackName) =>
      readFileSync(join(backend, ".pulumi", "stacks", name, `${stackName}.json`), "utf8"),
    remove: () => rmSync(folder, { recursive: true, force: true }),
  };
}

/** Node modules as `npm install pulumi-liqo` leaves them, with the compiled code that this test belongs to. */
function installPackage(folder: string): void {
  const modules = join(folder, "node_modules");
  const installed = join(modules, "pulumi-liqo");
  mkdirSync(installed, { recursive: true });
  const compiled = join(__dirname, "..", "..");
  const entry = (file: string, target: string) =>
    writeFileSync(
      join(installed, file),
      `module.exports = require(${JSON.stringify(join(compiled, target))});\n`,
    );
  entry("provider.js", "provider/index.js");
  entry("index.js", "components/index.js");
  const exports = { ".": "./index.js", "./provider": "./provider.js" };
  writeFileSync(join(installed, "package.json"), JSON.stringify({ name: "pulumi-liqo", exports }));
  for (const dependency of ["@pulumi", "typescript"]) {
    symlinkSync(join(packageRoot(), "node_modules", dependency), join(modules, dependency));
  }
}
