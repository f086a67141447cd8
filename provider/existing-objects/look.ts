import {
  ApiError,
  CannotConnectError,
  ConnectionError,
  DeadlineError,
  KubeClient,
  KubeconfigError,
} from "../../runtime/kube";
import { lookMs } from "../cluster-inputs";

/** Looks at a cluster, where it can be reached and looked at; what is wrong with it otherwise is told by whatever is made there. */
export async function lookBeforehand(
  kubeconfig: string,
  look: (client: KubeClient, signal: AbortSignal) => Promise<void>,
): Promise<void> {
  let client: KubeClient;
  try {
    client = KubeClient.fromKubeconfig(kubeconfig, { deadlineMs: lookMs });
  } catch (error) {
    if (error instanceof KubeconfigError) return;
    throw error;
  }
  try {
    await look(client, AbortSignal.timeout(2 * lookMs));
  } catch (error) {
    if (!cannotLook(error)) throw error;
  } finally {
    client.close();
  }
}

function cannotLook(error: unknown): boolean {
  return (
    error instanceof ConnectionError ||
    error instanceof CannotConnectError ||
    error instanceof DeadlineError ||
    (error instanceof ApiError && (error.status === 401 || error.status === 403))
  );
}
