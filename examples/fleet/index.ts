/** The clusters and peerings that the stack's configuration lists. */
import * as pulumi from "@pulumi/pulumi";
import { Fleet, type FleetClusterArgs, type FleetPeeringArgs } from "pulumi-liqo";

const config = new pulumi.Config();
const kubeconfigs = config.requireSecretObject<Record<string, string>>("kubeconfigs");

/** Kubeconfigs are set apart from the rest, so that only they are encrypted: which clusters there are must be plain. */
function kubeconfigOf(clusterId: string): pulumi.Output<string> {
  return kubeconfigs.apply((all) => {
    const kubeconfig = all[clusterId];
    if (kubeconfig !== undefined) return kubeconfig;
    throw new Error(
      `the configuration has no kubeconfig for the cluster ${clusterId}; set it with: pulumi config set --path --secret kubeconfigs.${clusterId} < FILE`,
    );
  });
}

const clusters = config.requireObject<Record<string, Omit<FleetClusterArgs, "kubeconfig">>>("clusters");
const fleet = new Fleet("fleet", {
  image: config.require("image"),
  clusters: Object.fromEntries(
    Object.entries(clusters).map(([id, cluster]) => [id, { ...cluster, kubeconfig: kubeconfigOf(id) }]),
  ),
  peerings: config.getObject<Record<string, FleetPeeringArgs>>("peerings") ?? {},
});

export const virtualNodes = fleet.nodeNames;
