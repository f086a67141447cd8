import { hostname } from "node:os";
import { defineComponent } from "../component/component";
import { InformerSet, LeaderElection, type RuntimeContext, summarize, type Term } from "../kube";
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
  const { client, clock, log, signal, metrics, shutdown } = context;
  const leaseClient = client.sibling();
  const election = new LeaderElection({
    client: leaseClient,
    clock,
    log,
    metrics,
    lease: { name: lease, namespace: flags.liqoNamespace },
    identity: `${process.env.POD_NAME ?? hostname()}_${process.pid}`,
    onElected: (term) => {
      startControllers(contextOf(term, context), flags).catch((error: unknown) => {
        // What a term that has ended could not finish is the next leader's work.
        if (!term.current) return;
        log.error("controllers not started", { error });
        // Another replica may have better luck.
        process.exit(1);
      });
    },
  });
  shutdown.add(election.run(signal).finally(() => leaseClient.close()));
}

/** A term owns its caches, with their indexes and handlers, so that the next one starts clean. Its writes end with it. */
function contextOf(term: Term, context: RuntimeContext): RuntimeContext {
  const { clock, log, signal, metrics, health } = context;
  const client = context.client.during(term);
  const informers = new InformerSet(client, { log, clock, metrics });
  const withdraw = health.addReadiness("caches of the leader", () => summarize(informers.problems()));
  term.signal.addEventListener(
    "abort",
    () => {
      withdraw();
      void informers.stop();
    },
    { once: true },
  );
  return { ...context, client, informers, signal: AbortSignal.any([signal, term.signal]) };
}
