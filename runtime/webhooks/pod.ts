import { errored, patched } from "./admission-review";
import { type PodOffloading, podPatch, UnknownStrategy } from "./pod-patch";
import type { Webhook } from "./webhook";

export interface PodWebhookOptions {
  /** The NamespaceOffloading of a namespace. */
  offloadingOf: (namespace: string) => PodOffloading | undefined | Promise<PodOffloading | undefined>;
  runtimeClass: string;
}

/** Lets the pods of an offloaded namespace go where it is offloaded to ({@link podPatch}). */
export function podWebhook({ offloadingOf, runtimeClass }: PodWebhookOptions): Webhook {
  return async ({ namespace, object }) => {
    // The namespace of the request: that of the pod may be left out.
    const offloading = await offloadingOf(namespace);
    if (offloading === undefined) return errored(500, "failed retrieving NamespaceOffloading");
    try {
      return patched(podPatch(object?.raw.spec, offloading, runtimeClass));
    } catch (error) {
      if (error instanceof UnknownStrategy)
        return errored(500, `failed constructing pod mutation: ${error.message}`);
      throw error;
    }
  };
}
