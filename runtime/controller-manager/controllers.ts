import { startAuthentication } from "../authentication/start";
import { startForeignCluster } from "../foreign-cluster/foreign-cluster-controller";
import type { RuntimeContext } from "../kube";
import { offloadingControllers } from "../offloading";
import { startReplication } from "../replication/replication-controller";
import { authenticationOptions, type ControllerManagerFlags, foreignClusterOptions } from "./flags";
import { runServingCertificateApprover } from "./serving-certificate-approver";

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
      nodeFailure: flags.enableNodeFailureController,
    });
    runServingCertificateApprover(context, flags.liqoNamespace);
  }
  startForeignCluster(context, foreignClusterOptions(flags));
}
