/** Configurations for the tests of this folder. */
import type { Configuration } from "../../../runtime/api";

export interface ConfigurationFacts {
  name?: string;
  namespace?: string;
  pod?: [original: string, remapped?: string][];
  external?: [original: string, remapped?: string][];
  local?: { pod: string[]; external: string[] };
  configured?: boolean;
}

/** How the cluster `rome` sees its peer `milan`. */
export function configuration({
  name = "milan",
  namespace = "liqo-tenant-milan",
  pod = [["10.243.0.0/16", "10.71.0.0/16"]],
  external = [["10.70.0.0/16", "10.68.0.0/16"]],
  local = { pod: ["10.42.0.0/16"], external: ["10.60.0.0/16"] },
  configured = true,
}: ConfigurationFacts = {}): Configuration {
  const firsts = (pairs: [string, string?][]) => pairs.map(([original]) => original);
  const seconds = (pairs: [string, string?][]) => pairs.map(([, remapped]) => remapped ?? "");
  return {
    apiVersion: "networking.liqo.io/v1beta1",
    kind: "Configuration",
    metadata: {
      name,
      namespace,
      uid: `uid of ${name}`,
      generation: 3,
      labels: { "liqo.io/remote-cluster-id": name },
    },
    spec: { local: { cidr: local }, remote: { cidr: { pod: firsts(pod), external: firsts(external) } } },
    status: {
      conditions: [
        {
          type: "NetworkCIDRsConfigured",
          status: configured ? "True" : "False",
          reason: configured ? "NetworkCIDRsConfigured" : "WaitingForNetworks",
          message: "",
          observedGeneration: 3,
          lastTransitionTime: "2026-05-04T12:00:00Z",
        },
      ],
      remote: { cidr: { pod: seconds(pod), external: seconds(external) } },
    },
  };
}
