import { Connection, type Deployment } from "../../api";
import {
  type Controller,
  type Informer,
  keyOf,
  patchStatusIfChanged,
  runController,
  type RuntimeContext,
  watches,
} from "../../kube";

/** A gateway that is replaced is back before that, in milliseconds; traffic may be, too. */
const GRACE_MS = 30_000;

/** Says that a tunnel is down whose gateway does not run: the gateway itself, which says so otherwise, can't. */
export function runConnectionController(
  runtime: RuntimeContext,
  deployments: Informer<Deployment>,
  graceMs = GRACE_MS,
): Controller {
  const connections = runtime.informers.informer(Connection);
  const downSince = new Map<string, number>();
  return runController(
    {
      name: "connection-controller",
      // A Connection has the name of its gateway's Deployment.
      sources: [watches(connections), watches(deployments, { keys: (deployment) => [keyOf(deployment)] })],
      objectOf: (key) => connections.getByKey(key),
      reconcile: async (key) => {
        const connection = connections.getByKey(key);
        if (connection?.status?.value !== "Connected" || !isDown(deployments.getByKey(key))) {
          downSince.delete(key);
          return;
        }
        const now = runtime.clock.monotonic();
        const since = downSince.get(key) ?? now;
        downSince.set(key, since);
        const left = since + graceMs - now;
        if (left > 0) return { requeueAfterMs: left };
        const status = { value: "Error" as const, latency: { value: "N/A" } };
        await patchStatusIfChanged(runtime.client, Connection, connection, status, { exact: ["latency"] });
      },
    },
    runtime,
  );
}

/** Whether no replica is ready. Of a Deployment that nobody answers yet nothing is known, and of one that is not there its GatewayServer or -Client tells. */
function isDown(deployment: Deployment | undefined): boolean {
  const { status } = deployment ?? {};
  return status?.observedGeneration !== undefined && (status.readyReplicas ?? 0) === 0;
}
