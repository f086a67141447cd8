import { z } from "zod";

import { int64, time } from "../schema/fields";

/** What became of a configuration on each host that applies it. Source: networking.md 4.4. */
export const appliedConditions = () =>
  z.array(
    z.object({
      host: z.string().describe("The agent: a pod's name, or a node's."),
      type: z.enum(["Applied", "Error"]),
      status: z.enum(["True", "False", "Unknown"]),
      observedGeneration: int64().optional().describe("metadata.generation of the spec that it is about."),
      lastTransitionTime: time().optional(),
    }),
  );
