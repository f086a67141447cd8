/** Flags that several commands of a peering share: amounts of resources, the tunnel between the networks, the proxy to the API server. */
import { Option } from "commander";

import { parseArguments } from "../../plan/arguments";
import { DEFAULT_MTU, type NetworkLink, networkLinkSchema, TUNNEL_PORT } from "../../plan/networking/peering";
import { quantities, quantity, wholeNumber } from "../values";

export interface SliceFlags {
  cpu?: string;
  memory?: string;
  pods?: string;
  resource?: Record<string, string>;
}

/** Amounts asked for; undefined where none is given, so that the provider's defaults hold. */
export function requestedResources({
  cpu,
  memory,
  pods,
  resource,
}: SliceFlags): Record<string, string> | undefined {
  const all = {
    ...resource,
    ...(cpu !== undefined && { cpu }),
    ...(memory !== undefined && { memory }),
    ...(pods !== undefined && { pods }),
  };
  return Object.keys(all).length === 0 ? undefined : all;
}

/** How much: `--cpu`, `--memory`, `--pods`, and `--resource` for the rest. */
export function amountOptions(defaults: { cpu?: string; memory?: string; pods?: string } = {}): Option[] {
  const amount = (flag: string, description: string, fallback: string | undefined) => {
    const option = new Option(flag, description).argParser(quantity);
    return fallback === undefined ? option : option.default(fallback);
  };
  return [
    amount("--cpu <amount>", "processors, such as 8 or 500m", defaults.cpu),
    amount("--memory <amount>", "memory, such as 16Gi", defaults.memory),
    amount("--pods <number>", "pods", defaults.pods),
    new Option("--resource <name=amount>", "any other resource; repeat for more").argParser(quantities),
  ];
}

export interface LinkFlags {
  gwServerServiceType: "LoadBalancer" | "NodePort" | "ClusterIP";
  gwServerServicePort: number;
  gwServerServiceNodeport?: number;
  gwServerServiceLoadbalancerip?: string;
  gwClientAddress?: string;
  gwClientPort?: number;
  mtu: number;
}

export function linkOptions(): Option[] {
  return [
    new Option("--gw-server-service-type <type>", "how the gateway server is reached")
      .choices(["LoadBalancer", "NodePort", "ClusterIP"])
      .default("LoadBalancer"),
    new Option("--gw-server-service-port <port>", "UDP port of the gateway server")
      .argParser(wholeNumber)
      .default(TUNNEL_PORT),
    new Option("--gw-server-service-nodeport <port>", "node port of its Service; drawn by default").argParser(
      wholeNumber,
    ),
    new Option("--gw-server-service-loadbalancerip <address>", "address that its load balancer is to have"),
    new Option(
      "--gw-client-address <address>",
      "where the client reaches the server, in place of what its cluster knows",
    ),
    new Option("--gw-client-port <port>", "port to that address").argParser(wholeNumber),
    new Option("--mtu <bytes>", "of the tunnel, the same on both ends")
      .argParser(wholeNumber)
      .default(DEFAULT_MTU),
  ];
}

export function linkOf(flags: LinkFlags, templates: Partial<NetworkLink> = {}): NetworkLink {
  return parseArguments(networkLinkSchema, "the network connection", {
    serviceType: flags.gwServerServiceType,
    port: flags.gwServerServicePort,
    // Upstream writes 0 for "not given".
    ...(flags.gwServerServiceNodeport && { nodePort: flags.gwServerServiceNodeport }),
    ...(flags.gwServerServiceLoadbalancerip && { loadBalancerIp: flags.gwServerServiceLoadbalancerip }),
    ...(flags.gwClientAddress && { address: flags.gwClientAddress }),
    ...(flags.gwClientPort && { addressPort: flags.gwClientPort }),
    mtu: flags.mtu,
    ...templates,
  });
}

/** `--in-band` and `--proxy-url`: how the consumer reaches the provider's API server. */
export function proxyOptions(): Option[] {
  return [
    new Option(
      "--in-band",
      "reach the provider's API server through the tunnel between the networks",
    ).default(false),
    new Option("--proxy-url <url>", "reach it through this HTTP proxy"),
  ];
}
