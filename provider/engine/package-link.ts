import { existsSync, lstatSync, rmSync, symlinkSync } from "node:fs";
import { join } from "node:path";

import { packageRoot } from "../../runtime/api/package-root";

/**
 * Makes this package findable by its name from within its own checkout, as it is where it is installed: the examples import it and the
 * dynamic provider, whose code has no file of its own, requires it from the project's folder. Node's self-reference covers neither.
 */
export function linkPackage(root: string = packageRoot()): void {
  const modules = join(root, "node_modules");
  if (!existsSync(modules)) return; // installed as a dependency: it is findable already
  const link = join(modules, "pulumi-liqo");
  if (existsSync(link)) return;
  if (lstatSync(link, { throwIfNoEntry: false }) !== undefined) rmSync(link); // a link to nowhere
  try {
    symlinkSync("..", link, "dir");
  } catch (error) {
    if (!existsSync(link)) throw error; // another process may have made it
  }
}
