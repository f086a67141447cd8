/**
 * Kubernetes quantities, exact: counted in billionths (`250m` is 250,000,000), as BigInt, so that neither sums nor comparisons ever round.
 */
export type Nano = bigint;

/** What a Pod or a Quota says of each resource. */
export type ResourceList = Readonly<Record<string, string | number>>;
/** The same, counted. */
export type Amounts = ReadonlyMap<string, Nano>;

const ONE = 1_000_000_000n;
/** The API server holds no quantity above this; greater ones are read as this. */
const GREATEST_QUANTITY: Nano = (2n ** 63n - 1n) * ONE;

const DECIMAL: readonly (readonly [suffix: string, exponent: number])[] = [
  ["n", -9],
  ["u", -6],
  ["m", -3],
  ["", 0],
  ["k", 3],
  ["M", 6],
  ["G", 9],
  ["T", 12],
  ["P", 15],
  ["E", 18],
];
const BINARY = ["", "Ki", "Mi", "Gi", "Ti", "Pi", "Ei"];
const exponentOf = new Map(DECIMAL);

const SYNTAX = /^([+-]?)(\d+(?:\.\d*)?|\.\d+)(?:[eE]([+-]?\d{1,9})|([numkMGTPE]|[KMGTPE]i)?)$/;

/**
 * Reads a quantity. A number stands for itself; what is finer than a billionth is rounded away from zero.
 *
 * @throws Error that quotes the value, when it is no quantity
 */
export function parseQuantity(value: string | number): Nano {
  const text = String(value);
  const match = text.length > 128 ? null : SYNTAX.exec(text);
  if (match === null) throw notAQuantity(text);
  const [, sign, mantissa = "", exponent, suffix = ""] = match;
  const dot = mantissa.indexOf(".");
  const digits = dot < 0 ? mantissa : mantissa.slice(0, dot) + mantissa.slice(dot + 1);
  const fraction = dot < 0 ? 0 : mantissa.length - dot - 1;
  const magnitude = suffix.endsWith("i")
    ? scaled(BigInt(digits) * 1024n ** BigInt(BINARY.indexOf(suffix)), -fraction)
    : scaled(
        BigInt(digits),
        (exponent === undefined ? (exponentOf.get(suffix) ?? 0) : Number(exponent)) - fraction,
      );
  return sign === "-" ? -magnitude : magnitude;
}

/** `digits × 10^exponent` in billionths, rounded up and capped. */
function scaled(digits: bigint, exponent: number): Nano {
  if (digits === 0n) return 0n;
  const power = exponent + 9;
  // Beyond these bounds the result is known; computing the power would only cost time.
  if (power > 40) return GREATEST_QUANTITY;
  if (power < -300) return 1n;
  if (power >= 0) return least(digits * 10n ** BigInt(power), GREATEST_QUANTITY);
  const divisor = 10n ** BigInt(-power);
  return least((digits + divisor - 1n) / divisor, GREATEST_QUANTITY);
}

function least(a: bigint, b: bigint): bigint {
  return a < b ? a : b;
}

function notAQuantity(text: string): Error {
  const shown = text.length > 40 ? `${text.slice(0, 37)}…` : text;
  return new Error(
    `${JSON.stringify(shown)} is not a quantity: give a number with an optional suffix, such as 500m, 2 or 1.5Gi`,
  );
}

/** Whether {@link parseQuantity} takes the value. */
export function isQuantity(value: unknown): value is string | number {
  if (typeof value === "number") return Number.isFinite(value);
  return typeof value === "string" && value.length <= 128 && SYNTAX.test(value);
}

/** Whether a quantity is written with a binary suffix; sums of such are shown alike. */
export function isBinaryQuantity(value: string | number | undefined): boolean {
  return typeof value === "string" && value.endsWith("i");
}

/** The shortest exact form: decimal (`250m`, `4`, `12k`), or binary (`1536Mi`) where asked for and possible. */
export function formatQuantity(amount: Nano, style: "decimal" | "binary" = "decimal"): string {
  if (amount === 0n) return "0";
  if (style === "binary" && amount % ONE === 0n) {
    let count = amount / ONE;
    let power = 0;
    while (power < BINARY.length - 1 && count % 1024n === 0n) {
      count /= 1024n;
      power += 1;
    }
    return `${count}${BINARY[power]}`;
  }
  let count = amount;
  let step = 0;
  while (step < DECIMAL.length - 1 && count % 1000n === 0n) {
    count /= 1000n;
    step += 1;
  }
  return `${count}${DECIMAL[step]?.[0] ?? ""}`;
}

/** Counts each resource of a list. Errors name the resource. */
export function amountsOf(list: ResourceList | undefined): Map<string, Nano> {
  const amounts = new Map<string, Nano>();
  for (const [resource, quantity] of Object.entries(list ?? {})) {
    try {
      amounts.set(resource, parseQuantity(quantity));
    } catch (cause) {
      throw new Error(`${resource}: ${cause instanceof Error ? cause.message : String(cause)}`, { cause });
    }
  }
  return amounts;
}

/** Adds each resource of `more` to `sum`, in place. */
export function addAmounts(sum: Map<string, Nano>, more: Amounts): void {
  for (const [resource, amount] of more) sum.set(resource, (sum.get(resource) ?? 0n) + amount);
}

/** Takes each resource of `less` from `sum`, in place; what comes to nothing is forgotten. */
export function subtractAmounts(sum: Map<string, Nano>, less: Amounts): void {
  for (const [resource, amount] of less) {
    const rest = (sum.get(resource) ?? 0n) - amount;
    if (rest === 0n) sum.delete(resource);
    else sum.set(resource, rest);
  }
}

/** The greater amount of each resource, in either. */
export function greatestAmounts(a: Amounts, b: Amounts): Map<string, Nano> {
  const greatest = new Map(a);
  for (const [resource, amount] of b) {
    const other = greatest.get(resource);
    if (other === undefined || amount > other) greatest.set(resource, amount);
  }
  return greatest;
}

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
