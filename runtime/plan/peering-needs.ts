import { z } from "zod";

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
