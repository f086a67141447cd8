/** The tunnel between two clusters: what `liqoctl network` does, and `peer` in its first part (networking reference 16). */
import { DataKey, Label, Name } from "../../api/keys";
import { Network } from "../../api/ipam";
import { Secret } from "../../api/kubernetes";
import type { Kind, KubeObject } from "../../api/meta";
import { Configuration, Connection, GatewayClient, GatewayServer, PublicKey } from "../../api/networking";
import {
  configuration,
  gatewayClient,
  gatewayServer,
  type LinkEnd,
  type NetworkLink,
  publicKey,
  type ToldNetworks,
} from "../../plan/networking/peering";
import type { PeeringSides } from "../../plan/peering";
import type { Cluster } from "../cluster/cluster";
import type { Pair } from "../cluster/pair";
import { CommandError } from "../failure";
import type { Run } from "../run";
import { type WaitResult, waitUntil } from "../wait";

/** A cluster with what it knows of the other end. */
interface End {
  cluster: Cluster;
  end: LinkEnd;
}

export interface NetworkEnds {
  /** Whose gateway calls. */
  client: End;
  /** Whose gateway waits to be called. */
  server: End;
}

/** Who is who, given where the server is to be. */
export function networkEnds(pair: Pair, sides: PeeringSides, serverAt: "Provider" | "Consumer"): NetworkEnds {
  const consumer = { cluster: pair.consumer, end: { side: sides.consumer, peer: pair.providerId } };
  const provider = { cluster: pair.provider, end: { side: sides.provider, peer: pair.consumerId } };
  return serverAt === "Provider"
    ? { client: consumer, server: provider }
    : { client: provider, server: consumer };
}

/** Connects the networks; every part that is there already is kept. */
export async function connect(
  run: Run,
  { client, server }: NetworkEnds,
  options: { link: NetworkLink; shareKeys: boolean; wait: boolean },
): Promise<void> {
  const { link } = options;
  const toldByClient = await readOwnNetworks(run, client.cluster);
  const toldByServer = await readOwnNetworks(run, server.cluster);
  await placeNetworks(run, client, toldByServer);
  await placeNetworks(run, server, toldByClient);
  if (await connectedTheOtherWay(run, { client, server })) return;

  const reachable = await serve(run, server, link);
  const callingKey = await call(run, client, link, reachable);
  if (options.shareKeys) {
    await accept(run, server, callingKey);
    await accept(run, client, reachable.publicKey);
  }
  if (options.wait) for (const end of [client, server]) await untilConnected(run, end);
}

/** What a cluster tells its peer of its networks. */
export function readOwnNetworks(run: Run, cluster: Cluster): Promise<ToldNetworks> {
  const { client, liqoNamespace: namespace } = cluster;
  const ref = { name: Name.externalCIDRNetwork, namespace };
  return run.progress.step(
    cluster.scope,
    "read the cluster's networks",
    async (waiting) => {
      const external = await waitUntil<string>(
        run,
        {
          waiting,
          next: `the controller manager says in the events of Network ${namespace}/${ref.name} what is wrong`,
        },
        async (): Promise<WaitResult<string>> => {
          const network = await client.get(Network, ref, run.call);
          if (network === undefined) {
            return {
              is: "refused",
              seen: `the cluster is installed without networking: Network ${namespace}/${ref.name} does not exist`,
              next: "give --networking-disabled to peer without it, or install with networking on both sides",
            };
          }
          const cidr = network.status?.cidr;
          return cidr
            ? { is: "met", value: cidr }
            : { is: "open", seen: `Network ${ref.name} has no range yet` };
        },
      );
      const pods = await client.list(
        Network,
        { labelSelector: `${Label.networkType}=${Name.podCIDRNetwork}` },
        run.call,
      );
      return {
        podCidrs: pods.map(({ spec, status }) => status?.cidr ?? spec.cidr).sort(),
        externalCidr: external,
      };
    },
    (told) => `networks: pods ${told.podCidrs.join(", ")}, external ${told.externalCidr}`,
  );
}

function placeNetworks(run: Run, { cluster, end }: End, told: ToldNetworks): Promise<unknown> {
  const manifest = configuration(end, told);
  const { name, namespace } = manifest.metadata;
  return run.progress.step(
    cluster.scope,
    `find places for the networks of ${end.peer}`,
    async (waiting) => {
      await cluster.ensure(run, Configuration, manifest);
      const next = `see the events of the Configuration: kubectl describe configuration ${name} -n ${namespace}`;
      return await waitUntil<string>(run, { waiting, next }, async () => {
        const found = await cluster.client.get(Configuration, manifest.metadata, run.call);
        const condition = found?.status?.conditions?.find(({ type }) => type === "NetworkCIDRsConfigured");
        const current = condition?.observedGeneration ?? found?.metadata.generation;
        if (condition?.status === "True" && current === found?.metadata.generation)
          return { is: "met", value: found?.status?.remote?.cidr?.pod?.join(", ") ?? "" };
        return {
          is: "open",
          seen: `${condition?.reason ?? "no condition yet"} ${condition?.message ?? ""}`.trim(),
        };
      });
    },
    (pods) => `pods of ${end.peer} are reached at ${String(pods)}`,
  );
}

/** Where the gateways already stand the other way round, they stay. */
async function connectedTheOtherWay(run: Run, { client, server }: NetworkEnds): Promise<boolean> {
  const labelled = ({ end }: End) => ({
    namespace: end.side.tenantNamespace,
    labelSelector: `${Label.remoteClusterID}=${end.peer}`,
  });
  const [servers, clients] = await Promise.all([
    client.cluster.client.list(GatewayServer, labelled(client), run.call),
    server.cluster.client.list(GatewayClient, labelled(server), run.call),
  ]);
  if (servers.length === 0 && clients.length === 0) return false;
  run.progress.warn(
    "global",
    `the clusters are connected the other way round already, with the server at ${client.end.side.clusterId}; that stays`,
  );
  return true;
}

interface Reachable {
  addresses: string[];
  port: number;
  publicKey: string;
}

async function serve(run: Run, { cluster, end }: End, link: NetworkLink): Promise<Reachable> {
  const manifest = gatewayServer(end, link, cluster.liqoNamespace);
  manifest.metadata.name = (await existing(run, cluster, GatewayServer, end)) ?? manifest.metadata.name;
  const { name, namespace } = manifest.metadata;
  const next = `see what keeps it: kubectl describe gatewayserver,wggatewayserver,service -n ${namespace}; a Service of type LoadBalancer needs a cluster that gives addresses, take --gw-server-service-type NodePort where there is none`;
  return await run.progress.step(
    cluster.scope,
    `start gateway server ${name}`,
    async (waiting) => {
      await cluster.ensure(run, GatewayServer, manifest);
      return await waitUntil<Reachable>(run, { waiting, next }, async () => {
        const found = await cluster.client.get(GatewayServer, manifest.metadata, run.call);
        const { addresses = [], port } = found?.status?.endpoint ?? {};
        if (found?.status?.serverRef === undefined) return open("nothing was made from its template yet");
        if (addresses.length === 0 || port === undefined) return open("its Service has no address yet");
        const key = await keyOf(run, cluster, found.status.secretRef, namespace ?? "");
        return key === undefined
          ? open("it has no keys yet")
          : { is: "met", value: { addresses, port, publicKey: key } };
      });
    },
    ({ addresses, port }) => `gateway server ${name} is at ${addresses.join(", ")}, port ${port}`,
  );
}

async function call(run: Run, { cluster, end }: End, link: NetworkLink, server: Reachable): Promise<string> {
  const manifest = gatewayClient(end, link, cluster.liqoNamespace, server);
  manifest.metadata.name = (await existing(run, cluster, GatewayClient, end)) ?? manifest.metadata.name;
  const { name, namespace } = manifest.metadata;
  const next = `see what keeps it: kubectl describe gatewayclient,wggatewayclient -n ${namespace}`;
  return await run.progress.step(
    cluster.scope,
    `start gateway client ${name}`,
    async (waiting) => {
      await cluster.ensure(run, GatewayClient, manifest);
      return await waitUntil<string>(run, { waiting, next }, async () => {
        const found = await cluster.client.get(GatewayClient, manifest.metadata, run.call);
        if (found?.status?.clientRef === undefined) return open("nothing was made from its template yet");
        const key = await keyOf(run, cluster, found.status.secretRef, namespace ?? "");
        return key === undefined ? open("it has no keys yet") : { is: "met", value: key };
      });
    },
    () => `gateway client ${name} has its keys`,
  );
}

function open(seen: string): { is: "open"; seen: string } {
  return { is: "open", seen };
}

/** The name of the gateway that is there for the peer: one made by hand may have another. */
async function existing<T extends KubeObject>(
  run: Run,
  { client }: Cluster,
  kind: Kind<T>,
  { side, peer }: LinkEnd,
): Promise<string | undefined> {
  const selection = { namespace: side.tenantNamespace, labelSelector: `${Label.remoteClusterID}=${peer}` };
  return (await client.list(kind, selection, run.call))[0]?.metadata.name;
}

async function keyOf(
  run: Run,
  { client }: Cluster,
  ref: { name?: string; namespace?: string } | undefined,
  gatewayNamespace: string,
): Promise<string | undefined> {
  if (ref?.name === undefined) return undefined;
  const secret = await client.get(
    Secret,
    { name: ref.name, namespace: ref.namespace ?? gatewayNamespace },
    run.call,
  );
  return secret?.data?.[DataKey.publicKey] || undefined;
}

function accept(run: Run, { cluster, end }: End, key: string): Promise<unknown> {
  return run.progress.step(
    cluster.scope,
    `accept the key of ${end.peer}`,
    () => cluster.ensure(run, PublicKey, publicKey(end, key)),
    ({ change }) =>
      change === "none" ? `key of ${end.peer} is accepted already` : `key of ${end.peer} accepted`,
  );
}

function untilConnected(run: Run, { cluster, end }: End): Promise<unknown> {
  const { tenantNamespace: namespace } = end.side;
  const next = `see that the client reaches the server's address and UDP port; the logs of the gateways say more: kubectl logs -n ${namespace} -l networking.liqo.io/component=gateway`;
  return run.progress.step(
    cluster.scope,
    `connect to ${end.peer}`,
    (waiting) =>
      waitUntil(run, { waiting, next }, async () => {
        const selection = { namespace, labelSelector: `${Label.remoteClusterID}=${end.peer}` };
        const [found, second] = await cluster.client.list(Connection, selection, run.call);
        if (second !== undefined)
          throw new CommandError(
            `namespace ${namespace} has several Connections for ${end.peer}`,
            "remove the gateways that are not meant to be there",
          );
        return found?.status?.value === "Connected"
          ? { is: "met", value: undefined }
          : open(
              found === undefined
                ? "there is no Connection yet"
                : `the Connection is ${found.status?.value ?? "new"}`,
            );
      }),
    () => `connected to ${end.peer}`,
  );
}

/** Removes the gateways of both ends. Absent ones are fine. */
export async function disconnect(run: Run, { client, server }: NetworkEnds): Promise<void> {
  for (const end of [client, server]) await removeAll(run, end, GatewayClient);
  for (const end of [client, server]) await removeAll(run, end, GatewayServer);
}

/** Removes the gateways and each end's knowledge of the other's networks. */
export async function reset(run: Run, ends: NetworkEnds): Promise<void> {
  await disconnect(run, ends);
  for (const end of [ends.client, ends.server]) await removeAll(run, end, Configuration);
}

function removeAll<T extends KubeObject>(run: Run, { cluster, end }: End, kind: Kind<T>): Promise<number> {
  const { client } = cluster;
  const selection = {
    namespace: end.side.tenantNamespace,
    labelSelector: `${Label.remoteClusterID}=${end.peer}`,
  };
  return run.progress.step(
    cluster.scope,
    `remove the ${kind.kind} for ${end.peer}`,
    async () => {
      const found = await client.list(kind, selection, run.call);
      for (const { metadata } of found)
        await client.delete(kind, metadata, { ...run.call, uid: metadata.uid ?? "" });
      return found.length;
    },
    (count) =>
      count === 0 ? `no ${kind.kind} for ${end.peer} is there` : `${kind.kind} for ${end.peer} removed`,
  );
}
