import type { Endpoint } from "kubernetes-types/discovery/v1";
import { isIPv4 } from "node:net";

import { ShadowEndpointSlice } from "../../api";
import { Annotation, isOn, LabelValue, WellKnownLabel } from "../../api/keys";
import { EndpointSlice } from "../../api/kubernetes";
import type { Desired } from "../../api/meta";
import { type Cidr, containsAddress, parseAddress } from "../../ipam/cidr";
import type { InformerSet } from "../../kube";
import type { NodeSettings } from "../settings/node-settings";
import { peerNetwork } from "../peer/peer-network";
import { defined, type ReflectionPair, type RemoteMetadata, without } from "../reflection/reflected-metadata";
import type { ReflectionReport } from "../reflection/reflection-report";
import { SliceRelatedObjects } from "./endpoint-slice-related-objects";
import {
  explicitChoice,
  isAllowed,
  type Kept,
  type ReflectedKind,
  type RelatedObjects,
} from "./reflected-kind";

interface Parts {
  informers: InformerSet;
  pair: ReflectionPair;
  /** This cluster's pod networks: the provider translates their addresses itself. */
  podCidrs: readonly Cidr[];
  report: ReflectionReport;
}

/** Says when endpoints changed last; every change would be a change of this too. */
const CHANGE_TIME = "endpoints.kubernetes.io/last-change-trigger-time";

/** Annotations of an object are 256 KiB at most. */
const ANNOTATIONS_LIMIT = 256 * 1024;

/**
 * EndpointSlices, which become ShadowEndpointSlices (offloading reference 10.4): a Service answers at the provider from this cluster's pods, and
 * from those of other providers, too. They follow the decision on their Service.
 */
export class EndpointSliceReflection implements ReflectedKind<EndpointSlice, ShadowEndpointSlice> {
  readonly kind = EndpointSlice;
  readonly remoteKind = ShadowEndpointSlice;
  readonly resource = "EndpointSlice";
  readonly exact = ["spec.template"];
  private readonly byNamespace = new Map<string, SliceRelatedObjects>();

  constructor(private readonly parts: Parts) {}

  workers({ flags }: NodeSettings): number {
    return flags.disableIpReflection ? 0 : flags.endpointsliceReflectionWorkers;
  }

  remoteName(name: string): string {
    return name;
  }

  localName(name: string): string {
    return name;
  }

  relatedObjects(namespace: string, changed: (name: string) => void): RelatedObjects {
    const { informers, pair } = this.parts;
    const relatedObjects = new SliceRelatedObjects(informers, namespace, pair.destination, changed);
    this.byNamespace.set(namespace, relatedObjects);
    return relatedObjects;
  }

  keptAtHome(slice: EndpointSlice, { flags }: NodeSettings): Kept | undefined {
    const { name, namespace, annotations } = slice.metadata;
    if (namespace === "default" && name === "kubernetes") return { why: "the API server's endpoints" };
    const choice = explicitChoice(annotations);
    if (choice === false) return { why: "the current object" };
    const policy = flags.serviceReflectionType;
    const subject = this.relatedObjectsOf(slice)?.serviceOf(slice) ?? slice;
    if (choice === undefined && !isAllowed(policy, subject.metadata.annotations)) {
      return { why: `its Service (policy: "${policy}")` };
    }
    return undefined;
  }

  desired(
    slice: EndpointSlice,
    metadata: RemoteMetadata & { name: string; namespace: string },
  ): Desired<ShadowEndpointSlice> {
    const { endpoints, direct, unreachable } = this.endpointsOf(slice);
    if (unreachable.length > 0) this.parts.report.unreachable(slice, unreachable);
    const annotations = {
      ...without(metadata.annotations, [CHANGE_TIME]),
      ...(Object.keys(direct).length > 0 && { [Annotation.directConnectionsData]: JSON.stringify(direct) }),
    };
    const bytes = Buffer.byteLength(JSON.stringify(annotations));
    if (bytes >= ANNOTATIONS_LIMIT) {
      throw new Error(`its annotations would be ${bytes} bytes, and ${ANNOTATIONS_LIMIT} is the limit`);
    }
    return {
      apiVersion: ShadowEndpointSlice.apiVersion,
      kind: ShadowEndpointSlice.kind,
      metadata: {
        ...metadata,
        annotations,
        labels: {
          ...metadata.labels,
          // Keeps the provider's own controllers away from it.
          [WellKnownLabel.endpointSliceManagedBy]: LabelValue.endpointSliceReflection,
        },
      },
      spec: { template: { endpoints, ports: slice.ports ?? [], addressType: slice.addressType } },
    };
  }

  mustBeReplaced(): boolean {
    return false;
  }

  private endpointsOf(slice: EndpointSlice): RemoteEndpoints {
    const { pair, podCidrs } = this.parts;
    const relatedObjects = this.relatedObjectsOf(slice);
    const networked = peerNetwork(relatedObjects?.foreignCluster(pair.destination), undefined).enabled;
    return remoteEndpoints(slice, {
      consumer: pair.origin,
      provider: pair.destination,
      clusterOf: (nodeName) => relatedObjects?.clusterOf(nodeName),
      // Clusters that we do not connect reach each other, if at all, at untranslated addresses.
      translate: (address) =>
        !networked || isIn(podCidrs, address) ? address : relatedObjects?.mappedAddress(address),
      direct: isOn(relatedObjects?.serviceOf(slice)?.metadata.annotations?.[Annotation.useDirectConnections]),
    });
  }

  private relatedObjectsOf({ metadata }: EndpointSlice): SliceRelatedObjects | undefined {
    return this.byNamespace.get(metadata.namespace ?? "");
  }
}

function isIn(cidrs: readonly Cidr[], address: string): boolean {
  return isIPv4(address) && cidrs.some((cidr) => containsAddress(cidr, parseAddress(address)));
}

/** What the endpoints of a slice are read with. */
export interface SliceDependencies {
  consumer: string;
  provider: string;
  /** The cluster whose virtual node it is; undefined for a node of this cluster. */
  clusterOf: (nodeName: string) => string | undefined;
  /** The address at which the provider reaches one of this cluster; undefined where there is none. */
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
 * The endpoints that a slice has at the provider (offloading reference 10.4): those that do not run there, at addresses that the provider can reach.
 * An endpoint that cannot be reached is left out, so that the others are.
 */
export function remoteEndpoints(slice: EndpointSlice, dependencies: SliceDependencies): RemoteEndpoints {
  const { provider, clusterOf } = dependencies;
  const result: RemoteEndpoints = { endpoints: [], unreachable: [], direct: {} };
  for (const endpoint of slice.endpoints ?? []) {
    const cluster = endpoint.nodeName === undefined ? undefined : clusterOf(endpoint.nodeName);
    // These pods run at the provider, which has their endpoints already.
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
    // The provider has no such pod.
    targetRef: targetRef === undefined ? undefined : { ...targetRef, kind: `Remote${targetRef.kind ?? ""}` },
    nodeName: consumer,
    zone,
    hints,
  });
}
