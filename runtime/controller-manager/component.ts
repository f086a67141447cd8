import { hostname } from "node:os";
import { defineComponent } from "../component/component";
import { LeaderElection, type RuntimeContext } from "../kube";
import { startControllers } from "./controllers";
import { type ControllerManagerFlags, controllerManagerFlags } from "./flags";
import { registerPeeringMetrics } from "./peering-metrics";

/** Upstream's lease, so that of two makes in one cluster only one works. */
const lease = "66cf253f.ctrlmgr.liqo.io";

/** All controllers of a cluster in one process, over one set of watches. */
export const controllerManager = defineComponent({
  name: "controller-manager",
  flags: controllerManagerFlags,
  start: async (context, flags) => {
    registerPeeringMetrics(context.metrics, context.informers);
    if (flags.enableLeaderElection) elect(context, flags);
    else await startControllers(context, flags);
  },
});

/** With several replicas one works and the others stand by. */
function elect(context: RuntimeContext, flags: ControllerManagerFlags): void {
  const { client, clock, log, signal, metrics } = context;
  const election = new LeaderElection({
    client,
    clock,
    log,
    metrics,
    lease: { name: lease, namespace: flags.liqoNamespace },
    identity: `${process.env.POD_NAME ?? hostname()}_${process.pid}`,
    onElected: (term) => {
      startControllers({ ...context, signal: AbortSignal.any([signal, term]) }, flags).catch(
        (error: unknown) => {
          log.error("controllers not started", { error });
          // Another replica may have better luck.
          process.exit(1);
        },
      );
    },
  });
  void election.run(signal);
}
