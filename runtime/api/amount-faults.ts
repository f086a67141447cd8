import { GREATEST_QUANTITY, isQuantity, parseQuantity } from "./quantity";

/** One, as quantities are counted. */
const ONE = parseQuantity(1);
/** Schedulers count processors in thousandths; beyond this their count overflows, and no pod fits. */
const GREATEST_CPU = GREATEST_QUANTITY / 1000n;
/** A prefix of a domain where there is one, then letters, digits and `-_.`, 63 characters at most. */
const RESOURCE_NAME = /^([a-z0-9]([-a-z0-9.]*[a-z0-9])?\/)?[A-Za-z0-9]([-A-Za-z0-9_.]{0,61}[A-Za-z0-9])?$/;

/**
 * What keeps amounts from being those of a node, each fault with the resource, the value and the way out. API servers take any quantity for a
 * custom resource; of a Node they do not.
 */
export function amountFaults(resources: Readonly<Record<string, unknown>>): string[] {
  return Object.entries(resources).flatMap(([name, amount]) => {
    const text = JSON.stringify(amount);
    if (!RESOURCE_NAME.test(name))
      return [`${JSON.stringify(name)} is no name of a resource; write it as in cpu or example.com/gpu`];
    const fault = quantityFault(amount);
    if (fault !== undefined) return [`${name}: ${text} ${fault}`];
    if (name === "cpu" && parseQuantity(String(amount)) >= GREATEST_CPU)
      return [`${name}: ${text} is more than schedulers can count; give less than 9223372036854775`];
    if (isCounted(name) && parseQuantity(String(amount)) % ONE !== 0n)
      return [`${name}: ${text} is not a whole number; it is counted, so give one`];
    return [];
  });
}

/** What keeps a value from being an amount of anything, without the value; undefined where nothing does. */
export function quantityFault(amount: unknown): string | undefined {
  if ((typeof amount !== "string" && typeof amount !== "number") || !isQuantity(amount))
    return "is not a quantity; give a number with an optional suffix, such as 500m, 2 or 1.5Gi";
  if (String(amount).startsWith("-")) return "is negative; give an amount of zero or more";
  return parseQuantity(amount) < GREATEST_QUANTITY
    ? undefined
    : "is more than an API server can hold; give less than 9223372036854775807";
}

/** Pods, and what device plugins offer, come one by one. */
function isCounted(name: string): boolean {
  return name === "pods" || name.includes("/");
}
