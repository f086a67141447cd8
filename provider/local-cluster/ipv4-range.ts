/** An IPv4 range, `base` being its first address as a number. */
export interface Ipv4Range {
  readonly base: number;
  readonly prefix: number;
}

/** @throws naming the text if it is not an IPv4 CIDR whose host bits are zero */
export function parseRange(text: string): Ipv4Range {
  const match = /^(\d{1,3})\.(\d{1,3})\.(\d{1,3})\.(\d{1,3})\/(\d{1,2})$/.exec(text);
  const octets = match?.slice(1, 5).map(Number) ?? [];
  const prefix = Number(match?.[5]);
  if (match === null || octets.some((octet) => octet > 255) || prefix > 32) {
    throw new Error(`"${text}" is not an IPv4 range such as 10.64.0.0/16`);
  }
  const base = octets.reduce((sum, octet) => sum * 256 + octet, 0);
  if (base % sizeOf({ base, prefix }) !== 0) {
    throw new Error(
      `"${text}" has bits beyond its prefix; the range is ${formatRange(networkOf(base, prefix))}`,
    );
  }
  return { base, prefix };
}

export function formatRange({ base, prefix }: Ipv4Range): string {
  return `${formatAddress(base)}/${prefix}`;
}

export function formatAddress(address: number): string {
  return [24, 16, 8, 0].map((shift) => Math.floor(address / 2 ** shift) % 256).join(".");
}

/** Number of addresses. */
export function sizeOf({ prefix }: Ipv4Range): number {
  return 2 ** (32 - prefix);
}

export function overlaps(one: Ipv4Range, other: Ipv4Range): boolean {
  return one.base < other.base + sizeOf(other) && other.base < one.base + sizeOf(one);
}

/** The address that many places after the first. @throws if it lies outside */
export function addressAt(range: Ipv4Range, offset: number): string {
  if (offset < 0 || offset >= sizeOf(range))
    throw new Error(`${formatRange(range)} has no address number ${offset}`);
  return formatAddress(range.base + offset);
}

/** The `index`-th range of this prefix inside. @throws if it lies outside */
export function subrange(range: Ipv4Range, prefix: number, index: number): Ipv4Range {
  const inner = { base: range.base + index * 2 ** (32 - prefix), prefix };
  if (prefix < range.prefix || inner.base + sizeOf(inner) > range.base + sizeOf(range)) {
    throw new Error(`${formatRange(range)} has no range number ${index} of size /${prefix}`);
  }
  return inner;
}

function networkOf(address: number, prefix: number): Ipv4Range {
  const size = 2 ** (32 - prefix);
  return { base: Math.floor(address / size) * size, prefix };
}
