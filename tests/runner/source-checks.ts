/** eslint and prettier over the whole tree, once for each state of it. */
import { createHash } from "node:crypto";
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";

import { cacheFolder } from "../../provider/local-cluster/folders";
import { runCommand } from "../../provider/local-cluster/run-command";

export interface SourceCheck {
  name: string;
  script: string;
  args: readonly string[];
}

/** @param files what to look at, `.` for the whole tree; none for no check */
export function sourceChecks(root: string, files: readonly string[]): SourceCheck[] {
  const modules = join(root, "node_modules");
  const typeScript = files.filter((file) => file === "." || file.endsWith(".ts"));
  const checks = [
    { name: "eslint", script: join(modules, "eslint", "bin", "eslint.js"), args: typeScript },
    {
      name: "prettier",
      script: join(modules, "prettier", "bin", "prettier.cjs"),
      args: ["--check", "--log-level=warn", "--ignore-unknown", ...files],
    },
  ];
  return checks.filter(({ name }) => (name === "eslint" ? typeScript : files).length > 0);
}

/**
 * A hash of every file that git knows or would add. A check that passed need not run again on the same files: eslint reads types of other files,
 * so only the state of the whole tree says that its answer is the same.
 */
export async function treeHash(root: string): Promise<string> {
  const list = await runCommand("git", ["ls-files", "-z", "--cached", "--others", "--exclude-standard"], {
    cwd: root,
  });
  const hash = createHash("sha256");
  for (const file of [...new Set(list.split("\0"))].sort()) {
    hash.update(`\0${file}\0`).update(contentOf(join(root, file)));
  }
  return hash.digest("hex");
}

function contentOf(file: string): Buffer | string {
  try {
    return readFileSync(file);
  } catch {
    return ""; // deleted and not committed yet, or the empty name after the last separator
  }
}

export function hasPassed(check: string, hash: string): boolean {
  try {
    return readFileSync(stampFile(check), "utf8") === hash;
  } catch {
    return false; // never passed on this machine
  }
}

export function rememberPassed(check: string, hash: string): void {
  mkdirSync(dirname(stampFile(check)), { recursive: true });
  writeFileSync(stampFile(check), hash);
}

/** One state a check: a person goes forward, and CI runs each state once. */
function stampFile(check: string): string {
  return join(cacheFolder(), "checks", check);
}
