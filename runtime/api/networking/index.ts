// In the order of the reference pages: the list of our kinds, and with it the CRDs of an installation, follow it.
export { Configuration, Connection } from "./peer";
export { FirewallConfiguration } from "./firewall-and-routes";
export { GatewayClient, GatewayServer } from "./gateway";
export { GeneveTunnel, InternalFabric, InternalNode } from "./overlay";
export { PublicKey } from "./peer";
export { RouteConfiguration } from "./firewall-and-routes";
export {
  WgGatewayClient,
  WgGatewayServer,
  WgGatewayClientTemplate,
  WgGatewayServerTemplate,
} from "./wireguard-gateway";
