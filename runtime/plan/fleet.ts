import { z } from "zod";

import { clusterIdSchema } from "./names";

/** Which clusters there are and who peers with whom. */
export const fleetTopologySchema = z
  .strictObject({
    clusters: z.array(clusterIdSchema).min(1, "is empty; give at least one cluster"),
    /** Those of them that are installed with networking. */
    networked: z.array(z.string()).default([]),
    peerings: z.record(
      z.string().min(1),
      z.strictObject({
        consumer: z.string(),
        provider: z.string(),
        /** Whether the networks of the two are connected. */
        networking: z.boolean(),
      }),
    ),
  })
  .superRefine(({ clusters, networked, peerings }, context) => {
    const pairs = new Map<string, string>();
    for (const [name, { consumer, provider, networking }] of Object.entries(peerings)) {
      for (const id of networking ? [consumer, provider] : []) {
        if (networked.includes(id) || !clusters.includes(id)) continue;
        context.addIssue({
          code: "custom",
          path: ["peerings", name],
          message: `connects networks, and cluster ${id} has no networking; give the cluster the argument networking, or the peering "networking: { enabled: false }"`,
        });
      }
      for (const [role, id] of Object.entries({ consumer, provider })) {
        if (clusters.includes(id)) continue;
        context.addIssue({
          code: "custom",
          path: ["peerings", name, role],
          message: `is no cluster of the fleet; take one of ${clusters.join(", ")}`,
        });
      }
      const pair = [consumer, provider].sort().join(" and ");
      const other = pairs.get(pair);
      if (other !== undefined) {
        context.addIssue({
          code: "custom",
          path: ["peerings", name],
          message: `is between the same clusters as ${other}; make ${other} bidirectional`,
        });
      }
      pairs.set(pair, name);
      if (consumer === provider) {
        context.addIssue({
          code: "custom",
          path: ["peerings", name, "provider"],
          message: "is the consumer too; a cluster cannot peer with itself",
        });
      }
    }
  });
