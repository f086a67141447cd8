import type { Service } from "../../../../runtime/api/kubernetes";

/** What becomes of a service's address. */
export type AddressDecision =
  /** The service has this address; it is new if `write` is true. */
  | { address: string; write: boolean }
  /** The service has none; what its status names is taken out if `write` is true. */
  | { address: undefined; write: boolean }
  /** No address is free. */
  | { exhausted: true };

/**
 * Which address a service of type LoadBalancer gets. One that it has stays; the one that its spec asks for comes first if it is in the
 * pool and free. Services of another class are left alone.
 *
 * @param taken addresses of the other services
 */
export function decideAddress(
  service: Service,
  pool: readonly string[],
  taken: ReadonlySet<string>,
): AddressDecision {
  const present = service.status?.loadBalancer?.ingress?.map(({ ip }) => ip) ?? [];
  const [own] = present.filter((ip) => ip !== undefined && pool.includes(ip));
  const wants =
    service.spec.type === "LoadBalancer" &&
    service.spec.loadBalancerClass === undefined &&
    service.metadata.deletionTimestamp == null;
  if (!wants) return { address: undefined, write: own !== undefined };
  if (own !== undefined && !taken.has(own) && present.length === 1) return { address: own, write: false };
  const asked = service.spec.loadBalancerIP;
  const candidates = [...(asked !== undefined && pool.includes(asked) ? [asked] : []), ...pool];
  const free = candidates.find((address) => !taken.has(address));
  return free === undefined ? { exhausted: true } : { address: free, write: true };
}

/** An endpoint as the choice of a node needs it. */
export interface EndpointPlace {
  nodeName: string | undefined;
  ready: boolean;
}

/**
 * The node that answers for a service's address: where an endpoint is, if the service wants its traffic kept local, else the first. It
 * stays where it is while that is right.
 */
export function decideNode(
  service: Service,
  nodes: readonly string[],
  endpoints: readonly EndpointPlace[],
  present: string | undefined,
): string | undefined {
  const fitting =
    service.spec.externalTrafficPolicy === "Local"
      ? nodes.filter((node) => endpoints.some(({ nodeName, ready }) => ready && nodeName === node))
      : nodes;
  if (present !== undefined && fitting.includes(present)) return present;
  return fitting[0] ?? nodes[0];
}
