import { isIPv4 } from "node:net";

import { ShadowEndpointSlice } from "../../api";
import { Annotation, isOn, LabelValue, WellKnownLabel } from "../../api/keys";
import { EndpointSlice } from "../../api/kubernetes";
import type { Desired } from "../../api/meta";
import { type Cidr, containsAddress, parseAddress } from "../../ipam/cidr";
import type { InformerSet } from "../../kube";
import type { NodeSettings } from "../node-settings";
import { peerNetwork } from "../peer/peer-network";
import { remoteEndpoints, type RemoteEndpoints } from "./endpoint-slice-content";
import { explicitChoice, isAllowed } from "./policy";
import type { RelatedObjects, Kept, ReflectedKind } from "./reflected-kind";
import { type ReflectionPair, without } from "./reflected-metadata";
import type { ReflectionReport } from "./report";
import { SliceRelatedObjects } from "./slice-related-objects";
import type { RemoteMetadata } from "./source-record";

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
      // Clusters that are not connected by us reach each other, if at all, at the addresses that there are.
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
