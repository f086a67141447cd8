import {
  EndpointSlice,
  EventReason,
  Finalizer,
  IP,
  type Kind,
  type KubeObject,
  Label,
  Service,
  WellKnownLabel,
} from "../api";
import {
  controlledBy,
  type Controller,
  hasFinalizer,
  isDeleting,
  keyOf,
  type Outcome,
  ownedBy,
  patchStatusIfChanged,
  type ReconcileRun,
  runController,
  Terminal,
  watches,
  withGlobalMetadata,
  withoutFinalizer,
  writeIfChanged,
} from "../kube";
import { formatAddress, formatCidr, parseCidr, sameCidr } from "./cidr";
import { ipClaimOf, isPreinstalled } from "./claims";
import { AllocationError, type IPClaim } from "./ipam";
import { type IpamContext, MANAGED_BY_IP } from "./ipam-context";
import { peerIPFaults } from "./peer-ip-faults";

/** An IP that waits for this long says so, in milliseconds. */
const PATIENCE_MS = 20_000;

/**
 * Gives every IP an address of its network, and the Service that it asks for (networking reference 8). Decided in memory first, and kept as long
 * as the IP exists, like the ranges of Networks.
 */
export function runIPController(context: IpamContext): Controller {
  const { runtime, caches, own } = context;
  const { ips, networks, services, endpointSlices, tenantNamespaces, configurations } = caches;
  const ofTenants = () =>
    ips
      .list()
      .filter(({ metadata }) => caches.tenantOf(metadata.namespace) !== undefined)
      .map(keyOf);
  return runController(
    {
      name: "ip",
      sources: [
        watches(ips),
        watches(networks, {
          keys: (network) =>
            ips
              .list()
              .filter((ip) => caches.networkOf(ip) === network || !ip.status?.ip)
              .map(keyOf),
        }),
        // An address has become free, which an IP of a full network may have waited for.
        watches(ips, {
          keys: () =>
            ips
              .list()
              .filter(({ status }) => !status?.ip)
              .map(keyOf),
          when: ({ type }) => type === "deleted",
        }),
        // What peers may name depends on what is the cluster's own, and on where the networks of others are.
        ...own.changes(ofTenants),
        watches(configurations, { keys: ofTenants }),
        watches(tenantNamespaces, {
          keys: ({ metadata }) =>
            ips
              .list()
              .filter((ip) => ip.metadata.namespace === metadata.name)
              .map(keyOf),
        }),
        watches(services, { keys: ownedBy("IP") }),
        watches(endpointSlices, { keys: ownedBy("IP") }),
      ],
      objectOf: (key) => ips.getByKey(key),
      reconcile: (key, run) => new Reconciliation(context, run).of(key),
    },
    runtime,
  );
}

class Reconciliation {
  constructor(
    private readonly context: IpamContext,
    private readonly run: ReconcileRun,
  ) {}

  async of(key: string): Promise<Outcome> {
    const { caches, runtime } = this.context;
    const ip = caches.ips.getByKey(key);
    if (ip === undefined) return;
    if (isDeleting(ip)) {
      if (!hasFinalizer(ip, Finalizer.ip)) return;
      await this.remove(ip);
      await withoutFinalizer(runtime.client, IP, ip, Finalizer.ip);
      return;
    }
    const faults = this.faultsOf(ip);
    if (faults.length > 0) {
      await this.withhold(ip);
      throw new Terminal(EventReason.addressRefused, faults.join("; "));
    }
    const claim = this.decide(ip);
    if (claim === "moved") {
      // Its network has another range by now. What stands in the status may be removed, but not replaced.
      await patchStatusIfChanged(runtime.client, IP, ip, { ip: null, cidr: null });
      return;
    }
    if (claim === "waiting") return this.tellWaiting(ip);
    await this.writeClaim(ip, claim);
    await this.ensureService(ip);
  }

  /** Admission says the same; this is for IPs that were there before, and for what has become the cluster's own since. */
  private faultsOf(ip: IP): string[] {
    const { caches, own } = this.context;
    const peer = caches.tenantOf(ip.metadata.namespace);
    if (peer === undefined) return [];
    return peerIPFaults(ip, {
      peer,
      own: own.list(),
      networks: caches.networks.list(),
      configurations: caches.configurations.list(),
    });
  }

  /** Without an address for peers the translations of gateways and nodes go as well. */
  private async withhold(ip: IP): Promise<void> {
    const { runtime, ipam } = this.context;
    ipam.releaseIP(keyOf(ip));
    if (ip.status?.ip) await patchStatusIfChanged(runtime.client, IP, ip, { ip: null, cidr: null });
    await this.remove(ip);
  }

  /** The address that the IP has, or a new one. */
  private decide(ip: IP): IPClaim | "waiting" | "moved" {
    const { caches, ipam } = this.context;
    const network = caches.networkOf(ip);
    const cidr = network?.status?.cidr ? parseCidr(network.status.cidr) : undefined;
    try {
      const given = ipClaimOf(ip);
      if (given !== undefined) {
        if (cidr !== undefined && !sameCidr(cidr, given.cidr)) {
          ipam.releaseIP(keyOf(ip));
          return "moved";
        }
        ipam.adoptIP(keyOf(ip), given);
        return given;
      }
      if (cidr === undefined) {
        const waitsFor = network === undefined ? "its network to exist" : `a range for ${keyOf(network)}`;
        this.run.log.info("IP waits", { waitsFor });
        return "waiting";
      }
      return { cidr, address: ipam.acquireIP(keyOf(ip), cidr) };
    } catch (error) {
      if (!(error instanceof AllocationError)) throw error;
      throw new Terminal(error.reason, error.message, { cause: error });
    }
  }

  /** A new IP gets no event: its network may be created together with it. */
  private tellWaiting(ip: IP): Outcome {
    const { clock, events } = this.context.runtime;
    const left = Date.parse(ip.metadata.creationTimestamp ?? "") + PATIENCE_MS - clock.now();
    if (left > 0) return { requeueAfterMs: left };
    const { networkRef } = ip.spec;
    const network = networkRef?.name
      ? `Network ${networkRef.namespace ?? ""}/${networkRef.name}`
      : "the installation's external network";
    const message = `no address yet: ${network} is not there, or has no range; make it, or see its events`;
    events.warning(ip, EventReason.networkNotReady, message);
    return undefined;
  }

  private async writeClaim(ip: IP, { address, cidr }: IPClaim): Promise<void> {
    const { client } = this.context.runtime;
    const { apiVersion, kind, metadata } = ip;
    const network = this.context.caches.networkOf(ip);
    const labels = network && {
      [Label.ipNetworkNamespace]: network.metadata.namespace ?? "",
      [Label.ipNetworkName]: network.metadata.name,
    };
    const { name, namespace, finalizers = [] } = metadata;
    const holds = isPreinstalled(ip) || finalizers.includes(Finalizer.ip);
    const held = await writeIfChanged(
      client,
      IP,
      {
        apiVersion,
        kind,
        metadata: { name, namespace, labels, finalizers: holds ? finalizers : [...finalizers, Finalizer.ip] },
      },
      ip,
    );
    const status = { ip: formatAddress(address), cidr: formatCidr(cidr) };
    await patchStatusIfChanged(client, IP, held.object, status);
  }

  private async ensureService(ip: IP): Promise<void> {
    const desired = serviceOf(ip);
    if (desired === undefined) return await this.remove(ip);
    const { runtime, options, caches } = this.context;
    const { name, namespace } = ip.metadata;
    await writeIfChanged(
      runtime.client,
      Service,
      withGlobalMetadata(desired.service, options.global),
      caches.services.get(name, namespace),
    );
    await writeIfChanged(
      runtime.client,
      EndpointSlice,
      withGlobalMetadata(desired.endpointSlice, options.global),
      caches.endpointSlices.get(name, namespace),
      { exact: ["endpoints", "ports"] },
    );
  }

  private async remove(ip: IP): Promise<void> {
    const { services, endpointSlices } = this.context.caches;
    await this.removeOwn(Service, ip, services.get(ip.metadata.name, ip.metadata.namespace));
    await this.removeOwn(EndpointSlice, ip, endpointSlices.get(ip.metadata.name, ip.metadata.namespace));
  }

  private async removeOwn<T extends KubeObject>(kind: Kind<T>, ip: IP, object: T | undefined): Promise<void> {
    if (object === undefined || isDeleting(object)) return;
    if (!ownedBy("IP")(object).includes(keyOf(ip))) return;
    await this.context.runtime.client.delete(kind, object.metadata, { uid: object.metadata.uid });
  }
}

/** Keeps Kubernetes' own controllers away from the slice. */
const SLICE_MANAGER = "ip.ipam.liqo.io";

/** The Service that an IP asks for, and the EndpointSlice that gives it the address; undefined where it asks for none (networking reference 8). */
function serviceOf(ip: IP): { service: Service; endpointSlice: EndpointSlice } | undefined {
  const { serviceTemplate } = ip.spec;
  if (serviceTemplate?.spec === undefined) return undefined;
  const { name, namespace } = ip.metadata;
  const labels = { ...serviceTemplate.metadata?.labels, [Label.managedBy]: MANAGED_BY_IP };
  const metadata = { name, namespace, ownerReferences: [controlledBy(ip)] };
  return {
    service: {
      apiVersion: "v1",
      kind: "Service",
      metadata: { ...metadata, labels, annotations: { ...serviceTemplate.metadata?.annotations } },
      spec: serviceTemplate.spec,
    },
    endpointSlice: {
      apiVersion: "discovery.k8s.io/v1",
      kind: "EndpointSlice",
      metadata: {
        ...metadata,
        labels: {
          [Label.managedBy]: MANAGED_BY_IP,
          [WellKnownLabel.serviceName]: name,
          [WellKnownLabel.endpointSliceManagedBy]: SLICE_MANAGER,
        },
      },
      addressType: "IPv4",
      endpoints: [{ addresses: [ip.spec.ip], conditions: { ready: true } }],
      // The address is reached at the port that the Service shows; a target port would be one of pods.
      ports: (serviceTemplate.spec.ports ?? []).map(({ name: portName, port, protocol, appProtocol }) => ({
        name: portName ?? "",
        port,
        protocol: protocol ?? "TCP",
        ...(appProtocol !== undefined && { appProtocol }),
      })),
    },
  };
}
