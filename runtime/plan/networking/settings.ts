import { z } from "zod";

import { type Cidr, containsCidr, formatCidr, overlaps, parseCidr } from "../../ipam/cidr";
import { DEFAULT_POOLS, parsePools, unusableReason } from "../../ipam/pools";
import { annotationsSchema, resourceListSchema } from "../arguments";
import { ownNetworkFaults } from "./networks";

/** UDP port of the overlay between nodes and gateways. */
export const OVERLAY_PORT = 6091;

/** A network of IPv4 addresses, written without bits beyond its prefix. */
const network = z.string().superRefine((text, context) => {
  try {
    const written = formatCidr(parseCidr(text));
    if (written === text) return;
    context.addIssue({
      code: "custom",
      continue: false,
      message: `has bits beyond its prefix; write ${written}`,
    });
  } catch (error) {
    // Networks are compared with each other only once each of them is one.
    context.addIssue({
      code: "custom",
      continue: false,
      message: faultOf(error, `"${text}" `),
    });
  }
});

/** What an error says, without the value at its beginning, which the reader of arguments puts there. */
function faultOf(error: unknown, value: string): string {
  const message = error instanceof Error ? error.message : String(error);
  return message.startsWith(value) ? message.slice(value.length) : message;
}

const seconds = (fallback: number) =>
  z.number().positive("is not above 0; give a time in seconds").default(fallback);

const resources = z
  .strictObject({ requests: resourceListSchema.optional(), limits: resourceListSchema.optional() })
  .default({ requests: { cpu: "10m", memory: "64Mi" } });

const toleration = z.strictObject({
  key: z.string().optional(),
  operator: z.enum(["Equal", "Exists"]).optional(),
  value: z.string().optional(),
  effect: z.enum(["NoSchedule", "PreferNoSchedule", "NoExecute"]).optional(),
});

const placement = {
  /** Labels of the nodes that its pods may run on; any node by default. */
  nodeSelector: z.record(z.string().min(1), z.string()).default({}),
  /** Taints that its pods tolerate. */
  tolerations: z.array(toleration).default([]),
};

const fields = z.strictObject({
  /** The networks that pods of the cluster have addresses of. */
  podCidrs: z.array(network).min(1, "is empty; give the networks that the cluster's pods have addresses of"),
  /** The network that Services of the cluster have addresses of. */
  serviceCidr: network,
  /** The network by which peers know what is no pod. 10.70.0.0/16 by default, or another where that is taken; a given one is kept. */
  externalCidr: network.optional(),
  /** The network of the overlay between nodes and gateways. 10.80.0.0/16 by default, or another where that is taken. */
  internalCidr: network.optional(),
  /** Networks that are in use around the cluster, as by its nodes: peers' networks are never mapped to them. */
  reservedSubnets: z.array(network).default([]),
  /** Where networks are taken from, in the order in which they are searched. */
  pools: z
    .array(network)
    .min(1, "is empty; give at least one, such as 10.0.0.0/8")
    .default([...DEFAULT_POOLS]),
  /** How peers reach this cluster's API server: by the address of its Service, or by those of its endpoints. */
  apiServerBy: z.enum(["service", "endpoints"]).default("service"),
  /** The agent on each node. */
  fabric: z
    .strictObject({
      /** Whether pods, too, reach peers with the address of unknown senders; false by default. */
      fullMasquerade: z.boolean().default(false),
      /** Of the rules on nodes that lead to gateways; 0, the default, lets the kernel choose. */
      routeRulePriority: z
        .number()
        .int("is not a whole number")
        .min(0, "is below 0")
        .max(32_765, "is above 32765, where the kernel's own rules begin")
        .default(0),
      /** Keeps a CNI that masquerades what pods send to nodes from the overlay; false by default. */
      gatewayMasqueradeBypass: z.boolean().default(false),
      /** UDP port of the overlay. */
      overlayPort: z.number().int().min(1, "is no port").max(65_535, "is no port").default(OVERLAY_PORT),
      /** Leaves packets of the overlay out of the connection tracking of nodes, as they are in gateways; false by default. */
      overlayWithoutTracking: z.boolean().default(false),
      resources,
      ...placement,
      // Every node that runs pods has to have its agent.
      tolerations: z.array(toleration).default([{ operator: "Exists" }]),
    })
    .prefault({}),
  /** The gateways of this cluster, unless they name templates of their own. */
  gateway: z
    .strictObject({
      /** Pods of each gateway: one works, the others stand by. */
      replicas: z.number().int("is not a whole number").min(1, "is below 1").max(5, "is above 5").default(1),
      /** `auto` takes the kernel's WireGuard, or the one in user space where the kernel has none. */
      implementation: z.enum(["auto", "kernel", "userspace"]).default("auto"),
      /** Whether TCP connections that enter the tunnel agree on segments that fit; true by default. */
      mssClamp: z.boolean().default(true),
      /** Longest such segment in bytes; 0, the default, takes the path's. */
      mssClampValue: z.number().int().min(0, "is below 0").max(65_495, "is above 65495").default(0),
      ping: z
        .strictObject({
          intervalSeconds: seconds(2),
          /** Pings without an answer after which the connection counts as lost. */
          lossThreshold: z.number().int().min(1, "is below 1").default(5),
          updateStatusIntervalSeconds: seconds(10),
        })
        .prefault({}),
      /** TCP port of the Services that peers reach servers at, for load balancers that cannot tell by UDP whether somebody is there. */
      healthPort: z.number().int().min(1, "is no port").max(65_535, "is no port").optional(),
      /** Annotations of the Services that peers reach servers at. */
      serviceAnnotations: annotationsSchema.default({}),
      resources,
      ...placement,
    })
    .prefault({}),
});

/** What the networking of an installation is to be. */
export const networkingSettingsSchema = fields.superRefine((settings, context) => {
  const faults = networkFaults(settings);
  // Networks that are wrong in themselves have no place to look for.
  for (const { path, message } of faults.length > 0 ? faults : ownNetworkFaults(settings)) {
    context.addIssue({ code: "custom", path, message });
  }
});

export type NetworkingSettings = z.output<typeof networkingSettingsSchema>;

interface Fault {
  path: (string | number)[];
  message: string;
}

interface Named {
  path: (string | number)[];
  cidr: Cidr;
}

/** What is wrong with networks that are each well written: where one is not, its own message stands alone. */
function networkFaults(settings: z.output<typeof fields>): Fault[] {
  const named = (path: (string | number)[], text: string): Named => ({ path, cidr: parseCidr(text) });
  const pods = settings.podCidrs.map((text, index) => named(["podCidrs", index], text));
  const services = named(["serviceCidr"], settings.serviceCidr);
  const own = (["externalCidr", "internalCidr"] as const).flatMap((key) => {
    const text = settings[key];
    return text === undefined ? [] : [named([key], text)];
  });
  const reserved = settings.reservedSubnets.map((text, index) => named(["reservedSubnets", index], text));
  return [
    ...poolFaults(settings.pools, own),
    ...[...pods, services, ...own].flatMap(({ path, cidr }): Fault[] => {
      const reason = unusableReason(cidr);
      if (reason === undefined) return [];
      return [{ path, message: `${faultOf(reason, `${formatCidr(cidr)} `)}; choose a private range` }];
    }),
    ...[services].filter(({ cidr }) => cidr.length > MAX_SERVICE_LENGTH).map(tooSmall(MAX_SERVICE_LENGTH)),
    ...own.filter(({ cidr }) => cidr.length > MAX_OWN_LENGTH).map(tooSmall(MAX_OWN_LENGTH)),
    ...overlapFaults(pods),
    ...overlapsWith(services, pods),
    ...reserved.flatMap((one, index) => repeatedFaults(one, reserved.slice(0, index))),
    ...reserved.flatMap((one) => insideFaults(one, [...pods, services])),
    // The cluster's own two networks are chosen by us: they never stand in the way of what is there.
    ...own.flatMap((one, index) =>
      overlapsWith(one, [...pods, services, ...reserved, ...own.slice(0, index)]),
    ),
  ];
}

/** Sixty-two addresses, for nodes and gateways, or for what peers reach. */
const MAX_OWN_LENGTH = 26;
/** Eight addresses, the fewest that API servers take. */
const MAX_SERVICE_LENGTH = 29;

function tooSmall(longest: number): (network: Named) => Fault {
  return ({ path, cidr }) => {
    const count = 2 ** (32 - cidr.length);
    const addresses = count === 1 ? "1 address" : `${count} addresses`;
    return { path, message: `has ${addresses} only; give it a prefix of /${longest} or shorter` };
  };
}

function poolFaults(pools: readonly string[], own: readonly Named[]): Fault[] {
  let parsed: Cidr[];
  try {
    parsed = parsePools(pools);
  } catch (error) {
    return [{ path: ["pools"], message: faultOf(error, "") }];
  }
  return own
    .filter(({ cidr }) => !parsed.some((pool) => containsCidr(pool, cidr)))
    .map(({ path }) => ({
      path,
      message: `lies in none of the pools ${pools.join(", ")}; add one that holds it, or choose another network`,
    }));
}

function overlapFaults(networks: readonly Named[]): Fault[] {
  return networks.flatMap((one, index) => overlapsWith(one, networks.slice(0, index)));
}

function overlapsWith({ path, cidr }: Named, others: readonly Named[]): Fault[] {
  return others
    .filter((other) => overlaps(cidr, other.cidr))
    .map((other) => ({
      path,
      message: `overlaps ${textOf(other.path)} ${formatCidr(other.cidr)}; choose networks apart from each other`,
    }));
}

/** What is reserved may hold the cluster's own networks, as a company's range does; inside of one it says nothing. */
function insideFaults({ path, cidr }: Named, others: readonly Named[]): Fault[] {
  return others
    .filter((other) => containsCidr(other.cidr, cidr))
    .map((other) => ({
      path,
      message: `lies in ${textOf(other.path)} ${formatCidr(other.cidr)}, which is in use as a whole already; leave it out, or give a network around the cluster`,
    }));
}

/** Reserved networks may hold each other; two that are the same would be one object made twice. */
function repeatedFaults({ path, cidr }: Named, before: readonly Named[]): Fault[] {
  const same = before.find((other) => formatCidr(other.cidr) === formatCidr(cidr));
  if (same === undefined) return [];
  return [{ path, message: `is ${textOf(same.path)} once more; leave one of the two out` }];
}

function textOf(path: readonly (string | number)[]): string {
  return path.map((part) => (typeof part === "number" ? `[${part}]` : part)).join("");
}
