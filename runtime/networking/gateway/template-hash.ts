import { createHash } from "node:crypto";

import type { KubeObject } from "../../api";

/** Says what an object was made from. */
const TEMPLATE_HASH = "networking.liqo.io/template-hash";

interface Metadata {
  labels?: Record<string, string>;
  annotations?: Record<string, string>;
}

/** Metadata with the hash of what an object is made from. */
export function withTemplateHash<M extends Metadata>(metadata: M, spec: unknown): M {
  const content = JSON.stringify([metadata.labels, metadata.annotations, spec]);
  const hash = createHash("sha256").update(content).digest("hex").slice(0, 16);
  return { ...metadata, annotations: { ...metadata.annotations, [TEMPLATE_HASH]: hash } };
}

/**
 * The paths of an object that are to be just what is desired: those given where it was made from something else, so that what the
 * template no longer has is removed; else none, since what is there beyond the template are defaults of the API server's.
 */
export function exactPaths(
  desired: { metadata: Metadata },
  observed: KubeObject | undefined,
  paths: readonly string[],
): readonly string[] {
  const wanted = desired.metadata.annotations?.[TEMPLATE_HASH];
  return observed?.metadata.annotations?.[TEMPLATE_HASH] === wanted ? [] : paths;
}
