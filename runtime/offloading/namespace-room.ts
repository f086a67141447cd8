import { Annotation, Label, type Namespace } from "../api";
import type { Informer } from "../kube";
import { ownerOf } from "./remote-namespace";

const MADE_FOR = "made-for";
/** Of a consumer whose tenant namespace says nothing else: more than a cluster has, and less than harms an API server. */
const NAMESPACES_OF_A_CONSUMER = 1_000;

/** How many namespaces a consumer gets; a word that is no number leaves it at the default. */
export function namespaceLimitOf(tenantNamespace: Namespace | undefined): number {
  const said = tenantNamespace?.metadata.annotations?.[Annotation.namespaceLimit] ?? "";
  return /^\d{1,6}$/.test(said) ? Number(said) : NAMESPACES_OF_A_CONSUMER;
}

/** Counts the namespaces of each consumer, those included that are being made and that no watch shows yet. */
export class NamespaceRoom {
  private readonly making = new Map<string, Set<string>>();

  /** @param namespaces those that name a peer */
  constructor(private readonly namespaces: Pick<Informer<Namespace>, "addIndex" | "byIndex" | "get">) {
    namespaces.addIndex(MADE_FOR, madeFor);
  }

  /** Takes the place for one more; false where none is left. Without a pause between looking and taking. */
  take(consumer: string, name: string, limit: number): boolean {
    const making = this.making.get(consumer) ?? new Set();
    this.making.set(consumer, making);
    for (const seen of making) if (this.namespaces.get(seen) !== undefined) making.delete(seen);
    if (making.has(name)) return true;
    if (this.namespaces.byIndex(MADE_FOR, consumer).length + making.size >= limit) return false;
    making.add(name);
    return true;
  }

  /** Gives back the place of one that was not made. */
  giveBack(consumer: string, name: string): void {
    this.making.get(consumer)?.delete(name);
  }
}

/** The consumer that a namespace was made for; tenant namespaces were not. */
function madeFor(namespace: Namespace): string[] {
  const consumer = namespace.metadata.labels?.[Label.remoteClusterID];
  return consumer === undefined || ownerOf(namespace) === undefined ? [] : [consumer];
}
