/** What holds for one run of one program. The SDK's types do not show its own store, so we read it as foreign data. */
// eslint-disable-next-line no-restricted-imports -- the SDK's runtime, not ours
import * as state from "@pulumi/pulumi/runtime/state";
import { z } from "zod";

const sdkState = z.object({ getStore: z.custom<() => unknown>((value) => typeof value === "function") });
const sdkStore = z.object({ settings: z.object({ options: z.object({ monitorAddr: z.string() }) }) });

function store(): unknown {
  return sdkState.safeParse(state).data?.getStore();
}

/** An object that is another one in each run of a program, also where one process runs several. */
function thisRun(): object {
  const found = store();
  return typeof found === "object" && found !== null ? found : state;
}

/** Whether the program runs against the mocks of unit tests, which make nothing and know no hooks: it would wait for them forever. */
export function isMocked(): boolean {
  return sdkStore.safeParse(store()).data?.settings.options.monitorAddr === "mock";
}

/** Of each run, who connects the networks of which two clusters. */
const runs = new WeakMap<object, Map<string, string>>();

/**
 * Says that a component connects two clusters' networks. Two clusters have one tunnel, whoever is the consumer.
 *
 * @throws Error where another one of the program does
 */
export function connectPair(subject: string, clusterIds: readonly [string, string]): void {
  if (isMocked()) return; // one run of all tests
  const pairs = runs.get(thisRun()) ?? new Map<string, string>();
  runs.set(thisRun(), pairs);
  claimPair(pairs, subject, clusterIds);
}

/** @param pairs who connects which pair so far */
export function claimPair(
  pairs: Map<string, string>,
  subject: string,
  clusterIds: readonly [string, string],
): void {
  const pair = clusterIds.toSorted().join(" and ");
  const other = pairs.get(pair);
  if (other !== undefined && other !== subject) {
    throw new Error(
      `${subject}: the networks of ${pair} are connected by ${other} already, and two clusters have one tunnel. Make a NetworkPeering of its own for it and give each Peering of the two "networking: { enabled: false }", so that each can go alone; or make one Peering with "bidirectional: true"`,
    );
  }
  pairs.set(pair, subject);
}
