import { hostname } from "node:os";
import { z } from "zod";

import { Name } from "../../api/keys";
import * as flag from "../../component/flags";
import type { LeaderElectionOptions } from "../../kube";
import type { ReflectedResource, ResourceWithPolicy } from "../../plan/reflected-resources";

const policy = () => flag.oneOf(["DenyList", "AllowList"], "DenyList");
const workers = (fallback: number) => flag.integer(fallback, 0, 10_000);

/** For each reflected kind how many objects are worked on at a time (0 turns the kind off), and for those that have one the policy. */
const reflectionFlags = {
  podReflectionWorkers: workers(400),
  serviceReflectionWorkers: workers(20),
  endpointsliceReflectionWorkers: workers(20),
  ingressReflectionWorkers: workers(20),
  configmapReflectionWorkers: workers(50),
  secretReflectionWorkers: workers(50),
  serviceaccountReflectionWorkers: workers(100),
  persistentvolumeclaimReflectionWorkers: workers(10),
  eventReflectionWorkers: workers(50),
  serviceReflectionType: policy(),
  ingressReflectionType: policy(),
  configmapReflectionType: policy(),
  secretReflectionType: policy(),
  eventReflectionType: policy(),
} satisfies Record<`${Lowercase<ReflectedResource>}ReflectionWorkers`, ReturnType<typeof workers>> &
  Record<`${Lowercase<ResourceWithPolicy>}ReflectionType`, ReturnType<typeof policy>>;

/**
 * Flags about one virtual node. Given to the process they are the default of all its nodes; given in the arguments of a VirtualNode's template,
 * as upstream's webhook writes them, they hold for that node (offloading reference 5.3 and 6.1).
 */
export const nodeFlags = z.object({
  ...reflectionFlags,
  nodeExtraAnnotations: flag.pairs(),
  nodeExtraLabels: flag.pairs(),
  /** Whether offloaded pods get at this cluster's API server. */
  enableApiserverSupport: flag.boolean(true),
  homeApiServerHost: flag.text(),
  homeApiServerPort: flag.text(),
  /** Pods show no address, and endpoints are not reflected. */
  disableIpReflection: flag.boolean(false),
});
export type NodeFlags = z.output<typeof nodeFlags>;

/** Flags of the process. */
export const processFlags = nodeFlags.extend({
  clusterId: flag.required(/^[a-z0-9]([-a-z0-9]*[a-z0-9])?$/, "give the ID of this cluster, such as rome"),
  liqoNamespace: flag.text(Name.liqoNamespace),
  /** This cluster's pod networks. */
  localPodcidr: flag.list(),
  /** Address under which the API server reaches the kubelet endpoint. */
  nodeIp: flag.text(process.env.POD_IP ?? "127.0.0.1"),
  /** Identity of this replica. */
  podName: flag.text(process.env.POD_NAME ?? hostname()),
  /** Replicas that there are to be; with more than one they share the virtual nodes evenly. */
  replicas: flag.integer(1, 1, 100),
  /** Serve this VirtualNode alone (`namespace/name`) in place of all. */
  virtualNode: flag.text(),
  listenPort: flag.integer(10_250, 0, 65_535),
  certificateType: flag.oneOf(["kubelet", "aws", "self-signed"], "kubelet"),
  vkLeaseDuration: flag.duration(12_000),
  vkLeaseRenewInterval: flag.duration(9_000),
  vkLeaseRetryPeriod: flag.duration(1_200),
  /** Written to the node's Lease, which is renewed every quarter of it. It is not how long a lost provider is waited for. */
  nodeLeaseDuration: flag.duration(40_000),
  /**
   * Time between two pings of the provider. `FAILURES_UNTIL_LOST` (`../node/node-heartbeat.ts`) says after how many failures it counts as lost.
   * 0: no pings, the provider never counts as lost.
   */
  nodePingInterval: flag.duration(10_000),
  nodePingTimeout: flag.duration(1_000),
  /** Tell of each success with a Normal event. */
  eventOnSuccess: flag.boolean(false),
});
export type ProcessFlags = z.output<typeof processFlags>;

/**
 * The timing of the leases that virtual nodes are shared by. While all goes well they are renewed about twice before the
 * deadline: with many nodes they are most of what an idle process writes.
 */
export function leaseTiming(
  flags: Pick<ProcessFlags, "vkLeaseDuration" | "vkLeaseRenewInterval" | "vkLeaseRetryPeriod">,
): Required<Pick<LeaderElectionOptions, "leaseDurationMs" | "renewDeadlineMs" | "retryMs" | "renewMs">> {
  const { vkLeaseDuration, vkLeaseRenewInterval, vkLeaseRetryPeriod } = flags;
  return {
    leaseDurationMs: vkLeaseDuration,
    renewDeadlineMs: vkLeaseRenewInterval,
    retryMs: vkLeaseRetryPeriod,
    renewMs: Math.max(vkLeaseRetryPeriod, vkLeaseRenewInterval * 0.45),
  };
}
