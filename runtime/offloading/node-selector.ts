import type { NodeSelector, NodeSelectorRequirement, NodeSelectorTerm } from "kubernetes-types/core/v1";

/** What a term is held against: a node's labels and name. */
interface SelectableNode {
  name: string;
  labels: Readonly<Record<string, string>>;
}

/**
 * Whether a node satisfies one of the terms. As in the scheduler, an empty term is satisfied by no node. The terms must be valid
 * ({@link invalidNodeSelector}); an operator that is not known is never satisfied.
 */
export function matchesAnyTerm(terms: readonly NodeSelectorTerm[], node: SelectableNode): boolean {
  return terms.some((term) => matchesTerm(term, node));
}

/** A selector that is absent or has no term at all selects every cluster (offloading reference 2.1). */
export function selectsCluster(selector: NodeSelector | undefined, node: SelectableNode): boolean {
  const terms = selector?.nodeSelectorTerms ?? [];
  return terms.length === 0 || matchesAnyTerm(terms, node);
}

function matchesTerm(term: NodeSelectorTerm, node: SelectableNode): boolean {
  if (isEmptyTerm(term)) return false;
  const labels = term.matchExpressions ?? [];
  const fields = term.matchFields ?? [];
  return (
    labels.every((requirement) => isSatisfied(requirement, labelOf(node, requirement.key))) &&
    fields.every((requirement) => requirement.key === NAME_FIELD && isSatisfied(requirement, node.name))
  );
}

/** `constructor` is a label key as good as any, and no label of a node that has none. */
function labelOf({ labels }: SelectableNode, key: string): string | undefined {
  return Object.hasOwn(labels, key) ? labels[key] : undefined;
}

export function isEmptyTerm(term: NodeSelectorTerm): boolean {
  return (term.matchExpressions ?? []).length === 0 && (term.matchFields ?? []).length === 0;
}

const NAME_FIELD = "metadata.name";

function isSatisfied({ operator, values = [] }: NodeSelectorRequirement, value: string | undefined): boolean {
  switch (operator) {
    case "In":
      return value !== undefined && values.includes(value);
    case "NotIn":
      return value === undefined || !values.includes(value);
    case "Exists":
      return value !== undefined;
    case "DoesNotExist":
      return value === undefined;
    case "Gt":
    case "Lt": {
      const [bound] = values;
      if (value === undefined || bound === undefined || !INTEGER.test(value) || !INTEGER.test(bound))
        return false;
      return operator === "Gt" ? BigInt(value) > BigInt(bound) : BigInt(value) < BigInt(bound);
    }
    default:
      return false;
  }
}

const INTEGER = /^-?\d{1,19}$/;
const LABEL_PREFIX = /^[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*$/;
const LABEL_NAME = /^[A-Za-z0-9]([-A-Za-z0-9_.]{0,61}[A-Za-z0-9])?$/;
const LABEL_VALUE = /^([A-Za-z0-9]([-A-Za-z0-9_.]{0,61}[A-Za-z0-9])?)?$/;

/** What is wrong with a selector, naming the place and the way out; undefined when it is valid. */
export function invalidNodeSelector(selector: NodeSelector | undefined): string | undefined {
  for (const [index, term] of (selector?.nodeSelectorTerms ?? []).entries()) {
    const place = `nodeSelectorTerms[${index}]`;
    for (const [at, requirement] of (term.matchExpressions ?? []).entries()) {
      const fault =
        invalidKey(requirement.key) ?? invalidRequirement(requirement) ?? invalidValues(requirement);
      if (fault !== undefined) return `${place}.matchExpressions[${at}].${fault}`;
    }
    for (const [at, requirement] of (term.matchFields ?? []).entries()) {
      const fault = invalidField(requirement);
      if (fault !== undefined) return `${place}.matchFields[${at}].${fault}`;
    }
  }
  return undefined;
}

function invalidKey(key: string): string | undefined {
  const slash = key.indexOf("/");
  const prefix = slash < 0 ? undefined : key.slice(0, slash);
  const valid =
    LABEL_NAME.test(key.slice(slash + 1)) &&
    (prefix === undefined || (prefix.length <= 253 && LABEL_PREFIX.test(prefix)));
  return valid ? undefined : `key: ${JSON.stringify(key)} is not a label key`;
}

function invalidRequirement({ operator, values = [] }: NodeSelectorRequirement): string | undefined {
  switch (operator) {
    case "In":
    case "NotIn":
      return values.length > 0 ? undefined : `values: empty; operator ${operator} needs at least one value`;
    case "Exists":
    case "DoesNotExist":
      return values.length === 0
        ? undefined
        : `values: ${JSON.stringify(values)}; operator ${operator} takes none`;
    case "Gt":
    case "Lt":
      return values.length === 1 && INTEGER.test(values[0] ?? "")
        ? undefined
        : `values: ${JSON.stringify(values)}; operator ${operator} needs exactly one integer`;
    default:
      return `operator: ${JSON.stringify(operator)} is not one of In, NotIn, Exists, DoesNotExist, Gt, Lt`;
  }
}

function invalidValues({ values = [] }: NodeSelectorRequirement): string | undefined {
  const wrong = values.find((value) => !LABEL_VALUE.test(value));
  return wrong === undefined ? undefined : `values: ${JSON.stringify(wrong)} is not a label value`;
}

function invalidField({ key, operator, values = [] }: NodeSelectorRequirement): string | undefined {
  if (key !== NAME_FIELD) return `key: ${JSON.stringify(key)}; only ${NAME_FIELD} can be selected on`;
  if (operator !== "In" && operator !== "NotIn")
    return `operator: ${JSON.stringify(operator)}; a field takes In or NotIn`;
  return values.length === 1
    ? undefined
    : `values: ${JSON.stringify(values)}; a field takes exactly one value`;
}

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
