import { Annotation, EndpointSlice, InternalNode, Label, Node, Service, WellKnownLabel } from "../api";
import { type Informer, type InformerSet, type Source, watches } from "../kube";
import { ownAddresses, type OwnRange } from "./own-addresses";

/** Watches what this cluster's own addresses are read from. */
export class OwnAddressCaches {
  readonly nodes: Informer<Node>;
  private readonly internalNodes: Informer<InternalNode>;
  private readonly services: Informer<Service>;
  private readonly endpointSlices: Informer<EndpointSlice>;
  private known: OwnRange[] | undefined;

  constructor(informers: InformerSet) {
    this.nodes = informers.informer(Node, { project: nodeIdentity });
    this.internalNodes = informers.informer(InternalNode);
    this.services = informers.informer(Service, {
      namespace: "default",
      fieldSelector: "metadata.name=kubernetes",
    });
    this.endpointSlices = informers.informer(EndpointSlice, {
      namespace: "default",
      labelSelector: `${WellKnownLabel.serviceName}=kubernetes`,
    });
    const forget = () => (this.known = undefined);
    const each = { added: forget, updated: forget, deleted: forget };
    this.nodes.on(each);
    this.internalNodes.on(each);
    this.services.on(each);
    this.endpointSlices.on(each);
  }

  async whenSynced(): Promise<void> {
    const informers = [this.nodes, this.internalNodes, this.services, this.endpointSlices];
    await Promise.all(informers.map((informer) => informer.whenSynced()));
  }

  /** Read anew only where something has changed. */
  list(): readonly OwnRange[] {
    this.known ??= ownAddresses({
      nodes: this.nodes.list(),
      internalNodes: this.internalNodes.list(),
      apiServer: { services: this.services.list(), endpointSlices: this.endpointSlices.list() },
    });
    return this.known;
  }

  /** Enqueues the keys when the addresses change. Other changes of a node, such as its readiness, enqueue nothing. */
  changes(keys: () => string[]): Source[] {
    return [
      watches(this.nodes, {
        keys,
        when: (event) => event.type !== "updated" || addressesOf(event.before) !== addressesOf(event.object),
      }),
      watches(this.internalNodes, {
        keys,
        when: (event) => event.type !== "updated" || gatewaysOf(event.before) !== gatewaysOf(event.object),
      }),
      watches(this.services, { keys }),
      watches(this.endpointSlices, { keys }),
    ];
  }
}

function addressesOf({ metadata, status }: Node): string {
  return JSON.stringify([status?.addresses, metadata.labels]);
}

function gatewaysOf({ metadata }: InternalNode): string | undefined {
  return metadata.annotations?.[Annotation.defaultGateways];
}

/** Of a node what matters to the network. Heartbeats change nothing of this. */
export function nodeIdentity({ apiVersion, kind, metadata, status }: Node): Node {
  const { name, uid, resourceVersion, labels, deletionTimestamp } = metadata;
  const type = labels?.[Label.nodeType];
  const ready = status?.conditions?.find((condition) => condition.type === "Ready")?.status;
  return {
    apiVersion,
    kind,
    metadata: {
      name,
      uid,
      resourceVersion,
      ...(type !== undefined && { labels: { [Label.nodeType]: type } }),
      ...(deletionTimestamp && { deletionTimestamp }),
    },
    spec: {},
    status: {
      addresses: status?.addresses,
      ...(ready !== undefined && { conditions: [{ type: "Ready", status: ready }] }),
    },
  };
}
