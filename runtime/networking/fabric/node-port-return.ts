import { type FirewallConfiguration, type InternalNode, Name, type RouteConfiguration } from "../../api";
import type { NextFit } from "../../ipam/next-fit";
import { controlledBy } from "../../kube";
import type { NetworkingCaches } from "../caches";
import { byName } from "../configuration/configuration-rules";
import {
  arrivesOn,
  destination,
  firewallConfiguration,
  type Generated,
  Priority,
  routeConfiguration,
  source,
} from "../generated";
import { objectName } from "../labels";
import { nodeMarks } from "../overlay";

/**
 * The way back for what nodes send themselves: all of them do it from the one address that stands for unknown senders, so a gateway marks each
 * connection with the node that it came from (networking reference 14.5, 15.2).
 */

export const NODE_PORT_FIREWALL = "service-nodeport-routing";

/** A node with the mark of its connections. */
interface MarkedNode {
  node: InternalNode;
  mark: number;
}

/**
 * In every gateway: connections are marked on the way out, and what comes back over the tunnel gets the mark of its connection. Undefined
 * where there is no node.
 */
export function nodePortFirewall(
  nodes: readonly MarkedNode[],
  unknownSource: string,
  liqoNamespace: string,
): Generated<FirewallConfiguration> | undefined {
  if (nodes.length === 0) return undefined;
  return firewallConfiguration(
    {
      name: NODE_PORT_FIREWALL,
      namespace: liqoNamespace,
      audience: { category: "gateway", subcategory: "fabric" },
    },
    {
      name: NODE_PORT_FIREWALL,
      chains: [
        {
          name: "mark-to-conntrack",
          type: "filter",
          policy: "accept",
          hook: "forward",
          priority: Priority.filter,
          rules: {
            filterRules: [...nodes]
              .sort((a, b) => byName(a.node, b.node))
              .map(({ node, mark }) => ({
                name: node.metadata.name,
                counter: false,
                match: [source(unknownSource), arrivesOn(node.spec.interface.gateway.name)],
                action: "ctmark",
                value: String(mark),
              })),
          },
        },
        {
          name: "conntrack-mark-to-meta-mark",
          type: "filter",
          policy: "accept",
          hook: "prerouting",
          priority: Priority.filter,
          rules: {
            filterRules: [
              {
                name: "conntrack-mark-to-meta-mark",
                counter: false,
                match: [destination(unknownSource), arrivesOn(Name.tunnelInterface)],
                action: "metamarkfromctmark",
              },
            ],
          },
        },
      ],
    },
  );
}

export function nodePortRouteName(node: string): string {
  return objectName(`${node}-service-nodeport-routing`);
}

/** In every gateway: what has a node's mark goes to that node. */
export function nodePortRoute(
  { node, mark }: MarkedNode,
  unknownSource: string,
  liqoNamespace: string,
): Generated<RouteConfiguration> {
  const name = nodePortRouteName(node.metadata.name);
  const dst = `${unknownSource}/32`;
  return routeConfiguration(
    {
      name,
      namespace: liqoNamespace,
      audience: { category: "gateway", subcategory: "fabric" },
      owner: controlledBy(node),
    },
    {
      name,
      rules: [
        {
          fwmark: mark,
          dst,
          routes: [{ dst, dev: node.spec.interface.gateway.name, gw: node.spec.interface.node.ip }],
          targetRef: { kind: "InternalNode", name: node.metadata.name },
        },
      ],
    },
  );
}

/** The mark of each node's connections. A node keeps the one that its routes say. */
export class NodeMarks {
  private marks: NextFit | undefined;

  constructor(
    private readonly caches: NetworkingCaches,
    private readonly liqoNamespace: string,
  ) {
    caches.internalNodes.on({ deleted: ({ metadata }) => this.marks?.release(metadata.name) });
  }

  of(node: InternalNode): MarkedNode {
    const mark = this.current().acquire(node.metadata.name);
    if (mark === undefined) throw new Error(`no mark is left for the node ${node.metadata.name}`);
    return { node, mark };
  }

  /** Read from the routes when first needed. */
  private current(): NextFit {
    if (this.marks === undefined) {
      this.marks = nodeMarks();
      for (const { metadata } of this.caches.internalNodes.list()) {
        const route = this.caches.routes.get(nodePortRouteName(metadata.name), this.liqoNamespace);
        const mark = route && markIn(route);
        if (mark !== undefined) this.marks.adopt(metadata.name, mark);
      }
    }
    return this.marks;
  }
}

function markIn({ spec }: RouteConfiguration): number | undefined {
  return spec.table.rules.find(({ fwmark }) => fwmark !== undefined)?.fwmark;
}
