import { existsSync, readdirSync, rmdirSync, rmSync } from "node:fs";
import { join, relative } from "node:path";
import { fileURLToPath } from "node:url";

/** Removes what the CLI keeps of a removed stack in a backend of files: copies of its last state, with the clusters' credentials in it. */
export function removeTraces(backendUrl: string | undefined, project: string, stack: string): void {
  if (backendUrl?.startsWith("file:") !== true) return;
  const kept = join(fileURLToPath(backendUrl), ".pulumi");
  for (const folder of ["backups", "history", join("locks", "organization"), "stacks"]) {
    const ofProject = join(kept, folder, project);
    if (!existsSync(ofProject)) continue;
    const names = readdirSync(ofProject);
    const traces = names.filter((name) => name === stack || name.startsWith(`${stack}.json`));
    for (const name of traces) rmSync(join(ofProject, name), { recursive: true, force: true });
    if (traces.length === names.length) rmdirSync(ofProject);
  }
}

/** Removes a backend that was made for one checkout, when no stack is left in it but only the CLI's own settings. */
export function removeEmptyBackend(folder: string): void {
  if (!existsSync(folder)) return;
  const files = readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => !entry.isDirectory())
    .map((entry) => relative(folder, join(entry.parentPath, entry.name)));
  if (files.every((file) => CLI_SETTINGS.includes(file))) rmSync(folder, { recursive: true, force: true });
}

const CLI_SETTINGS = [join(".pulumi", "meta.yaml"), join(".pulumi", "meta.yaml.attrs")];
