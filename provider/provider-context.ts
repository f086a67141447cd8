import { KubeClient } from "../runtime/kube";
import { deleteUnreachableVariable, type ProviderContext } from "./resource-definition";

/**
 * The context in which resource functions run for the engine. Progress goes to the standard output, which the engine shows as lines of the
 * stack.
 */
export function engineContext(
  type: string,
  signal: AbortSignal = new AbortController().signal,
): ProviderContext {
  return {
    now: () => Date.now(),
    signal,
    deleteUnreachable: process.env[deleteUnreachableVariable] === "true",
    progress: (line) => console.log(`${type}: ${line}`),
    connect: ({ kubeconfig, context }) =>
      KubeClient.fromKubeconfig(kubeconfig, { ...(context !== undefined && { context }) }),
  };
}
