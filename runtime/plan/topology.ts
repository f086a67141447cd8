import { z } from "zod";

import { clusterIdSchema } from "./arguments";

/** Which clusters peer, and what each installation must have for it: what a preview can check before anything is made. */

/** A side of a peering, with what its installation has; what is not known of it is left out. */
const sideSchema = z.object({
  role: z.enum(["consumer", "provider"]),
  /** For texts: `Installation "rome"`. */
  subject: z.string().optional(),
  networking: z.boolean().optional(),
  proxy: z.boolean().optional(),
  /** Whether its API server is to be reached through the tunnel. */
  proxied: z.boolean().default(false),
});

/** What a peering needs of its installations, as far as a preview can know it. */
export const peeringNeedsSchema = z
  .object({
    networking: z.boolean(),
    /** Whether the peering is more than its networks, and can do without them. */
    networkingOptional: z.boolean(),
    inBand: z.boolean(),
    sides: z.array(sideSchema),
  })
  .superRefine(({ networking, networkingOptional, inBand, sides }, context) => {
    const fault = (path: string, message: string) =>
      context.addIssue({ code: "custom", path: [path], message });
    if (inBand && !networking) {
      fault("inBand", "goes through the tunnel between the networks, which networking.enabled turns off");
    }
    for (const { role, subject = role, networking: has, proxy, proxied } of sides) {
      if (networking && has === false) {
        fault(
          role,
          `has no networking, and the peering connects the networks of the two: give ${subject} the argument networking${networkingOptional ? ', or the peering "networking: { enabled: false }"' : ""}`,
        );
      }
      if (proxied && proxy === false) {
        fault(
          role,
          `has no proxy, by which its API server is reached in band: give ${subject} "proxy: true"`,
        );
      }
    }
  });

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
