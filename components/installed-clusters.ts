import type * as pulumi from "@pulumi/pulumi";

/** What an installation of this program has that peerings need. */
export interface InstalledCluster {
  /** For texts: `Installation "rome"`. */
  subject: string;
  networking: boolean;
  proxy: boolean;
}

const installed = new WeakMap<object, InstalledCluster>();

/** Tells it to the peerings that take the installation's cluster ID. */
export function rememberInstallation(clusterId: pulumi.Output<string>, cluster: InstalledCluster): void {
  installed.set(clusterId, cluster);
}

/** The installation that a cluster ID was taken from; undefined for an ID from elsewhere, of which a preview knows no more. */
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
