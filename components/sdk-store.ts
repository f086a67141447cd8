// eslint-disable-next-line no-restricted-imports -- the SDK's runtime, not ours
import * as state from "@pulumi/pulumi/runtime/state";
import { z } from "zod";

/*
 * What the SDK keeps for one run of one program. Its types do not show it, so that it is read as foreign data.
 */

const sdkState = z.object({ getStore: z.custom<() => unknown>((value) => typeof value === "function") });
const sdkStore = z.object({ settings: z.object({ options: z.object({ monitorAddr: z.string() }) }) });

function store(): unknown {
  return sdkState.safeParse(state).data?.getStore();
}

/** An object that is another one in each run of a program, also where one process runs several. */
export function thisRun(): object {
  const found = store();
  return typeof found === "object" && found !== null ? found : state;
}

/** Whether the program runs against the mocks of unit tests, which make nothing and know no hooks: it would wait for them forever. */
export function isMocked(): boolean {
  return sdkStore.safeParse(store()).data?.settings.options.monitorAddr === "mock";
}
