import type { Network } from "../../api/ipam";
import { Annotation, cidrInName, Label, LabelValue, Name } from "../../api/keys";
import { AllocationError } from "../../ipam/ipam";
import { parseCidr, sizeOf } from "../../ipam/cidr";
import { Ipam } from "../../ipam/ipam";
import { NetworkType } from "../../ipam/network-stage";
import { parsePools } from "../../ipam/pools";
import { componentLabels, type ManifestOf } from "../manifest";
import type { NetworkingSettings } from "./settings";

type Settings = Pick<
  NetworkingSettings,
  "podCidrs" | "serviceCidr" | "externalCidr" | "internalCidr" | "reservedSubnets"
>;

/** Where the external network goes while that is free, and nothing else is asked for. */
const DEFAULT_EXTERNAL = "10.70.0.0/16";
/** The same of the internal network. */
const DEFAULT_INTERNAL = "10.80.0.0/16";

/** The networks of an installation, grouped so that how many there are is known from the settings' shape alone. */
export interface InstallationNetworks {
  pods: ManifestOf<Network>[];
  service: ManifestOf<Network>;
  external: ManifestOf<Network>;
  internal: ManifestOf<Network>;
  reserved: ManifestOf<Network>[];
}

/** The Networks by which the address management knows what is in use in the cluster, and what of its own it may move (networking reference 6.5). */
export function installationNetworks(namespace: string, settings: Settings): InstallationNetworks {
  const { podCidrs, serviceCidr, externalCidr, internalCidr, reservedSubnets } = settings;
  const inUse = { notRemapped: true, shared: true };
  const make = (name: string, type: string, cidr: string, how: Kept) =>
    network({ name, namespace, type, cidr, ...how });
  return {
    pods: podCidrs.map((cidr) =>
      make(`${Name.podCIDRNetwork}-${cidrInName(cidr)}`, NetworkType.pod, cidr, inUse),
    ),
    service: make(Name.serviceCIDRNetwork, NetworkType.service, serviceCidr, inUse),
    // The first address stands for senders that are no pods.
    external: make(Name.externalCIDRNetwork, NetworkType.external, externalCidr ?? DEFAULT_EXTERNAL, {
      notRemapped: externalCidr !== undefined,
      preAllocated: 1,
    }),
    internal: make(Name.internalCIDRNetwork, NetworkType.internal, internalCidr ?? DEFAULT_INTERNAL, {
      notRemapped: internalCidr !== undefined,
    }),
    reserved: reservedSubnets.map((cidr) =>
      make(`reserved-${cidrInName(cidr)}`, NetworkType.reserved, cidr, inUse),
    ),
  };
}

/** All of them, in the order in which they get their ranges. */
export function networkManifests(namespace: string, settings: Settings): ManifestOf<Network>[] {
  const { pods, service, external, internal, reserved } = installationNetworks(namespace, settings);
  return [...pods, service, ...reserved, external, internal];
}

interface Kept {
  /** Whether the network keeps its range, however that is taken. */
  notRemapped: boolean;
  /** Whether others may be in the same range. */
  shared?: boolean;
  preAllocated?: number;
}

interface Wanted extends Kept {
  name: string;
  namespace: string;
  type: string;
  cidr: string;
}

function network({ name, namespace, type, cidr, notRemapped, shared, preAllocated }: Wanted) {
  return {
    apiVersion: "ipam.liqo.io/v1alpha1",
    kind: "Network",
    metadata: {
      name,
      namespace,
      labels: {
        ...componentLabels("ipam", "networking"),
        [Label.networkType]: type,
        ...(notRemapped && { [Label.networkNotRemapped]: LabelValue.true }),
        ...(shared === true && { [Label.networkShared]: LabelValue.true }),
      },
      annotations: { [Annotation.preinstalled]: LabelValue.true },
    },
    spec: { cidr, ...(preAllocated !== undefined && { preAllocated }) },
  } satisfies ManifestOf<Network>;
}

/**
 * Why a cluster with these networks finds no place for its external or internal network: asks the address management itself, in the order in which
 * the controllers do (networking reference 6.5).
 *
 * @param settings networks that are well written, and apart from each other
 */
export function ownNetworkFaults(
  settings: Settings & Pick<NetworkingSettings, "pools">,
): { path: string[]; message: string }[] {
  const { podCidrs, serviceCidr, reservedSubnets, pools } = settings;
  const ipam = new Ipam(parsePools(pools));
  for (const text of new Set([...podCidrs, serviceCidr, ...reservedSubnets])) {
    const inUse = { immutable: true, exclusive: false, preAllocated: 0 };
    ipam.acquireNetwork(text, { cidr: parseCidr(text), ...inUse });
  }
  for (const [key, what, fallback, preAllocated] of [
    ["externalCidr", "external", DEFAULT_EXTERNAL, 1],
    ["internalCidr", "internal", DEFAULT_INTERNAL, 0],
  ] as const) {
    const given = settings[key];
    const cidr = parseCidr(given ?? fallback);
    try {
      ipam.acquireNetwork(key, { cidr, immutable: given !== undefined, exclusive: true, preAllocated });
    } catch (error) {
      if (!(error instanceof AllocationError)) throw error;
      // Of those that follow nothing is known.
      if (given !== undefined) {
        const wayOut = "choose another network, or give externalCidr one apart from it";
        return [{ path: [key], message: `is where the cluster's external network goes; ${wayOut}` }];
      }
      const message = `${pools.join(", ")} have no ${sizeOf(cidr)} addresses (/${cidr.length}) in a row that are free for the cluster's ${what} network; add a pool, or give ${key} a smaller network`;
      return [{ path: ["pools"], message }];
    }
  }
  return [];
}
