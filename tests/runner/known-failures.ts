/** The one list of tests that fail for a known reason. An entry that passes is a failure, so that the list only shrinks. */
import { readFileSync } from "node:fs";
import { join } from "node:path";

import { z } from "zod";

const knownFailureSchema = z.strictObject({
  /** Source of the test, relative to the root of the repository. */
  file: z.string(),
  /** Full title of the test or hook, as mocha has it. */
  title: z.string(),
  /** The issue that mends it. */
  issue: z.int(),
  /** Where it fails; it must pass elsewhere. */
  where: z.literal("kubernetes plugin 4.29 and later"),
});
export type KnownFailure = z.infer<typeof knownFailureSchema>;

/** The entries that apply here. @param kubernetesPlugin version of the plugin that tests of the real engine use */
export function knownFailures(root: string, kubernetesPlugin: string): KnownFailure[] {
  const text = readFileSync(join(root, "tests", "known-failures.json"), "utf8");
  const entries = z.array(knownFailureSchema).parse(JSON.parse(text));
  return refusesWhatExists(kubernetesPlugin) ? entries : [];
}

/** From 4.29 on, to create an object that exists is an error. @param version of the Kubernetes plugin */
export function refusesWhatExists(version: string): boolean {
  const [major = 0, minor = 0] = version.split(".").map(Number);
  return major > 4 || (major === 4 && minor >= 29);
}
