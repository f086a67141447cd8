import type { ControlPlane } from "../../provider/local-cluster/control-plane";
import { ManagedCluster, type ManagedClusterOptions } from "./managed-cluster";

/** The consumer `rome` and the provider `milan`, each in a Liqo namespace of another name, with definitions and roles; starts nothing. */
export function installPair(
  controlPlane: (name: "rome" | "milan") => ControlPlane,
  more: Partial<Record<"rome" | "milan", Pick<ManagedClusterOptions, "address" | "networking">>> = {},
): Promise<[rome: ManagedCluster, milan: ManagedCluster]> {
  return Promise.all([
    ManagedCluster.install({
      controlPlane: controlPlane("rome"),
      clusterId: "rome",
      liqoNamespace: "liqo",
      ...more.rome,
    }),
    ManagedCluster.install({
      controlPlane: controlPlane("milan"),
      clusterId: "milan",
      liqoNamespace: "liqo-system",
      ...more.milan,
    }),
  ]);
}
