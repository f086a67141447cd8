/** One object of each kind of ours, with every field that the kind knows. */
import { AUTHENTICATION } from "./authentication";
import { CORE } from "./core";
import { FABRIC } from "./fabric";
import { GATEWAYS } from "./gateways";
import { IPAM } from "./ipam";
import type { Manifest } from "./manifest";
import { OFFLOADING } from "./offloading";

export const SAMPLES: Manifest[] = [
  ...AUTHENTICATION,
  ...CORE,
  ...OFFLOADING,
  ...IPAM,
  ...GATEWAYS,
  ...FABRIC,
];

for (const { kind, metadata } of SAMPLES) {
  if (kind === "NamespaceMap") metadata.labels = { "liqo.io/replication": "true" };
  if (kind === "Configuration") metadata.labels = { "liqo.io/remote-cluster-id": "milan" };
}

/** The sample of a kind with a field replaced: `replaced("Tenant", "spec.clusterID", "Rome")`. */
export function replaced(kind: string, path: string, value: unknown): Manifest {
  const sample = SAMPLES.find((candidate) => candidate.kind === kind);
  if (sample === undefined) throw new Error(`no sample of ${kind}`);
  const object = structuredClone(sample);
  setField(object, path.split("."), value);
  return object;
}

export function setField(holder: unknown, [step = "", ...rest]: string[], value: unknown): void {
  const fields = holder as Record<string, unknown>;
  if (rest.length > 0) setField(fields[step], rest, value);
  else if (value === undefined) delete fields[step];
  else fields[step] = value;
}
