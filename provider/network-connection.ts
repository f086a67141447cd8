import type * as pulumi from "@pulumi/pulumi";
import { z } from "zod";

import { Connection, Deployment, ForeignCluster, Label, Pod } from "../runtime/api";
import type { KubeClient } from "../runtime/kube";
import {
  asFarAsAllowed,
  type ClusterArgs,
  clusterIDInput,
  clusterInputs,
  inCluster,
  lookMs,
  timeoutInput,
  withSecretKubeconfig,
} from "./core/cluster-access";
import type { ProviderContext } from "./core/definition";
import { resourceFunctions } from "./core/lifecycle";
import { LiqoResource } from "./core/liqo-resource";
import { createdByWait, waitForObject, type WaitResult } from "./core/object-wait";

const inputs = z.object({
  ...clusterInputs,
  peerClusterId: clusterIDInput.describe("ID of the cluster at the other end."),
  triggers: z
    .record(z.string(), z.string())
    .optional()
    .describe("Arbitrary values: when one changes, wait again."),
  timeoutSeconds: timeoutInput(120),
});
type Inputs = z.output<typeof inputs>;

/** Last step of a network peering: packets pass (networking reference 17). */
export const networkConnection = resourceFunctions({
  type: "NetworkConnection",
  summary:
    "Waits in a cluster until the tunnel to a peer is up, and says which step is missing while it is not. A refresh looks again: when it is down, the next run waits anew.",
  inputs,
  computed: z.object({ since: z.string().describe("When the connection was established.") }),
  secrets: [],
  secretInputs: ["kubeconfig"],
  replaceOn: ["peerClusterId"],

  ...createdByWait(({ peerClusterId }) => peerClusterId, wait),
  read: (_id, state, context) =>
    inCluster(state, context, async (client) => {
      const limits = { signal: context.signal, deadlineMs: lookMs };
      const result = judge(await client.get(ForeignCluster, { name: state.peerClusterId }, limits));
      return result.is === "met" ? result.value : undefined;
    }),
});

function wait(inputs: Inputs, context: ProviderContext): Promise<{ since: string }> {
  const { peerClusterId } = inputs;
  const start = context.now();
  return inCluster(inputs, context, async (client) => {
    const established = () => {
      const spent = Math.ceil((context.now() - start) / 1000);
      return waitForObject(
        {
          client,
          kind: ForeignCluster,
          kindName: "ForeignCluster",
          ref: { name: peerClusterId },
          timeoutSeconds: Math.max(1, inputs.timeoutSeconds - spent),
          what: "the network connection",
          nextStep:
            "when the step that is missing is the connection itself, see that the client reaches the server's address and UDP port, and that each side has the other's PublicKey; the log of the gateway's pod in the tenant namespace says more",
          judge: (foreignCluster) => {
            const result = judge(foreignCluster);
            if (result.is !== "met") return result;
            const namespace = foreignCluster?.status?.tenantNamespace?.local ?? "";
            return { is: "met", value: { ...result.value, namespace } };
          },
        },
        context,
      );
    };
    const { namespace } = await established();
    const tunnel = { peerClusterId, namespace, deadline: start + inputs.timeoutSeconds * 1000 };
    await presentTunnel(client, tunnel, context);
    const { since } = await established();
    return { since };
  });
}

/** The steps in their order, and what each says when it is done. */
const STEPS = [
  ["NetworkConfigurationStatus", "Ready"],
  ["NetworkGatewayPresence", "Ready"],
  ["NetworkGatewayServerStatus", "Ready"],
  ["NetworkGatewayClientStatus", "Ready"],
  ["NetworkConnectionStatus", "Established"],
] as const;

function judge(foreignCluster: ForeignCluster | undefined): WaitResult<{ since: string }> {
  if (foreignCluster === undefined) return { is: "open", seen: "does not exist" };
  const networking = foreignCluster.status?.modules?.networking;
  if (networking?.enabled !== true) {
    return { is: "open", seen: "the networking module is not in use with this peer yet" };
  }
  const conditions = networking.conditions ?? [];
  const connection = conditions.find(({ type }) => type === "NetworkConnectionStatus");
  if (connection?.status === "Established") {
    return { is: "met", value: { since: connection.lastTransitionTime ?? "" } };
  }
  for (const [type, done] of STEPS) {
    const condition = conditions.find((candidate) => candidate.type === type);
    if (condition === undefined || condition.status === done) continue;
    const since = condition.lastTransitionTime === undefined ? "" : ` since ${condition.lastTransitionTime}`;
    return {
      is: "open",
      seen: `${type} is ${condition.status}${since} (${condition.reason ?? "no reason"}): ${condition.message ?? ""}`,
    };
  }
  return { is: "open", seen: "NetworkConnectionStatus is not told yet" };
}

interface Tunnel {
  peerClusterId: string;
  /** Namespace of its gateway; empty where it is not told. */
  namespace: string;
  /** Until when to wait, milliseconds since the epoch. */
  deadline: number;
}

/** A gateway reports a broken tunnel within this time. */
const STANDS_AFTER_MS = 30_000;

/**
 * Waits until the Connection is about the present tunnel: the gateway's rollout is complete, and packets have passed since. A gateway that is replaced
 * leaves the Connection as it was, so its status alone does not tell.
 */
export async function presentTunnel(
  client: KubeClient,
  { peerClusterId, namespace, deadline }: Tunnel,
  context: ProviderContext,
): Promise<void> {
  const limits = { signal: context.signal, deadlineMs: lookMs };
  if (namespace === "") return;
  const labelSelector = `${Label.remoteClusterID}=${peerClusterId}`;
  const connections = await asFarAsAllowed(client.list(Connection, { namespace, labelSelector }, limits));
  for (const { metadata } of connections ?? []) {
    const ref = { name: metadata.name, namespace };
    // The gateway's Deployment has the same name. A gateway made from another template has none, and is not waited for.
    if ((await asFarAsAllowed(client.get(Deployment, ref, limits))) === undefined) continue;
    const common = {
      client,
      ref,
      nextStep: `see the gateway's pod with "kubectl describe deployment,pod -n ${namespace}"`,
      timeoutSeconds: Math.max(1, Math.ceil((deadline - context.now()) / 1000)),
    };
    const selector = await waitForObject(
      {
        ...common,
        kind: Deployment,
        kindName: "Deployment",
        what: "the gateway of the present spec",
        judge: rollout,
      },
      context,
    );
    const pods = await client.list(Pod, { namespace, labelSelector: selector }, limits);
    const since = startOf(pods);
    if (since === undefined) continue;
    await waitForObject(
      {
        ...common,
        kind: Connection,
        kindName: "Connection",
        what: "packets through the present gateway",
        judge: passedSince(since, () => context.now()),
      },
      context,
    );
  }
}

/** The selector of the pods, once there are none but those of the present spec, and one of them works. */
export function rollout(deployment: Deployment | undefined): WaitResult<string> {
  if (deployment === undefined) return { is: "open", seen: "does not exist" };
  const { metadata, spec, status } = deployment;
  const { replicas = 0, updatedReplicas = 0, readyReplicas = 0, observedGeneration = 0 } = status ?? {};
  if (observedGeneration < (metadata.generation ?? 0) || replicas !== updatedReplicas)
    return { is: "open", seen: "its pods are being replaced" };
  if (readyReplicas === 0) return { is: "open", seen: "none of its pods is ready" };
  const labels = Object.entries(spec?.selector.matchLabels ?? {});
  return { is: "met", value: labels.map(([key, value]) => `${key}=${value}`).join(",") };
}

/** When the first of the pods that run began, in milliseconds since the epoch. A container that restarts there keeps its tunnel. */
export function startOf(pods: readonly Pod[]): number | undefined {
  const starts = pods
    .filter(({ metadata }) => !metadata.deletionTimestamp)
    .map(({ status }) => Date.parse(String(status?.startTime ?? "")))
    .filter((time) => !Number.isNaN(time));
  return starts.length === 0 ? undefined : Math.min(...starts);
}

/**
 * Judges whether packets passed since a moment. Both times are of the gateway's node. A gateway writes changes only, and one of an older version
 * may never write: a status that stays for `STANDS_AFTER_MS` counts.
 */
export function passedSince(
  since: number,
  now: () => number,
): (connection: Connection | undefined) => WaitResult<undefined> {
  let seenAt: number | undefined;
  return (connection) => {
    const { value = "unknown", latency } = connection?.status ?? {};
    if (value !== "Connected") {
      seenAt = undefined;
      return { is: "open", seen: connection === undefined ? "does not exist" : `is ${value}` };
    }
    const told = Date.parse(latency?.timestamp ?? "");
    if (Number.isNaN(told) || told >= since) return { is: "met", value: undefined };
    seenAt ??= now();
    const leftMs = seenAt + STANDS_AFTER_MS - now();
    if (leftMs <= 0) return { is: "met", value: undefined };
    return { is: "open", seen: "is Connected by what the gateway before said", againMs: leftMs };
  };
}

export interface NetworkConnectionArgs extends ClusterArgs {
  /** ID of the cluster at the other end. */
  peerClusterId: pulumi.Input<string>;
  /** Arbitrary values: when one changes, wait again. */
  triggers?: pulumi.Input<Record<string, pulumi.Input<string>>>;
  /** Longest time to wait, in seconds; 120 by default. */
  timeoutSeconds?: pulumi.Input<number>;
}

/**
 * Waits in a cluster until the tunnel to a peer is up, and says which step is missing while it is not. A refresh looks again: when it is down,
 * the next run waits anew.
 */
export class NetworkConnection extends LiqoResource {
  /** When the connection was established. */
  declare readonly since: pulumi.Output<string>;

  constructor(name: string, args: NetworkConnectionArgs, options?: pulumi.CustomResourceOptions) {
    super("networkConnection", name, { since: undefined, ...withSecretKubeconfig(args) }, options);
  }
}
