import { z } from "zod";

/** An interface, as far as it matters here. */
export interface ObservedLink {
  name: string;
  /** `vxlan`, `geneve`, `wireguard`, `tun`, …; undefined for a physical one. */
  kind?: string;
  up: boolean;
  /** Nothing is at the other end, as of a bridge without members. */
  noCarrier?: true;
  arp: boolean;
  mtu: number;
  macAddress?: string;
  /** Of an overlay. */
  overlay?: { id: number; remote: string; port: number; learning: boolean };
  /** IPv4, with their lengths: `10.80.0.1/32`. */
  addresses: string[];
}

const linkEntry = z.object({
  // A listing of addresses has an empty entry for each interface without one of the family.
  ifname: z.string().optional(),
  flags: z.array(z.string()).default([]),
  mtu: z.number().default(0),
  address: z.string().optional(),
  linkinfo: z
    .object({
      info_kind: z.string().optional(),
      info_data: z
        .object({
          id: z.number().optional(),
          remote: z.string().optional(),
          port: z.number().optional(),
          learning: z.boolean().optional(),
        })
        .optional(),
    })
    .optional(),
  addr_info: z
    .array(z.object({ family: z.string(), local: z.string().optional(), prefixlen: z.number().optional() }))
    .default([]),
});

/**
 * Reads `ip -j -d addr show`.
 *
 * @throws ZodError where it is no such listing
 */
export function parseLinks(text: string): ObservedLink[] {
  return z
    .array(linkEntry)
    .parse(JSON.parse(text))
    .flatMap((entry): ObservedLink[] => {
      if (entry.ifname === undefined) return [];
      const { info_kind: kind, info_data: data } = entry.linkinfo ?? {};
      return [
        {
          name: entry.ifname,
          ...(kind !== undefined && { kind }),
          up: entry.flags.includes("UP"),
          ...(entry.flags.includes("NO-CARRIER") && { noCarrier: true as const }),
          arp: !entry.flags.includes("NOARP"),
          mtu: entry.mtu,
          ...(entry.address !== undefined && { macAddress: entry.address }),
          ...(data?.id !== undefined && {
            overlay: {
              id: data.id,
              remote: data.remote ?? "",
              port: data.port ?? 0,
              learning: data.learning ?? false,
            },
          }),
          addresses: entry.addr_info.flatMap(({ family, local, prefixlen }) =>
            family === "inet" && local !== undefined ? [`${local}/${prefixlen ?? 32}`] : [],
          ),
        },
      ];
    });
}

const neighbourEntry = z.object({ dst: z.string(), dev: z.string(), lladdr: z.string().optional() });

/** A neighbour in one line, to be compared. */
export function neighbourText(neighbour: { dev: string; address: string; macAddress: string }): string {
  return `${neighbour.dev} ${neighbour.address} ${neighbour.macAddress}`;
}

/**
 * Reads `ip -4 -j neigh show nud permanent`.
 *
 * @throws ZodError where it is no such listing
 */
export function parseNeighbours(text: string): ReadonlySet<string> {
  const trimmed = text.trim();
  const entries = z.array(neighbourEntry).parse(trimmed === "" ? [] : JSON.parse(trimmed));
  return new Set(
    entries.map(({ dst, dev, lladdr }) => neighbourText({ dev, address: dst, macAddress: lladdr ?? "" })),
  );
}
