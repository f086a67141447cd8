import { createHash } from "node:crypto";

import { crds } from "../api/crd";
import { WellKnownLabel } from "../api/keys";
import type { CustomResourceDefinition } from "../api/kubernetes";
import { componentLabels, MANAGED_BY } from "./component-labels";

const NAME = "crds";

/** Selects the definitions that an installation made, those of another version included. */
export const DEFINITIONS_SELECTOR = `${WellKnownLabel.appName}=${NAME},${WellKnownLabel.appManagedBy}=${MANAGED_BY}`;

/** The definitions of every kind, labelled as ours. All of them, so that no module has to be added to a cluster later. */
export function definitions(): CustomResourceDefinition[] {
  return crds().map((crd) => ({
    ...crd,
    metadata: { ...crd.metadata, labels: { ...componentLabels(NAME, "core"), ...crd.metadata.labels } },
  }));
}

let digest: string | undefined;

/** Changes when any definition does. Computed once: the definitions of a version never change. */
export function definitionsDigest(): string {
  digest ??= createHash("sha256").update(JSON.stringify(definitions())).digest("hex").slice(0, 16);
  return digest;
}
