import type { NodeSelectorTerm } from "kubernetes-types/core/v1";

import { isEmptyTerm } from "./node-selector";

/**
 * The terms that a node satisfies exactly when it satisfies one of `imposed` and one of `existing`: every pair, with the requirements of
 * the existing term first. Fields are kept (DaemonSet pods are pinned to their node by one).
 *
 * No term at all on one side means that this side imposes nothing. An empty term is satisfied by no node, so it drops out of the product;
 * if nothing is left, a single empty term says "no node".
 *
 * Source: offloading reference 16.2, vector in 23.
 */
export function selectorProduct(
  imposed: readonly NodeSelectorTerm[],
  existing: readonly NodeSelectorTerm[],
): NodeSelectorTerm[] {
  if (imposed.length === 0) return [...existing];
  if (existing.length === 0) return [...imposed];
  const product = imposed
    .filter((term) => !isEmptyTerm(term))
    .flatMap((ours) => existing.filter((term) => !isEmptyTerm(term)).map((theirs) => both(theirs, ours)));
  return product.length > 0 ? product : [{}];
}

/** One term that holds where both hold. */
export function both(first: NodeSelectorTerm, second: NodeSelectorTerm): NodeSelectorTerm {
  const matchExpressions = [...(first.matchExpressions ?? []), ...(second.matchExpressions ?? [])];
  const matchFields = [...(first.matchFields ?? []), ...(second.matchFields ?? [])];
  return {
    ...(matchExpressions.length > 0 ? { matchExpressions } : {}),
    ...(matchFields.length > 0 ? { matchFields } : {}),
  };
}
