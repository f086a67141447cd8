import { z } from "zod";
import { Label, Name } from "../api";
import { parseClassList } from "../authentication/slice-class";
import type { AuthenticationOptions } from "../authentication/context";
import { AwsHttpsApi } from "../authentication/identity-provider/aws-api";
import { UsageError } from "../component/command-line";
import * as flag from "../component/flags";
import type { ForeignClusterOptions } from "../foreign-cluster/peer-caches";
import type { IpamOptions } from "../ipam/ipam-context";
import { DEFAULT_POOLS } from "../ipam/pools";
import type { Clock } from "../kube";
import type { NetworkingOptions } from "../networking/networking-context";
import type { TelemetryOptions } from "../telemetry/telemetry";
import { OVERLAY_PORT } from "../plan/networking/settings";
import { NetworkingRole } from "../plan/rbac/networking";

import { type PodPolicy, podSecurityLevels } from "../plan/pod-policy";

/** Upstream's own default is in lower case, which its API refuses. */
function readEnforcement(text: string): AuthenticationOptions["limitsEnforcement"] {
  const found = (["None", "Soft", "Hard"] as const).find((word) => word.toLowerCase() === text.toLowerCase());
  if (found === undefined) throw new Error(`is ${JSON.stringify(text)}; write None, Soft or Hard`);
  return found;
}

function readEndpoint(text: string): string {
  if (text === "") return "";
  const url = URL.canParse(text) ? new URL(text) : undefined;
  if (url === undefined || !["http:", "https:"].includes(url.protocol)) {
    throw new Error(`is ${JSON.stringify(text)}; write a URL with https`);
  }
  return text;
}

/** Flags of the controller manager, by upstream's names (control plane reference 14, offloading reference 17.1). */
export const controllerManagerFlags = z.object({
  clusterId: flag.required(/^[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?$/, "give this cluster's ID, a DNS label"),
  liqoNamespace: flag.text(Name.liqoNamespace),
  networkingEnabled: flag.boolean(true),
  authenticationEnabled: flag.boolean(true),
  offloadingEnabled: flag.boolean(true),

  enableLeaderElection: flag.boolean(false),
  foreignClusterWorkers: flag.integer(10, 1, 1000),
  foreignClusterPingInterval: flag.duration(15_000),
  foreignClusterPingTimeout: flag.duration(5_000),
  globalLabels: flag.pairs(),
  globalAnnotations: flag.pairs(),
  /** Where to send a report each day; nowhere by default. */
  telemetryEndpoint: flag.parsed("", readEndpoint),
  /** By which the receiver tells clusters apart. */
  telemetryIdentity: flag.text(),
  telemetryInterval: flag.duration(86_400_000),

  // authentication
  apiServerAddressOverride: flag.text(),
  caOverride: flag.text(),
  trustedCa: flag.boolean(false),
  tlsCompatibilityMode: flag.boolean(false),
  defaultResourceSliceClassEnabled: flag.boolean(true),
  defaultNodeResources: flag.pairs(),
  defaultLimitsEnforcement: flag.parsed("None", readEnforcement),
  clusterLabels: flag.pairs(),
  ingressClasses: flag.parsed("", parseClassList),
  loadBalancerClasses: flag.parsed("", parseClassList),
  awsAccessKeyId: flag.text(),
  awsSecretAccessKey: flag.text(),
  awsRegion: flag.text(),
  awsClusterName: flag.text(),

  // offloading
  enableStorage: flag.boolean(false),
  virtualStorageClassName: flag.text(Name.storageClass),
  realStorageClassName: flag.text(),
  storageNamespace: flag.text(Name.storageNamespace),
  enableNodeFailureController: flag.boolean(false),
  shadowPodCtrlWorkers: flag.integer(10, 1, 10_000),
  shadowEndpointsliceCtrlWorkers: flag.integer(10, 1, 10_000),
  denyDirectConnections: flag.boolean(false),
  /** Pod Security Standard that the namespaces of consumers enforce. Ours, as are the next three. */
  podSecurity: flag.oneOf(podSecurityLevels, "baseline"),
  /** What pods of consumers may name besides the service account `default`; `*` for all. The webhook is told the same. */
  allowedServiceAccounts: flag.list(),
  allowedPriorityClasses: flag.list(),
  allowedRuntimeClasses: flag.list(),
  /** A process for each virtual node, in place of one for all. */
  virtualKubeletPerNode: flag.boolean(false),
  /** This cluster's pod networks, which those processes are told. */
  podcidr: flag.list(),

  // networking
  pools: flag.list(),
  syncInterval: flag.duration(120_000),
  genevePort: flag.integer(OVERLAY_PORT, 1, 65_535),
  fabricFullMasqueradeEnabled: flag.boolean(false),
  fabricRouteRulePriority: flag.integer(0, 0, 32_765),
  gatewayMasqueradeBypassEnabled: flag.boolean(false),
  gatewayMssClampEnabled: flag.boolean(true),
  gatewayMssClampValue: flag.integer(0, 0, 65_495),
  overlayNotrackEnabled: flag.boolean(false),
  apiServerIpUseEndpointslices: flag.boolean(false),
  enableApiServerProxyIpRemapping: flag.boolean(true),
  wgGatewayServerClusterRoleName: flag.text(NetworkingRole.gateway),

  // One role serves both ends of a tunnel, and its kinds and their templates are always watched; the addresses are managed in this process.
  wgGatewayClientClusterRoleName: flag.ignored(),
  gatewayServerResources: flag.ignored(),
  gatewayClientResources: flag.ignored(),
  gatewayTemplateWatchEnabled: flag.ignored(),
  ipamServer: flag.ignored(),
  networkCtrlWorkers: flag.ignored(),
  ipCtrlWorkers: flag.ignored(),

  // There is no server for webhooks here, and caches follow their watches without being listed again.
  webhookPort: flag.ignored(),
  resyncPeriod: flag.ignored(),
});
export type ControllerManagerFlags = z.output<typeof controllerManagerFlags>;

/** Granted where neither the slice nor the administrator says how much. */
const defaultNodeResources = { cpu: "4", memory: "8Gi", pods: "110", "ephemeral-storage": "20Gi" };

/** @throws UsageError where the flags contradict each other */
export function authenticationOptions(flags: ControllerManagerFlags, clock: Clock): AuthenticationOptions {
  return {
    clusterId: flags.clusterId,
    liqoNamespace: flags.liqoNamespace,
    tlsCompatibilityMode: flags.tlsCompatibilityMode,
    endpoint: {
      addressOverride: flags.apiServerAddressOverride,
      caOverride: flags.caOverride,
      trustedCa: flags.trustedCa,
    },
    defaultClass: {
      enabled: flags.defaultResourceSliceClassEnabled,
      defaultResources:
        Object.keys(flags.defaultNodeResources).length > 0
          ? flags.defaultNodeResources
          : defaultNodeResources,
      clusterLabels: flags.clusterLabels,
      ingressClasses: flags.ingressClasses,
      loadBalancerClasses: flags.loadBalancerClasses,
      storageEnabled: flags.enableStorage,
      realStorageClassName: flags.realStorageClassName,
    },
    limitsEnforcement: flags.defaultLimitsEnforcement,
    global: { labels: flags.globalLabels, annotations: flags.globalAnnotations },
    offloadingEnabled: flags.offloadingEnabled,
    ...awsOptions(flags, clock),
  };
}

/** The cloud's identities, where all four flags are given. */
function awsOptions(flags: ControllerManagerFlags, clock: Clock): Pick<AuthenticationOptions, "aws"> {
  const { awsAccessKeyId, awsSecretAccessKey, awsRegion: region, awsClusterName: clusterName } = flags;
  const given = [awsAccessKeyId, awsSecretAccessKey, region, clusterName].filter((value) => value !== "");
  if (given.length === 0) return {};
  if (given.length < 4) {
    throw new UsageError(
      "--aws-access-key-id, --aws-secret-access-key, --aws-region and --aws-cluster-name go together; give all four or none",
    );
  }
  const keys = { accessKeyId: awsAccessKeyId, secretAccessKey: awsSecretAccessKey };
  return { aws: { api: new AwsHttpsApi({ keys, region, clock }), region, clusterName } };
}

/** Undefined where no telemetry was asked for. */
export function telemetryOptions(flags: ControllerManagerFlags): TelemetryOptions | undefined {
  if (flags.telemetryEndpoint === "") return undefined;
  if (flags.telemetryIdentity === "") {
    throw new UsageError("--telemetry-identity is missing; give a random UUID with --telemetry-endpoint");
  }
  return {
    endpoint: flags.telemetryEndpoint,
    identity: flags.telemetryIdentity,
    intervalMs: flags.telemetryInterval,
    provider: flags.clusterLabels[Label.provider] ?? "",
    modules: {
      networking: flags.networkingEnabled,
      authentication: flags.authenticationEnabled,
      offloading: flags.offloadingEnabled,
    },
  };
}

/** What pods of consumers may name of this cluster. */
export function podPolicyOf(flags: ControllerManagerFlags): PodPolicy {
  return {
    serviceAccounts: flags.allowedServiceAccounts,
    priorityClasses: flags.allowedPriorityClasses,
    runtimeClasses: flags.allowedRuntimeClasses,
  };
}

export function foreignClusterOptions(flags: ControllerManagerFlags): ForeignClusterOptions {
  return {
    liqoNamespace: flags.liqoNamespace,
    networkingEnabled: flags.networkingEnabled,
    authenticationEnabled: flags.authenticationEnabled,
    offloadingEnabled: flags.offloadingEnabled,
    virtualKubeletPerNode: flags.virtualKubeletPerNode,
    pingIntervalMs: flags.foreignClusterPingInterval,
    pingTimeoutMs: flags.foreignClusterPingTimeout,
    workers: flags.foreignClusterWorkers,
  };
}

export function ipamOptions(flags: ControllerManagerFlags): IpamOptions {
  return {
    liqoNamespace: flags.liqoNamespace,
    pools: flags.pools.length > 0 ? flags.pools : DEFAULT_POOLS,
    syncIntervalMs: flags.syncInterval,
    global: { labels: flags.globalLabels, annotations: flags.globalAnnotations },
  };
}

export function networkingOptions(flags: ControllerManagerFlags): NetworkingOptions {
  return {
    liqoNamespace: flags.liqoNamespace,
    fullMasquerade: flags.fabricFullMasqueradeEnabled,
    fabricRulePriority: flags.fabricRouteRulePriority,
    gatewayMasqueradeBypass: flags.gatewayMasqueradeBypassEnabled,
    genevePort: flags.genevePort,
    segmentSizeClamp: flags.gatewayMssClampEnabled ? flags.gatewayMssClampValue : undefined,
    overlayWithoutTracking: flags.overlayNotrackEnabled,
    apiServerBy: flags.apiServerIpUseEndpointslices ? "endpoints" : "service",
    exportProxy: flags.enableApiServerProxyIpRemapping,
    gatewayClusterRole: flags.wgGatewayServerClusterRoleName,
    offloadingEnabled: flags.offloadingEnabled,
    global: { labels: flags.globalLabels, annotations: flags.globalAnnotations },
  };
}
