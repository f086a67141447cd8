import { missingPulumiTools, preparePulumi, type PulumiEngine } from "../../provider/engine/engine";
import type { PluginName } from "../../provider/engine/resource-plugins";
import type { ClusterSpecInput } from "../../provider/local-cluster/cluster-spec";
import { kindUsable } from "../../provider/local-cluster/kind/kind-backend";
import { localImages, type LocalImages } from "../../provider/local-cluster/local-images";
import { listClusters, resumeClusters, upCluster } from "../../provider/local-cluster/local-clusters";
import { ensureSystemPackages } from "../../provider/local-cluster/system-packages";
import { ensureTools, missingTools, type ToolName } from "../../provider/local-cluster/toolchain";
import { ToolPlan } from "../../provider/local-cluster/toolchain/tool-plan";

/** The quick start names its clusters and has no telemetry: nothing in it is drawn by the plugin for random values. */
const PLUGINS: readonly PluginName[] = ["kubernetes"];

type Work<T> = (signal: AbortSignal) => Promise<T>;

/** What comes before `pulumi up`, each step ended by its signal. */
export interface PreparationSteps<Images, Engine> {
  clusterTools: Work<void>;
  images: Work<Images>;
  clusters: (images: Images, signal: AbortSignal) => Promise<void>;
  engine: Work<Engine>;
}

export interface PreparationOptions {
  progress: (line: string) => void;
  /** Runs a part and keeps the time that it takes. */
  part: <T>(name: string, work: () => Promise<T>) => Promise<T>;
}

/** What has to be there for `pulumi up` to run on clusters with these specifications. */
export async function quickStartSteps(
  specs: readonly ClusterSpecInput[],
  { progress, part }: PreparationOptions,
  signal: AbortSignal,
): Promise<PreparationSteps<LocalImages, PulumiEngine>> {
  const native = !(await kindUsable());
  if (native) await ensureSystemPackages(progress);
  const ofClusters: ToolName[] = native ? ["kubernetes", "etcd", "coredns"] : [];
  const options = { progress, signal };
  const plan = new ToolPlan([
    ...(await missingTools([...ofClusters, "wireguard-go"], options)),
    ...(await missingPulumiTools({ ...options, resourcePlugins: PLUGINS })),
  ]);
  const summary = plan.summary();
  if (summary !== undefined) progress(summary);
  return {
    clusterTools: (ending) =>
      part("tools of the clusters", async () => {
        await ensureTools(ofClusters, { progress, plan, signal: ending });
      }),
    images: (ending) => part("images", () => localImages(progress, { plan, signal: ending })),
    clusters: ({ runtime, busybox }, ending) =>
      part("clusters, beside the engine", () =>
        startClusters(specs, [runtime.file, busybox.file], progress, ending),
      ),
    engine: (ending) =>
      part("Pulumi engine", () =>
        preparePulumi({ progress, plan, signal: ending, resourcePlugins: PLUGINS }),
      ),
  };
}

/**
 * Takes the steps in the order in which they are needed: the clusters start while the engine is being made.
 *
 * @throws what failed first, after the other side has ended
 */
export async function prepare<Images, Engine>(
  steps: PreparationSteps<Images, Engine>,
  signal: AbortSignal,
): Promise<Engine> {
  await steps.clusterTools(signal);
  signal.throwIfAborted();
  const images = await steps.images(signal);
  signal.throwIfAborted();
  return sideBySide(signal, steps.engine, (ending) => steps.clusters(images, ending));
}

/**
 * Runs works at the same time and returns what the first of them gives. When one fails the others are told to end.
 *
 * @throws the first failure, when all have ended
 */
export async function sideBySide<T>(
  signal: AbortSignal,
  first: Work<T>,
  ...others: readonly Work<unknown>[]
): Promise<T> {
  const failure = new AbortController();
  const ending = AbortSignal.any([signal, failure.signal]);
  const watched = async <R>(work: Work<R>): Promise<R> => {
    try {
      return await work(ending);
    } catch (error) {
      failure.abort(error);
      throw error;
    }
  };
  const result = watched(first);
  await Promise.allSettled([result, ...others.map(watched)]);
  signal.throwIfAborted();
  failure.signal.throwIfAborted();
  return result;
}

/** Starts those that are not there with their images, and again those that stopped: the program then finds them running. */
async function startClusters(
  specs: readonly ClusterSpecInput[],
  images: string[],
  progress: (line: string) => void,
  signal: AbortSignal,
): Promise<void> {
  await resumeClusters({ progress, signal });
  const known = new Set((await listClusters()).map(({ name }) => name));
  const absent = specs.filter(({ name }) => !known.has(name));
  const starts = absent.map(
    (spec) => (ending: AbortSignal) => upCluster({ ...spec, images }, { progress, signal: ending }),
  );
  await sideBySide(signal, () => Promise.resolve(), ...starts);
}
