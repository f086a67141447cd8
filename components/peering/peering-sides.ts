import { createHash } from "node:crypto";

import * as pulumi from "@pulumi/pulumi";

import { TenantNamespace } from "../../provider/tenant-namespace";
import { type PeeringSides, peeringSidesSchema, tenantNamespace } from "../../runtime/plan/peering";
import { checkedArguments } from "../core/arguments";
import type { ClusterArgs, PeeringClusterArgs } from "../core/cluster";
import { ExistingObjects } from "../core/existing-objects";
import { NamespaceLabels } from "../core/kubernetes-object";
import { timeouts } from "../core/waiting";

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

/**
 * The namespace of each end for the other, which other peerings of the two, other stacks and liqoctl may need as well: each holds it, and it goes with
 * the last one.
 *
 * @param subject who holds them, as `Peering "rome-milan"`
 */
export function tenantNamespaces(
  { subject, name, timeoutSeconds }: { subject: string; name: string; timeoutSeconds: number },
  sides: pulumi.Output<PeeringSides>,
  ends: Record<"consumer" | "provider", ClusterArgs & { provider: pulumi.ProviderResource }>,
  parent: pulumi.Resource,
): { consumer: NamespaceLabels; provider: NamespaceLabels } {
  const existing = {
    consumer: new ExistingObjects(ends.consumer),
    provider: new ExistingObjects(ends.provider),
  };
  const namespaceFor = (side: "consumer" | "provider") => {
    const peerSide = side === "consumer" ? "provider" : "consumer";
    const key = `${name}-${side}-tenant-namespace`;
    const { kubeconfig, provider } = ends[side];
    const peer = sides.apply((both) => both[peerSide].clusterId);
    const held = new TenantNamespace(
      key,
      {
        kubeconfig,
        name: sides.apply((both) => both[side].tenantNamespace),
        peer,
        ...holder(subject, side),
        timeoutSeconds,
      },
      { parent, hooks: existing[side].beforeTenantNamespace(`${subject}_${key}`, existing[peerSide]) },
    );
    const metadata = pulumi
      .all([held.name, held.peer])
      .apply(([own, of]) => tenantNamespace(own, of).metadata);
    return new NamespaceLabels(key, metadata, {
      parent,
      provider,
      dependsOn: held,
      ...timeouts(timeoutSeconds),
    });
  };
  return { consumer: namespaceFor("consumer"), provider: namespaceFor("provider") };
}

/** The mark of a resource, the same in every run of its stack, and who that is. */
function holder(subject: string, side: string): { holder: string; heldBy: string } {
  const stack = [organization(), pulumi.getProject(), pulumi.getStack()].join("/");
  const mark = createHash("sha256")
    .update(JSON.stringify([stack, subject, side]))
    .digest("hex");
  return { holder: mark.slice(0, 16), heldBy: `${subject} of stack ${stack}` };
}

/** The organization of the stack; unit tests with mocks have none. */
function organization(): string {
  try {
    return pulumi.getOrganization();
  } catch {
    return "organization";
  }
}
