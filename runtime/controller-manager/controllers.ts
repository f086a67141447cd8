import { startAuthentication } from "../authentication/start";
import { startForeignCluster } from "../foreign-cluster/foreign-cluster-controller";
import { startIpam } from "../ipam/start";
import type { RuntimeContext } from "../kube";
import { startNetworking } from "../networking/start";
import { offloadingControllers } from "../offloading";
import { virtualKubeletController } from "../offloading/virtual-kubelet-controller";
import { runTelemetry } from "../telemetry/telemetry";
import { startReplication } from "../replication/replication-controller";
import {
  authenticationOptions,
  type ControllerManagerFlags,
  foreignClusterOptions,
  ipamOptions,
  networkingOptions,
  podPolicyOf,
  telemetryOptions,
} from "./flags";
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
