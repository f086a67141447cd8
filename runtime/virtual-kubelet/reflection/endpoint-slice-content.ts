import type { Endpoint } from "kubernetes-types/discovery/v1";

import type { EndpointSlice } from "../../api/kubernetes";
import { defined } from "../pods/defined";

/** What the endpoints of a slice are read with. */
export interface SliceDependencies {
  consumer: string;
  provider: string;
  /** The cluster whose virtual node it is; undefined for a node of this cluster. */
  clusterOf: (nodeName: string) => string | undefined;
  /** The address under which the provider knows one of this cluster; undefined where it knows none. */
  translate: (address: string) => string | undefined;
  /** Whether the provider reaches pods of other clusters by itself, at the addresses that they have there. */
  direct: boolean;
}

export interface RemoteEndpoints {
  endpoints: Endpoint[];
  /** Addresses that the provider has no way to. */
  unreachable: string[];
  /** Pods of other clusters that the provider reaches by itself: their addresses by cluster. */
  direct: Record<string, string[]>;
}

/**
 * The endpoints of a slice as the provider is told of them (offloading reference 10.4): those that do not run there, at addresses that lead to them.
 * An endpoint that cannot be reached is left out, so that the others are.
 */
export function remoteEndpoints(slice: EndpointSlice, dependencies: SliceDependencies): RemoteEndpoints {
  const { provider, clusterOf } = dependencies;
  const result: RemoteEndpoints = { endpoints: [], unreachable: [], direct: {} };
  for (const endpoint of slice.endpoints ?? []) {
    const cluster = endpoint.nodeName === undefined ? undefined : clusterOf(endpoint.nodeName);
    // The provider has these pods itself.
    if (cluster === provider) continue;
    const addresses = addressesOf(endpoint, slice, dependencies);
    if (addresses.length === 0) {
      result.unreachable.push(...endpoint.addresses);
      continue;
    }
    result.endpoints.push(remoteEndpoint(endpoint, addresses, dependencies));
    if (dependencies.direct && cluster !== undefined && endpoint.targetRef !== undefined) {
      (result.direct[cluster] ??= []).push(...endpoint.addresses);
    }
  }
  return result;
}

function addressesOf(
  { addresses }: Endpoint,
  { addressType }: EndpointSlice,
  { direct, translate }: SliceDependencies,
): string[] {
  if (direct || addressType !== "IPv4") return addresses;
  return addresses.flatMap((address) => translate(address) ?? []);
}

function remoteEndpoint(
  { conditions, hostname, targetRef, zone, hints }: Endpoint,
  addresses: string[],
  { consumer }: SliceDependencies,
): Endpoint {
  return defined({
    addresses,
    conditions: defined({ ready: conditions?.ready }),
    hostname,
    // There is no such pod at the provider.
    targetRef: targetRef === undefined ? undefined : { ...targetRef, kind: `Remote${targetRef.kind ?? ""}` },
    nodeName: consumer,
    zone,
    hints,
  });
}
