import { Connection, Deployment, Label, Pod } from "../../runtime/api";
import type { KubeClient } from "../../runtime/kube";
import { asFarAsAllowed, lookMs } from "../cluster-inputs";
import type { ProviderContext } from "../resource-definition";
import { type WaitResult, waitForObject } from "../waiting/object-wait";

interface Tunnel {
  peerClusterId: string;
  /** Namespace of its gateway; empty where it is not told. */
  namespace: string;
  /** Until when to wait, milliseconds since the epoch. */
  deadline: number;
}

/** After so long a tunnel that is down has been told to be. */
const STANDS_AFTER_MS = 30_000;

/**
 * Waits until what is told of a tunnel is told of the present one: its gateway has been made anew if it had to be, and packets have passed since. A
 * gateway that is replaced leaves the Connection as it was, so that a short break is none.
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
    // The gateway's Deployment has the same name; of gateways of other kinds nothing is known.
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
 * Judges whether packets passed since a moment. Both times are of the gateway's node. A gateway that has nothing new to tell does not write, and one of
 * an older version not even once: what stands for long enough is true.
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
