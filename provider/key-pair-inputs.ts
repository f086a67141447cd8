import { createHash } from "node:crypto";

import type * as pulumi from "@pulumi/pulumi";
import { z } from "zod";

/** The inputs that all key pairs have. */
export const keyPairInputs = z.object({
  keepers: z
    .record(z.string(), z.string())
    .optional()
    .describe(
      "Arbitrary values that the keys depend on: when one changes, the pair is replaced by a new one.",
    ),
});

export interface KeyPairArgs {
  /** Arbitrary values that the keys depend on: when one changes, the pair is replaced by a new one. */
  keepers?: pulumi.Input<Record<string, pulumi.Input<string>>>;
}

/** Names a key pair without saying anything of it: the start of the public key's hash. */
export function keyPairId(publicKey: string): string {
  return createHash("sha256").update(publicKey).digest("hex").slice(0, 16);
}
