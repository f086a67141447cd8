/** Flags of the tunnel between two clusters, which `peer` and `network connect` share. */
import { Option } from "commander";

import { parseArguments } from "../../plan/arguments";
import { DEFAULT_MTU, type NetworkLink, networkLinkSchema, TUNNEL_PORT } from "../../plan/networking/peering";
import { wholeNumber } from "../values";

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
