import { Annotation, cidrInName, Label, LabelValue, Name } from "../../api/keys";
import type { Network } from "../../api/ipam";
import { NetworkType } from "../../ipam/network-stage";
import { componentLabels } from "../component-labels";
import type { ManifestOf } from "../manifest";
import type { NetworkingSettings } from "./settings";

type Settings = Pick<
  NetworkingSettings,
  "podCidrs" | "serviceCidr" | "externalCidr" | "internalCidr" | "reservedSubnets"
>;

/** Where the external network goes while that is free, and nothing else is asked for. */
export const DEFAULT_EXTERNAL = "10.70.0.0/16";
/** The same of the internal network. */
export const DEFAULT_INTERNAL = "10.80.0.0/16";

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
