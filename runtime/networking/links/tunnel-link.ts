import type { ObservedLink } from "./observed";

/** A tunnel's interface as it is to be. */
export interface TunnelLink {
  name: string;
  /** Bytes. */
  mtu: number;
  /** With its length: `169.254.18.1/30`. */
  address: string;
}

/** The lines for `ip -4 -force -batch -` that make an interface that exists as it is to be; none where it is. */
export function tunnelLinkPlan({ name, mtu, address }: TunnelLink, have: ObservedLink): string[] {
  return [
    ...(have.mtu === mtu ? [] : [`link set dev ${name} mtu ${mtu}`]),
    ...have.addresses.filter((other) => other !== address).map((other) => `addr del ${other} dev ${name}`),
    ...(have.addresses.includes(address) ? [] : [`addr add ${address} dev ${name}`]),
    ...(have.up ? [] : [`link set dev ${name} up`]),
  ];
}
