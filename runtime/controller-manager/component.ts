import { hostname } from "node:os";

import { startAuthentication } from "../authentication/start";
import { startForeignCluster } from "../foreign-cluster/foreign-cluster-controller";
import { startIpam } from "../ipam/start";
import { defineComponent } from "../component/component";
import type { RuntimeContext } from "../kube";
import { startNetworking } from "../networking/start";
import { offloadingControllers } from "../offloading";
import { virtualKubeletController } from "../offloading/virtual-kubelet-controller";
import { runTelemetry } from "../telemetry/telemetry";
import { startReplication } from "../replication/replication-controller";
import {
  authenticationOptions,
  type ControllerManagerFlags,
  controllerManagerFlags,
  foreignClusterOptions,
  ipamOptions,
  networkingOptions,
  podPolicyOf,
  telemetryOptions,
} from "./flags";
import { registerPeeringMetrics } from "./peering-metrics";
import { runServingCertificateApprover } from "./serving-certificate-approver";

/** Upstream's lease, so that of two makes in one cluster only one works. */
const LEASE = "66cf253f.ctrlmgr.liqo.io";

/** All controllers of a cluster in one process, over one set of watches. With several replicas one works and the others stand by. */
export const controllerManager = defineComponent({
  name: "controller-manager",
  flags: controllerManagerFlags,
  start: async (context, flags) => {
    const { elections, informers, metrics } = context;
    registerPeeringMetrics(metrics, informers);
    if (!flags.enableLeaderElection) return await startControllers(context, flags);
    elections.lead(
      {
        metrics,
        lease: { name: LEASE, namespace: flags.liqoNamespace },
        identity: `${process.env.POD_NAME ?? hostname()}_${process.pid}`,
      },
      (term) => startControllers(term, flags),
    );
  },
});

/** Starts all controllers of a cluster; each module adds its own here. They stop with the context's signal. */
export async function startControllers(
  context: RuntimeContext,
  flags: ControllerManagerFlags,
): Promise<void> {
  if (flags.authenticationEnabled) {
    await startAuthentication(context, authenticationOptions(flags, context.clock));
    startReplication(context, { clusterId: flags.clusterId });
  }
  if (flags.offloadingEnabled) {
    offloadingControllers(context, {
      clusterID: flags.clusterId,
      shadowPodWorkers: flags.shadowPodCtrlWorkers,
      shadowEndpointSliceWorkers: flags.shadowEndpointsliceCtrlWorkers,
      networking: flags.networkingEnabled,
      denyDirectConnections: flags.denyDirectConnections,
      nodeFailure: flags.enableNodeFailureController,
      liqoNamespace: flags.liqoNamespace,
      virtualKubeletPerNode: flags.virtualKubeletPerNode,
      podSecurity: flags.podSecurity,
      podPolicy: podPolicyOf(flags),
    });
    if (flags.virtualKubeletPerNode) {
      virtualKubeletController(context, {
        clusterID: flags.clusterId,
        liqoNamespace: flags.liqoNamespace,
        podCidrs: flags.podcidr,
      });
    }
    runServingCertificateApprover(context, flags.liqoNamespace);
  }
  if (flags.networkingEnabled) {
    await startIpam(context, ipamOptions(flags));
    await startNetworking(context, networkingOptions(flags));
  }
  startForeignCluster(context, foreignClusterOptions(flags));
  const telemetry = telemetryOptions(flags);
  if (telemetry !== undefined) void runTelemetry(context, telemetry);
}
