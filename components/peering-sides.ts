import * as pulumi from "@pulumi/pulumi";

import { type PeeringSides, peeringSidesSchema, tenantNamespace } from "../runtime/plan/peering";
import { checkedArguments } from "./checked-arguments";
import type { ClusterArgs } from "./cluster";
import { type ClusterResourceOptions, KubernetesObject, planned } from "./kubernetes-object";

/** A cluster as one end of a peering, with the namespace that it keeps for the other end. */
export interface PeeringClusterArgs extends ClusterArgs {
  /** Namespace for everything about the peer; `liqo-tenant-<peer's cluster ID>` by default. */
  tenantNamespace?: pulumi.Input<string>;
}

/** The two ends, checked, with the names of their namespaces. */
export function sidesOf(
  subject: string,
  { consumer, provider }: { consumer: PeeringClusterArgs; provider: PeeringClusterArgs },
): pulumi.Output<PeeringSides> {
  const plain = ({ clusterId, tenantNamespace: namespace }: PeeringClusterArgs) => ({
    clusterId,
    tenantNamespace: namespace,
  });
  return pulumi
    .output({ consumer: plain(consumer), provider: plain(provider) })
    .apply((value) => checkedArguments(peeringSidesSchema, subject, value));
}

/** The namespace of each end for the other. */
export function tenantNamespaces(
  name: string,
  sides: pulumi.Output<PeeringSides>,
  atConsumer: ClusterResourceOptions,
  atProvider: ClusterResourceOptions,
): { consumer: KubernetesObject; provider: KubernetesObject } {
  const namespaceFor = (role: string, side: "consumer" | "provider", opts: ClusterResourceOptions) => {
    const peer = side === "consumer" ? "provider" : "consumer";
    const manifest = sides.apply((both) => tenantNamespace(both[side].tenantNamespace, both[peer].clusterId));
    return new KubernetesObject(`${name}-${role}`, planned("v1", "Namespace", manifest), opts);
  };
  return {
    consumer: namespaceFor("consumer-tenant-namespace", "consumer", atConsumer),
    provider: namespaceFor("provider-tenant-namespace", "provider", atProvider),
  };
}

/** The namespace of an object, for whoever must wait for the object too. */
export function namespaceOf(object: KubernetesObject): pulumi.Output<string> {
  return object.metadata.apply(({ namespace = "" }) => namespace);
}
