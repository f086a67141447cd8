import type { InternalNode, RouteConfiguration } from "../../api";
import type { NextFit } from "../../ipam/next-fit";
import type { NetworkingCaches } from "../caches";
import { type MarkedNode, nodePortRouteName } from "../generate/node-port-return";
import { nodeMarks } from "../overlay";

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
