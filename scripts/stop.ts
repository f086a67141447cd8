/** `npm stop`: removes the clusters of this checkout and the quick start's stack, whatever state they are in. */
import { rmSync } from "node:fs";
import { dirname } from "node:path";

import { preparePulumi } from "../provider/engine/engine";
import { checkoutBackend } from "../provider/engine/pulumi-home";
import { downAllClusters } from "../provider/local-cluster/local-clusters";
import { logFile } from "./quick-start/log-file";
import { endWork, forgetStack, stackWasMade } from "./quick-start/stack";
import { removeEmptyBackend } from "./quick-start/stack-traces";

async function stop(): Promise<void> {
  const progress = (line: string) => console.log(line);
  // Nothing that a plugin made is removed one by one.
  const engine = stackWasMade() ? await preparePulumi({ progress, resourcePlugins: [] }) : undefined;
  if (engine !== undefined) await endWork(engine);
  // Everything that the stack holds is inside the clusters and goes with them; no order needs to be kept.
  const removed = await downAllClusters({ progress });
  console.log(removed.length === 0 ? "no clusters were there" : `removed the clusters ${removed.join(", ")}`);
  if (engine !== undefined) await forgetStack(engine);
  removeEmptyBackend(checkoutBackend());
  rmSync(dirname(logFile()), { recursive: true, force: true });
}

stop().catch((error: unknown) => {
  console.error(error instanceof Error ? error.message : error);
  process.exitCode = 1;
});
