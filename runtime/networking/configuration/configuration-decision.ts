import {
  cidrInName,
  ConditionReason,
  type Configuration,
  Label,
  type Network,
  type OwnerReference,
} from "../../api";
import { formatCidr, parseCidr } from "../../ipam/cidr";
import { NetworkType, typeOf } from "../../ipam/network-stage";
import { conflictOf, describeConflict, type OwnRange } from "../../ipam/own-addresses";
import { unusableReason } from "../../ipam/pools";
import { controlledBy, controllerOf, keyOf } from "../../kube";
import { CIDRS_CONFIGURED } from "../address-mapping";
import { objectName, peerOf } from "../labels";

const TYPES = ["pod", "external"] as const;
type CidrType = (typeof TYPES)[number];
type Cidrs = Record<CidrType, string[]>;
type ConfigurationStatus = NonNullable<Configuration["status"]>;
export type Condition = NonNullable<ConfigurationStatus["conditions"]>[number];

/** A Network that holds a place for one of the peer's. */
interface WantedNetwork {
  apiVersion: "ipam.liqo.io/v1alpha1";
  kind: "Network";
  metadata: {
    name: string;
    namespace: string;
    labels: Record<string, string>;
    ownerReferences: OwnerReference[];
  };
  spec: { cidr: string };
}

interface ConfigurationDecision {
  /** This cluster's networks, where the spec does not say them yet. */
  local?: Cidrs;
  networks: WantedNetwork[];
  /** Networks of the Configuration's that it does not ask for any more. */
  obsolete: Network[];
  /** The peer's networks as this cluster reaches them, in the order of the spec; empty where there is no answer yet. */
  remote: Cidrs;
  condition: Omit<Condition, "lastTransitionTime">;
}

/**
 * What a Configuration leads to (networking reference 7): a Network for each of the peer's, and an answer where each of them is here.
 *
 * @param networks all Networks of the cluster
 * @param elders Configurations of the same peer that were there first
 * @param own what of this cluster's own no network of a peer may hold
 */
export function decideConfiguration(
  configuration: Configuration,
  networks: readonly Network[],
  elders: readonly Configuration[],
  own: readonly OwnRange[] = [],
): ConfigurationDecision {
  const local = configuration.spec.local === undefined ? localCidrs(networks) : undefined;
  const answers = TYPES.map((type) => answerFor(configuration, type, networks, own));
  const [pod, external] = answers;
  const conflicts = answers.flatMap((answer) => answer.conflicts);
  const problems = [
    ...conflicts,
    ...conflictsWithElders(configuration, elders),
    ...(configuration.spec.local === undefined && local === undefined
      ? ["this cluster's own networks have no ranges yet"]
      : []),
    ...answers.flatMap((answer) => answer.problems),
  ];
  return {
    ...(local !== undefined && { local }),
    networks: answers.flatMap((answer) => answer.networks),
    obsolete: answers.flatMap((answer) => answer.obsolete),
    remote: { pod: pod?.remote ?? [], external: external?.remote ?? [] },
    condition: {
      type: CIDRS_CONFIGURED,
      status: problems.length === 0 ? "True" : "False",
      reason: reasonFor(problems, conflicts),
      message: problems.length === 0 ? "Every network of the peer has its place here" : problems.join("; "),
      observedGeneration: configuration.metadata.generation ?? 0,
    },
  };
}

function reasonFor(problems: readonly string[], conflicts: readonly string[]): string {
  if (conflicts.length > 0) return ConditionReason.networkRangeConflict;
  return problems.length === 0 ? ConditionReason.networkCIDRsConfigured : ConditionReason.waitingForNetworks;
}

/** What is wrong with the networks that a Configuration gives for its peer, each with its field; they can never be reached. */
export function remoteFaults({ spec }: Configuration): string[] {
  return TYPES.flatMap((type) => (spec.remote?.cidr?.[type] ?? []).flatMap((cidr) => cidrFaults(type, cidr)));
}

function cidrFaults(type: CidrType, cidr: string): string[] {
  return faultOf(cidr).map((fault) => `spec.remote.cidr.${type}: ${fault}`);
}

interface Answer {
  networks: WantedNetwork[];
  obsolete: Network[];
  remote: string[];
  problems: string[];
  /** Places here that hold something of this cluster's own. */
  conflicts: string[];
}

function answerFor(
  configuration: Configuration,
  type: CidrType,
  networks: readonly Network[],
  own: readonly OwnRange[],
): Answer {
  const cidrs = configuration.spec.remote?.cidr?.[type] ?? [];
  const field = `spec.remote.cidr.${type}`;
  const blank = cidrs.map(() => "");
  if (cidrs.length === 0) {
    return {
      networks: [],
      obsolete: owned(configuration, type, networks),
      remote: [],
      problems: [`${field} is empty; give the peer's networks`],
      conflicts: [],
    };
  }
  const faults = cidrs.flatMap((cidr) => cidrFaults(type, cidr));
  if (faults.length > 0)
    return { networks: [], obsolete: [], remote: blank, problems: faults, conflicts: [] };

  const wanted = cidrs.map((cidr) => wantedNetwork(configuration, type, formatCidr(parseCidr(cidr))));
  const names = new Map(wanted.map((network) => [network.metadata.name, network.spec.cidr]));
  const obsolete = owned(configuration, type, networks).filter(
    ({ metadata, spec }) => metadata.deletionTimestamp || names.get(metadata.name) !== spec.cidr,
  );
  if (obsolete.length > 0) {
    // What they hold may be what the new ones ask for.
    const leaving = obsolete.map((network) => `Network ${keyOf(network)}`).join(", ");
    return { networks: [], obsolete, remote: blank, problems: [`${leaving} must go first`], conflicts: [] };
  }
  const given = wanted.map(
    ({ metadata }) =>
      networks.find((network) => keyOf(network) === `${metadata.namespace}/${metadata.name}`)?.status?.cidr ??
      "",
  );
  const conflicts = wanted.map(({ metadata }, index) =>
    conflictIn(given[index] ?? "", `${metadata.namespace}/${metadata.name}`, own),
  );
  const unanswered = wanted.filter((_, index) => given[index] === "").map(({ metadata }) => metadata.name);
  return {
    networks: distinct(wanted),
    obsolete: [],
    // Nothing is sent to a place that is this cluster's own.
    remote: given.map((cidr, index) => (conflicts[index] === undefined ? cidr : "")),
    problems: distinctNames(unanswered).map((name) => `Network ${name} has no range yet`),
    conflicts: distinctNames(conflicts.filter((conflict) => conflict !== undefined)),
  };
}

/**
 * IPAM keeps networks of peers clear of what is the cluster's own. This is for a node that has come since, and for a Network that an earlier
 * version gave its range.
 */
function conflictIn(given: string, network: string, own: readonly OwnRange[]): string | undefined {
  if (given === "") return undefined;
  const range = parseCidr(given);
  const conflict = conflictOf(range, own);
  return (
    conflict &&
    `${describeConflict(range, conflict)}, so nothing is sent there; delete Network ${network}, which comes back with another range`
  );
}

/** This cluster's networks, once all of them have their ranges. */
function localCidrs(networks: readonly Network[]): Cidrs | undefined {
  const rangesOf = (type: string) =>
    networks
      .filter((network) => typeOf(network) === type)
      .sort((a, b) => (keyOf(a) < keyOf(b) ? -1 : 1))
      .map(({ status }) => status?.cidr ?? "");
  const [pod, external] = [rangesOf(NetworkType.pod), rangesOf(NetworkType.external)];
  const complete = (ranges: string[]) => ranges.length > 0 && !ranges.includes("");
  return complete(pod) && complete(external) ? { pod, external } : undefined;
}

function wantedNetwork(configuration: Configuration, type: CidrType, cidr: string): WantedNetwork {
  const { name, namespace = "" } = configuration.metadata;
  return {
    apiVersion: "ipam.liqo.io/v1alpha1",
    kind: "Network",
    metadata: {
      name: objectName(`${name}-${type}-${cidrInName(cidr)}`),
      namespace,
      labels: { [Label.remoteClusterID]: peerOf(configuration), [Label.cidrType]: type },
      ownerReferences: [controlledBy(configuration)],
    },
    spec: { cidr },
  };
}

function owned({ metadata }: Configuration, type: CidrType, networks: readonly Network[]): Network[] {
  return networks.filter(
    (network) =>
      network.metadata.labels?.[Label.cidrType] === type && controllerOf(network)?.uid === metadata.uid,
  );
}

function faultOf(cidr: string): string[] {
  try {
    const reason = unusableReason(parseCidr(cidr));
    return reason === undefined ? [] : [`${reason}; pods there cannot be reached`];
  } catch (error) {
    return [error instanceof Error ? error.message : String(error)];
  }
}

function conflictsWithElders(configuration: Configuration, elders: readonly Configuration[]): string[] {
  return elders.map(
    (elder) => `Configuration ${keyOf(elder)} is for ${peerOf(configuration)} already; delete one of the two`,
  );
}

function distinct(networks: WantedNetwork[]): WantedNetwork[] {
  return [...new Map(networks.map((network) => [network.metadata.name, network])).values()];
}

function distinctNames(names: readonly string[]): string[] {
  return [...new Set(names)];
}
