import { createHash } from "node:crypto";
import { homedir } from "node:os";
import { join } from "node:path";

import { packageRoot } from "../../runtime/api/package-root";

/** Folder of what can be fetched or built again: tools and images. `PULUMI_LIQO_CACHE`, else below the user's cache folder. */
export function cacheFolder(environment: NodeJS.ProcessEnv = process.env): string {
  return (
    nonEmpty(environment["PULUMI_LIQO_CACHE"]) ??
    join(nonEmpty(environment["XDG_CACHE_HOME"]) ?? join(homedir(), ".cache"), "pulumi-liqo")
  );
}

/** What Node keeps of modules that it compiled (`NODE_COMPILE_CACHE`, which is used where it is set): a program starts in half the processor time. */
export function compileCache(environment: NodeJS.ProcessEnv = process.env): string {
  return nonEmpty(environment["NODE_COMPILE_CACHE"]) ?? join(cacheFolder(environment), "node-compile-cache");
}

/** Folder of the state of running clusters. `PULUMI_LIQO_STATE`, else below the user's state folder. */
export function stateFolder(environment: NodeJS.ProcessEnv = process.env): string {
  return (
    nonEmpty(environment["PULUMI_LIQO_STATE"]) ??
    join(nonEmpty(environment["XDG_STATE_HOME"]) ?? join(homedir(), ".local", "state"), "pulumi-liqo")
  );
}

/**
 * Six hex digits that tell this checkout's clusters from another's: in interface names, cgroups and folders.
 * `PULUMI_LIQO_PREFIX` sets it by hand (1 to 6 lower-case letters or digits).
 *
 * @throws if `PULUMI_LIQO_PREFIX` has another form
 */
export function checkoutPrefix(environment: NodeJS.ProcessEnv = process.env): string {
  const chosen = nonEmpty(environment["PULUMI_LIQO_PREFIX"]);
  if (chosen === undefined) return createHash("sha256").update(packageRoot()).digest("hex").slice(0, 6);
  if (!/^[a-z0-9]{1,6}$/.test(chosen)) {
    throw new Error(
      `PULUMI_LIQO_PREFIX is "${chosen}"; set it to 1 to 6 lower-case letters or digits, or unset it`,
    );
  }
  return chosen;
}

function nonEmpty(value: string | undefined): string | undefined {
  return value === undefined || value === "" ? undefined : value;
}
