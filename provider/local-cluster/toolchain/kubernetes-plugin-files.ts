import { cpSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";

import { z } from "zod";

import { runCommand } from "../run-command";
import type { BuildContext } from "./tool";

const provider = "github.com/pulumi/pulumi-kubernetes/provider/v4";

/** Each file and the fields that its published form lacks. */
const embedded = (version: string) => ({ "schema.json": { version }, "terraform-mapping.json": {} });

/**
 * Copies the plugin's module into the scratch folder together with the two files that its main.go embeds. Both are in the
 * published module, indented and 8 MB large; embedded they are compact.
 */
export const copyWithKubernetesSchema =
  (version: string) =>
  async (context: BuildContext): Promise<string> => {
    const folder = join(context.scratchFolder, "pulumi-kubernetes");
    cpSync(context.moduleFolder, folder, { recursive: true });
    const go = (...args: string[]) =>
      runCommand(context.go, args, {
        cwd: folder,
        env: context.environment,
        ...(context.signal && { signal: context.signal }),
      });
    await go("mod", "download", provider);
    const published = (await go("list", "-m", "-f", "{{.Dir}}", provider)).trim();
    for (const [file, fields] of Object.entries(embedded(version))) {
      const source = readFileSync(join(published, "cmd", "pulumi-resource-kubernetes", file), "utf8");
      const content = z.record(z.string(), z.unknown()).parse(JSON.parse(source));
      writeFileSync(join(folder, file), JSON.stringify({ ...content, ...fields }));
    }
    return folder;
  };
