import { accessSync, constants, statSync } from "node:fs";
import { delimiter, join } from "node:path";

/** Where administrators' tools are even if the user's PATH lacks these folders. */
const systemFolders = ["/usr/local/sbin", "/usr/sbin", "/sbin"];

/** Full path of an executable on the PATH (or in the system's sbin folders); undefined if there is none. */
export function findExecutable(
  name: string,
  environment: NodeJS.ProcessEnv = process.env,
): string | undefined {
  const folders = [...(environment["PATH"] ?? "").split(delimiter), ...systemFolders];
  return folders
    .filter((folder) => folder !== "")
    .map((folder) => join(folder, name))
    .find(isExecutable);
}

export function isExecutable(path: string): boolean {
  try {
    accessSync(path, constants.X_OK);
    return statSync(path).isFile();
  } catch {
    return false;
  }
}
