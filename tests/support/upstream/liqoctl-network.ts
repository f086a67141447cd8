/** `network connect` and `network reset` of upstream's liqoctl at the side of the gateway server, as the peering user (control plane reference 17.8). */
import assert from "node:assert/strict";

import { generateWireGuardKeyPair } from "../../../runtime/identity";
import { until } from "../until";
import { type GoClient, sorts, type Wire } from "./go-client";
import { at, type Provider, tenantNamespaceOf } from "./liqoctl";

const PEER = "liqo.io/remote-cluster-id";

export interface Ranges {
  pod: string[];
  external: string[];
}

/** Tells the provider of the consumer's networks; returns the consumer's as the provider maps them. */
export async function configure(
  user: GoClient,
  { liqoNamespace }: Provider,
  own: string,
  cidr: Ranges,
): Promise<unknown> {
  for (const type of ["pod-cidr", "external-cidr"]) {
    const selector = `ipam.liqo.io/network-type=${type}`;
    const [name = assert.fail(`no Network ${type}`)] = await user.list(
      sorts.network,
      liqoNamespace,
      selector,
    );
    const network = await user.get(sorts.network, { name, namespace: liqoNamespace });
    assert.notEqual(at(network, "status", "cidr"), undefined);
  }
  const ref = { name: own, namespace: tenantNamespaceOf(own) };
  const spec = { remote: { cidr } };
  const labels = { [PEER]: own };
  if ((await user.find(sorts.configuration, ref)) === undefined)
    await user.create({ ...sorts.configuration, metadata: { ...ref, labels }, spec });
  else
    // The controllers' half of the spec stays.
    await user.edit(sorts.configuration, ref, (read) => ({
      ...read,
      metadata: { ...read.metadata, labels: { ...read.metadata.labels, ...labels } },
      spec: { local: at(read, "spec", "local"), ...spec },
    }));
  return await until("the networks are configured", async () => {
    const read = await user.get(sorts.configuration, ref);
    const [condition] = conditionsOf(read, "NetworkCIDRsConfigured");
    const settled =
      at(condition, "status") === "True" && at(condition, "observedGeneration") === read.metadata.generation;
    return settled && at(read, "status", "remote", "cidr");
  });
}

/** Makes the gateway server; returns when it has what the client needs. */
export async function serve(
  user: GoClient,
  { liqoNamespace }: Provider,
  own: string,
  whenServed: () => Promise<void>,
): Promise<{ addresses: unknown; port: unknown; publicKey: string }> {
  const namespace = tenantNamespaceOf(own);
  const ref = { name: own, namespace };
  const template = { name: "wireguard-server", namespace: liqoNamespace };
  await user.get(sorts.serverTemplate, template);
  await user.list(sorts.gatewayServer, namespace, `${PEER}=${own}`);
  await user.create({
    ...sorts.gatewayServer,
    metadata: { ...ref, labels: { [PEER]: own } },
    spec: {
      mtu: 1340,
      endpoint: { port: 51840, serviceType: "LoadBalancer" },
      serverTemplateRef: { ...sorts.serverTemplate, ...template },
      secretRef: {},
    },
  });
  const workload = { name: `gw-${own}`, namespace };
  await until("the gateway's Deployment", () => user.find(sorts.deployment, workload));
  await until("the gateway's Service", () => user.find(sorts.service, workload));
  await whenServed();
  const server = await until("the gateway's endpoint", async () => {
    const read = await user.get(sorts.gatewayServer, ref);
    return at(read, "status", "endpoint", "addresses") !== undefined && read;
  });
  const secretRef = await until("the gateway's keys", async () =>
    at(await user.get(sorts.gatewayServer, ref), "status", "secretRef", "name"),
  );
  const secret = await user.get(sorts.secret, { name: String(secretRef), namespace });
  return {
    addresses: at(server, "status", "endpoint", "addresses"),
    port: at(server, "status", "endpoint", "port"),
    publicKey: String(at(secret, "data", "publicKey")),
  };
}

/** Gives the server the public key of the client, and looks for the Connection that comes of it. */
export async function shareKey(user: GoClient, own: string): Promise<void> {
  const ref = { name: own, namespace: tenantNamespaceOf(own) };
  const { metadata } = await user.get(sorts.gatewayServer, ref);
  const owner = { ...sorts.gatewayServer, name: own, uid: metadata.uid };
  await user.create({
    ...sorts.publicKey,
    metadata: {
      ...ref,
      labels: { [PEER]: own, "networking.liqo.io/gateway-resource": "true" },
      ownerReferences: [{ ...owner, controller: true, blockOwnerDeletion: true }],
    },
    spec: { publicKey: generateWireGuardKeyPair().publicKey },
  });
  await user.list(sorts.connection, ref.namespace, `${PEER}=${own}`);
}

/** Disconnects and takes the networks back; of what is not there nothing is said. */
export async function reset(user: GoClient, own: string): Promise<void> {
  const ref = { name: own, namespace: tenantNamespaceOf(own) };
  await user.delete(sorts.publicKey, ref);
  for (const sort of [sorts.gatewayServer, sorts.configuration]) {
    await user.delete(sort, ref);
    await user.gone(sort, ref);
  }
}

/** An IP of the user's own: made, relabelled, removed. */
export async function publish(user: GoClient, own: string, ip: string): Promise<void> {
  const ref = { name: "shop", namespace: tenantNamespaceOf(own) };
  await user.create({ ...sorts.ip, metadata: ref, spec: { ip } });
  await until("its address", async () => at(await user.get(sorts.ip, ref), "status", "ip"));
  await user.edit(sorts.ip, ref, (read) => ({
    ...read,
    metadata: { ...read.metadata, labels: { ...read.metadata.labels, app: "shop" } },
  }));
  await user.delete(sorts.ip, ref);
  await user.gone(sorts.ip, ref);
}

export function conditionsOf(object: Wire, type?: string): unknown[] {
  const conditions = at(object, "status", "conditions");
  if (!Array.isArray(conditions)) return [];
  return conditions.filter((each: unknown) => type === undefined || at(each, "type") === type);
}
