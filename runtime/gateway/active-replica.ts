import { Label, LabelValue, Pod } from "../api";
import { every } from "../networking/agent/pass";
import { labelValue } from "../networking/labels";
import type { Gateway, GatewayFlags } from "./gateway";
import { runController, type RuntimeContext, watches } from "../kube";

const LOOK_MS = 500;

/**
 * Which of a gateway's replicas carries the traffic: one at a time, by a lease. Its pod has a label by which the Service and the nodes find it
 * (networking reference 10.2).
 *
 * One that cannot renew its lease goes on until it learns that another has it: while the API server is away nobody can take it, and traffic
 * need not stop for that.
 */
export class ActiveReplica {
  private active: boolean;

  constructor(
    private readonly runtime: RuntimeContext,
    private readonly gateway: Gateway,
    private readonly flags: GatewayFlags,
    private readonly onChange: () => void,
  ) {
    this.active = !flags.leaderElection;
    if (flags.leaderElection) this.elect();
  }

  isActive = (): boolean => this.active;

  private elect(): void {
    const { clock, elections, signal } = this.runtime;
    const { flags, gateway } = this;
    if (flags.podName === "") throw new Error("--pod-name is missing; replicas are told apart by it");
    const election = elections.stand({
      lease: {
        name: `${gateway.name}.${gateway.namespace}.${gateway.end}.connections.liqo.io`,
        namespace: gateway.namespace,
      },
      identity: flags.podName,
      leaseDurationMs: flags.leaderElectionLeaseDuration,
      renewDeadlineMs: flags.leaderElectionRenewDeadline,
      retryMs: flags.leaderElectionRetryPeriod,
      onElected: () => this.become(true),
    });
    every(clock, LOOK_MS, signal, () => {
      const { holder } = election;
      if (this.active && holder !== undefined && holder !== flags.podName) this.become(false);
    });
    this.keepLabels();
  }

  private become(active: boolean): void {
    if (this.active === active) return;
    this.active = active;
    this.runtime.log.info(active ? "carries the traffic" : "stands by", { pod: this.flags.podName });
    this.relabel?.();
    this.onChange();
  }

  private relabel: (() => void) | undefined;

  /** While active: the label is on our pod, and on no other of the gateway's. */
  private keepLabels(): void {
    const { runtime, gateway, flags } = this;
    const pods = runtime.informers.informer(Pod, {
      namespace: gateway.namespace,
      labelSelector: `${Label.gatewayName}=${labelValue(gateway.name)}`,
      project: withLabelsOnly,
    });
    const key = "active-pod";
    const controller = runController(
      {
        name: "active-pod",
        sources: [watches(pods, { keys: () => [key] })],
        reconcile: async () => {
          if (!this.active) return;
          const labelled = (pod: Pod) => pod.metadata.labels?.[Label.gatewayActive] === LabelValue.true;
          const own = pods.get(flags.podName, gateway.namespace);
          for (const pod of pods.list()) {
            if (pod !== own && labelled(pod)) await this.label(pod, null);
          }
          if (own !== undefined && !labelled(own)) await this.label(own, LabelValue.true);
        },
      },
      runtime,
    );
    this.relabel = () => controller.enqueue(key);
  }

  private async label({ metadata }: Pod, value: string | null): Promise<void> {
    const body = { metadata: { uid: metadata.uid, labels: { [Label.gatewayActive]: value } } };
    // A patch of the status cannot change the spec, so a stolen token of a gateway cannot change an image.
    await this.runtime.client.patch(Pod, metadata, body, { type: "merge", subresource: "status" });
  }
}

function withLabelsOnly({ apiVersion, kind, metadata }: Pod): Pod {
  const { name, namespace, uid, resourceVersion, labels } = metadata;
  return {
    apiVersion,
    kind,
    metadata: { name, namespace, uid, resourceVersion, labels },
    spec: { containers: [] },
  };
}
