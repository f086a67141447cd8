import type { Configuration, ForeignCluster } from "../../api";
import type { CidrPair } from "../pods/ip-translation";
import { asReported, type ReportedAddress, withinNetworks } from "../pods/pod-address";

/** What is known of the network between this cluster and a peer. */
export interface PeerNetwork {
  /** Whether the clusters are to be connected at all. */
  enabled: boolean;
  /** Whether they are. */
  ready: boolean;
  /** Translates the peer's addresses into those that reach it from here; what is in none of its networks is not shown. */
  translate: ReportedAddress;
  /** Whether addresses are translated: the peer then reaches this cluster by translated addresses as well. */
  remapped: boolean;
}

/**
 * Reads it from the peer's ForeignCluster and networking Configuration. Until the ForeignCluster was seen by its controller, the networking is assumed
 * to be enabled and down, so that no node is ready too early (offloading reference 7.3).
 */
export function peerNetwork(
  foreignCluster: ForeignCluster | undefined,
  configuration: Configuration | undefined,
): PeerNetwork {
  const status = foreignCluster?.status;
  const seen = (status?.observedGeneration ?? 0) > 0;
  const networking = status?.modules?.networking;
  const enabled = seen ? networking?.enabled === true : true;
  const connection = networking?.conditions?.find(({ type }) => type === "NetworkConnectionStatus")?.status;
  const pairs = enabled ? cidrPairs(configuration) : [];
  return {
    enabled,
    ready: foreignCluster !== undefined && connection === "Established",
    // While the networks have no place here yet, none of their addresses leads to the peer.
    translate: enabled && configuration !== undefined ? withinNetworks(pairs) : asReported,
    remapped: pairs.length > 0,
  };
}

/** Pod networks first, then external ones; none while the Configuration has not been answered. */
function cidrPairs(configuration: Configuration | undefined): CidrPair[] {
  const spec = configuration?.spec.remote?.cidr;
  const status = configuration?.status?.remote?.cidr;
  return [...paired(spec?.pod, status?.pod), ...paired(spec?.external, status?.external)];
}

function paired(originals: readonly string[] = [], remapped: readonly string[] = []): CidrPair[] {
  return originals.flatMap((original, index) => {
    const own = remapped[index];
    return own ? [{ original, remapped: own }] : [];
  });
}
