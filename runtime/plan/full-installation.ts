import { installation } from "./installation";
import type { Manifest } from "./manifest";

/** An installation with everything that can be asked for: what its rights are judged by. */
export function fullInstallation(): Manifest[] {
  return installation({
    clusterId: "rome",
    image: "runtime",
    proxy: true,
    virtualKubeletPerNode: true,
    metricAgent: true,
    networking: { podCidrs: ["10.20.0.0/16"], serviceCidr: "10.21.0.0/16" },
    aws: { region: "eu-south-1", clusterName: "rome", credentialsSecret: "aws" },
  });
}
