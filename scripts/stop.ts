/** `npm stop`: removes the clusters of this checkout and the quick start's stack, whatever state they are in. */
import { preparePulumi } from "../provider/engine/engine";
import { downAllClusters } from "../provider/local-cluster/local-clusters";
import { forgetStack } from "./quick-start/stack";

async function stop(): Promise<void> {
  const progress = (line: string) => console.log(line);
  // Everything that the stack holds is inside the clusters and goes with them; no order needs to be kept.
  const removed = await downAllClusters({ progress });
  console.log(removed.length === 0 ? "no clusters were there" : `removed the clusters ${removed.join(", ")}`);
  await forgetStack(await preparePulumi({ progress }));
}

stop().catch((error: unknown) => {
  console.error(error instanceof Error ? error.message : error);
  process.exitCode = 1;
});
