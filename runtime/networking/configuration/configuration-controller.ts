import { Configuration, Network } from "../../api";
import { NetworkType, typeOf } from "../../ipam/network-stage";
import { serviceNetworks } from "../../ipam/own-addresses";
import {
  type Controller,
  keyOf,
  mergeConditions,
  ownedBy,
  patchStatusIfChanged,
  runController,
  timestamp,
  watches,
  withGlobalMetadata,
  writeIfChanged,
} from "../../kube";
import { CIDRS_CONFIGURED } from "../address-mapping";
import { peersOf } from "../../plan/peer-objects";
import type { NetworkingContext } from "../networking-context";
import { type Condition, decideConfiguration } from "./configuration-decision";

/** Finds a place in this cluster for each network of a peer, and says in the Configuration where it is (networking reference 7). */
export function runConfigurationController(networking: NetworkingContext): Controller {
  const { runtime, caches } = networking;
  const { configurations, networks, own } = caches;
  const all = () => configurations.list().map(keyOf);
  const undecided = () =>
    configurations
      .list()
      .filter(({ spec }) => spec.local === undefined)
      .map(keyOf);
  return runController(
    {
      name: "configuration",
      sources: [
        watches(configurations),
        // The second one for a peer hears of the end of the first.
        watches(configurations, {
          keys: (configuration) =>
            peersOf(configuration).flatMap((peer) => caches.ofPeer(configurations, peer).map(keyOf)),
          when: ({ type }) => type !== "updated",
        }),
        watches(networks, { keys: ownedBy("Configuration") }),
        watches(networks, { keys: (network) => (typeOf(network) === "" ? [] : undecided()) }),
        watches(networks, { keys: (network) => (typeOf(network) === NetworkType.service ? all() : []) }),
        ...own.changes(all),
      ],
      objectOf: (key) => configurations.getByKey(key),
      reconcile: (key) => reconcile(networking, key),
    },
    runtime,
  );
}

async function reconcile({ runtime, caches, options }: NetworkingContext, key: string): Promise<void> {
  const { client, clock } = runtime;
  const { configurations, networks, own } = caches;
  const configuration = configurations.getByKey(key);
  if (configuration === undefined || configuration.metadata.deletionTimestamp) return;
  const elders = peersOf(configuration)
    .flatMap((peer) => caches.ofPeer(configurations, peer))
    .filter((other) => !other.metadata.deletionTimestamp && isElder(other, configuration));
  const ours = [...own.list(), ...serviceNetworks(networks.list())];
  const decision = decideConfiguration(configuration, networks.list(), elders, ours);

  if (decision.local !== undefined) {
    const { name, namespace } = configuration.metadata;
    const spec = { local: { cidr: decision.local } };
    const identity = { apiVersion: configuration.apiVersion, kind: configuration.kind };
    await writeIfChanged(
      client,
      Configuration,
      { ...identity, metadata: { name, namespace }, spec },
      configuration,
    );
    // The new generation comes back, and is answered as a whole.
    return;
  }
  for (const { metadata } of decision.obsolete) {
    if (!metadata.deletionTimestamp) await client.delete(Network, metadata, { uid: metadata.uid });
  }
  for (const wanted of decision.networks) {
    const observed = networks.get(wanted.metadata.name, wanted.metadata.namespace);
    await writeIfChanged(client, Network, withGlobalMetadata(wanted, options.global), observed);
  }
  const conditions = mergeConditions<Condition>(
    configuration.status?.conditions,
    [CIDRS_CONFIGURED],
    [decision.condition],
    timestamp(clock),
  ).map((condition) =>
    // What is said may be the same, and said of another generation.
    condition.type === CIDRS_CONFIGURED
      ? { ...condition, observedGeneration: decision.condition.observedGeneration }
      : condition,
  );
  await patchStatusIfChanged(client, Configuration, configuration, {
    conditions,
    remote: { cidr: decision.remote },
  });
}

function isElder(a: Configuration, b: Configuration): boolean {
  const createdAt = ({ metadata }: Configuration) => metadata.creationTimestamp ?? "";
  if (createdAt(a) !== createdAt(b)) return createdAt(a) < createdAt(b);
  return keyOf(a) < keyOf(b);
}
