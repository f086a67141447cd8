import { isIP } from "node:net";

/**
 * The addresses of a server in the order in which a client should try them: those that need no name service first. A load balancer may list a name
 * that only its own network can resolve beside an address that everybody reaches.
 */
export function endpointOrder(addresses: readonly string[]): string[] {
  const distinct = [...new Set(addresses.filter((address) => address !== ""))];
  const needsName = (address: string) => isIP(address) === 0;
  return [...distinct.filter((address) => !needsName(address)), ...distinct.filter(needsName)];
}
