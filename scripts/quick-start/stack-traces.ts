import { existsSync, readdirSync, rmSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

/** Removes what the CLI keeps of a removed stack in a backend of files: copies of its last state, with the clusters' credentials in it. */
export function removeTraces(backendUrl: string | undefined, project: string, stack: string): void {
  if (backendUrl?.startsWith("file:") !== true) return;
  const kept = join(fileURLToPath(backendUrl), ".pulumi");
  for (const folder of ["backups", "history", join("locks", "organization"), "stacks"]) {
    const ofProject = join(kept, folder, project);
    const names = existsSync(ofProject) ? readdirSync(ofProject) : [];
    for (const name of names.filter((one) => one === stack || one.startsWith(`${stack}.json`)))
      rmSync(join(ofProject, name), { recursive: true, force: true });
  }
}
