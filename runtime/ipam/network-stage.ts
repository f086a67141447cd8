import { Label, type Network } from "../api";

/**
 * The order in which networks are given their ranges: first those that are what they are, then the two of this cluster's own that may
 * go elsewhere, then those of peers (networking reference 6.5). So a default range that overlaps the cluster's pods is remapped, and not the other way
 * round.
 */
type NetworkStage = 0 | 1 | 2 | 3;

/** Values of the label that says what a network of the installation is for. */
export const NetworkType = {
  pod: "pod-cidr",
  service: "service-cidr",
  reserved: "reserved",
  external: "external-cidr",
  internal: "internal-cidr",
} as const;

const STAGES: Record<string, NetworkStage> = {
  [NetworkType.pod]: 0,
  [NetworkType.service]: 0,
  [NetworkType.reserved]: 0,
  [NetworkType.external]: 1,
  [NetworkType.internal]: 2,
};

export function stageOf(network: Network): NetworkStage {
  return STAGES[typeOf(network)] ?? 3;
}

/** Types that every installation has, by the first stage that waits for them. */
const REQUIRED: readonly { type: string; before: NetworkStage }[] = [
  { type: NetworkType.pod, before: 1 },
  { type: NetworkType.service, before: 1 },
  { type: NetworkType.external, before: 3 },
  { type: NetworkType.internal, before: 3 },
];

/** The types of the installation's networks that a network has to wait for, as they do not exist yet. */
export function missingBefore(network: Network, all: readonly Network[]): string[] {
  const stage = stageOf(network);
  const present = new Set(all.map(typeOf));
  return REQUIRED.filter(({ type, before }) => before <= stage && !present.has(type)).map(({ type }) => type);
}

export function typeOf({ metadata }: Network): string {
  return metadata.labels?.[Label.networkType] ?? "";
}
