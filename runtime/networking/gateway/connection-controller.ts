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
import { connectionStatus } from "../connection-status";

/** In milliseconds. A gateway that is replaced is ready again before that, and traffic may pass meanwhile. */
const GRACE_MS = 30_000;

/** Reports a tunnel as down while its gateway does not run. In all other cases the gateway reports its tunnel itself. */
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
        const status =
          connection !== undefined && isDown(deployments.getByKey(key))
            ? connectionStatus({ state: "gatewayDown" }, connection.status, {
                now: runtime.clock.now(),
                refreshIntervalMs: 0,
              })
            : undefined;
        if (connection === undefined || status === undefined) {
          downSince.delete(key);
          return;
        }
        const now = runtime.clock.monotonic();
        const since = downSince.get(key) ?? now;
        downSince.set(key, since);
        const left = since + graceMs - now;
        if (left > 0) return { requeueAfterMs: left };
        await patchStatusIfChanged(runtime.client, Connection, connection, status, { exact: ["latency"] });
      },
    },
    runtime,
  );
}

/** Whether no replica is ready. A Deployment without a status says nothing yet. Where there is none, the events of the GatewayServer or GatewayClient say so. */
function isDown(deployment: Deployment | undefined): boolean {
  const { status } = deployment ?? {};
  return status?.observedGeneration !== undefined && (status.readyReplicas ?? 0) === 0;
}
