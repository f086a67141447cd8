import * as pulumi from "@pulumi/pulumi";

import { isServedFromPlugin } from "../../provider/core/liqo-resource";
import { apiServerAddressUrl } from "../../runtime/plan/installation-settings";
import { digest } from "../core/waiting";
import type { InstallationArgs } from "./installation-args";

/** What an installation of this program has that peerings need. */
export interface InstalledCluster {
  /** For texts: `Installation "rome"`. */
  subject: string;
  networking: boolean;
  proxy: boolean;
  /** Known once it holds in the cluster. */
  advertised: pulumi.Output<AdvertisedByInstallation>;
}

/** What an installation advertises to its peers through the peerings, and digests of what that depends on. */
interface AdvertisedByInstallation {
  /** The networks of its pods; undefined without networking. */
  podCidrs?: string[];
  /** Stands for its networks as peers know them. */
  networks: string;
  /** Stands for what the Services of its gateways are made from. */
  gatewayService: string;
  /** Stands for how peers reach its API server. */
  access: string;
  /** URL of its API server; undefined where the cluster itself finds it out. */
  apiServer?: string;
}

const installed = new WeakMap<object, InstalledCluster>();
/** In the plugin, which serves one run: there each component has outputs of its own, which hold the same ID. */
const installedById = new Map<string, InstalledCluster>();

/** Registers an installation for the peerings that take its cluster ID. */
export function rememberInstallation(clusterId: pulumi.Output<string>, cluster: InstalledCluster): void {
  installed.set(clusterId, cluster);
  if (isServedFromPlugin()) clusterId.apply((id) => void installedById.set(id, cluster));
}

/** What the installation behind a cluster ID advertises; undefined for an installation of another program. */
export function advertisedBy(
  clusterId: pulumi.Input<string>,
): pulumi.Output<AdvertisedByInstallation | undefined> {
  const found = installationOf(clusterId);
  if (found !== undefined) return found.advertised;
  if (!isServedFromPlugin()) return pulumi.output(undefined);
  return pulumi.output(clusterId).apply((id) => pulumi.output(installedById.get(id)?.advertised));
}

/** The installation behind a cluster ID; undefined for an ID from elsewhere, of which a preview knows no more. */
function installationOf(clusterId: pulumi.Input<string>): InstalledCluster | undefined {
  return typeof clusterId === "object" ? installed.get(clusterId) : undefined;
}

/** Both sides of a peering, with what is known of their installations. */
export function installedSides({ consumer, provider }: Record<Role, { clusterId: pulumi.Input<string> }>) {
  const side = (role: Role, { clusterId }: { clusterId: pulumi.Input<string> }) => ({
    role,
    ...installationOf(clusterId),
  });
  return [side("consumer", consumer), side("provider", provider)];
}

type Role = "consumer" | "provider";

/**
 * What of an installation's arguments concerns its peers. Only these are looked at: a preview that does not know the image, say, knows them all the
 * same.
 */
export function advertisedToPeers({
  networking,
  apiServer,
  aws,
}: Pick<InstallationArgs, "networking" | "apiServer" | "aws">): pulumi.Output<AdvertisedByInstallation> {
  return pulumi
    .output({
      networked: networking !== undefined,
      podCidrs: networking?.podCidrs ?? [],
      externalCidr: networking?.externalCidr,
      gateway: networking?.gateway,
      apiServer,
      aws,
    })
    .apply(({ networked, podCidrs, externalCidr, gateway, apiServer: access, aws: iam }) => ({
      ...(networked && { podCidrs }),
      networks: digest([podCidrs, externalCidr]),
      gatewayService: digest([gateway?.serviceAnnotations, gateway?.healthPort]),
      access: digest([access, iam]),
      ...(access?.address !== undefined &&
        iam === undefined && { apiServer: apiServerAddressUrl(access.address) }),
    }));
}
