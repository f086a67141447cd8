import { EndpointSlice, Service } from "../../../../runtime/api/kubernetes";
import {
  keyOf,
  refOfKey,
  runController,
  Terminal,
  watches,
  type Controller,
  type ControllerContext,
  type InformerSet,
  type KubeClient,
} from "../../../../runtime/kube";
import type { AddressAnnouncer } from "./address-announcer";
import { decideAddress, decideNode } from "./load-balancer-plan";

export interface LoadBalancerSettings {
  client: KubeClient;
  informers: InformerSet;
  announcer: AddressAnnouncer;
  /** Addresses to give out. */
  pool: readonly string[];
  nodeNames: readonly string[];
}

const serviceLabel = "kubernetes.io/service-name";

/** Gives services of type LoadBalancer an address of the pool and lets a node answer for it. */
export function runLoadBalancerController(
  settings: LoadBalancerSettings,
  context: ControllerContext,
): Controller {
  const { client, announcer, pool, nodeNames } = settings;
  const services = settings.informers.informer(Service);
  const slices = settings.informers.informer(EndpointSlice, { labelSelector: serviceLabel });
  slices.addIndex("service", (slice) => [serviceKeyOf(slice)]);
  /** What was written and may not be in the cache yet. */
  const assigned = new Map<string, string>();

  return runController(
    {
      name: "load-balancer",
      // One at a time: each takes from the same pool.
      workers: 1,
      sources: [watches(services), watches(slices, { keys: (slice) => [serviceKeyOf(slice)] })],
      async reconcile(key) {
        const ref = refOfKey(key);
        const service = services.get(ref.name, ref.namespace);
        if (service === undefined) return release(key);
        const others = services.list().filter((other) => keyOf(other) !== key);
        const taken = new Set([
          ...others.flatMap(
            (other) => other.status?.loadBalancer?.ingress?.flatMap(({ ip }) => ip ?? []) ?? [],
          ),
          ...[...assigned].flatMap(([holder, address]) => (holder === key ? [] : [address])),
        ]);
        const decision = decideAddress(service, pool, taken);
        if ("exhausted" in decision) {
          throw new Terminal(
            "NoAddress",
            `all ${pool.length} addresses for services of type LoadBalancer are in use; delete some services`,
          );
        }
        if (decision.address === undefined) {
          if (decision.write) await writeStatus(service, []);
          return release(key);
        }
        assigned.set(key, decision.address);
        const endpoints = slices
          .byIndex("service", key)
          .flatMap(({ endpoints: list }) => list ?? [])
          .map(({ nodeName, conditions }) => ({ nodeName, ready: conditions?.ready !== false }));
        const node = decideNode(service, nodeNames, endpoints, announcer.nodeOf(decision.address));
        await announcer.place(decision.address, node);
        if (decision.write) await writeStatus(service, [{ ip: decision.address }]);
      },
      objectOf: (key) => services.get(refOfKey(key).name, refOfKey(key).namespace),
    },
    context,
  );

  async function release(key: string): Promise<void> {
    assigned.delete(key);
    const used = new Set([
      ...assigned.values(),
      ...services
        .list()
        .flatMap((service) => service.status?.loadBalancer?.ingress?.flatMap(({ ip }) => ip ?? []) ?? []),
    ]);
    for (const address of announcer.addresses())
      if (!used.has(address)) await announcer.place(address, undefined);
  }

  async function writeStatus(service: Service, ingress: { ip: string }[]): Promise<void> {
    await client.patch(
      Service,
      {
        name: service.metadata.name,
        ...(service.metadata.namespace && { namespace: service.metadata.namespace }),
      },
      { metadata: { uid: service.metadata.uid }, status: { loadBalancer: { ingress } } },
      { type: "merge", subresource: "status" },
    );
  }
}

function serviceKeyOf(slice: EndpointSlice): string {
  return `${slice.metadata.namespace ?? ""}/${slice.metadata.labels?.[serviceLabel] ?? ""}`;
}
