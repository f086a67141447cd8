import {
  ClusterRoleBinding,
  DataKey,
  Deployment,
  type Desired,
  Finalizer,
  type Kind,
  type KubeObject,
  Label,
  LabelValue,
  RoleBinding,
  Secret,
  Service,
  ServiceAccount,
  WgGatewayClient,
  WgGatewayServer,
} from "../../api";
import {
  type ApiError,
  type Controller,
  controllerOf,
  isDeleting,
  isRefusal,
  keyOf,
  patchStatusIfChanged,
  refOfKey,
  runController,
  Terminal,
  watches,
  withFinalizer,
  withGlobalMetadata,
  withoutFinalizer,
  writeIfChanged,
} from "../../kube";
import { generateWireGuardKeyPair } from "../../identity";
import { labelValue, peerOf } from "../labels";
import type { NetworkingContext } from "../networking-context";
import type { GatewayCaches } from "../caches";
import { gatewayNode, internalEndpoint, serverEndpoint } from "./gateway-endpoint";
import { type BoundRights, gatewayRights, obsoleteRights } from "./gateway-rights";
import {
  gatewayDeployment,
  gatewayService,
  gatewayServiceAccount,
  keySecret,
  isMadeFrom,
  keySecretOf,
  serviceAccountName,
  type WgGateway,
} from "./gateway-workload";

/**
 * Runs each WireGuard gateway: its account, keys, Service and Deployment, and says where it can be reached (networking reference 9.3). What is
 * to run comes first, so that a wrong image, or a Service that somebody deleted, is put right before any pod runs.
 */
export function runWireGuardController(networking: NetworkingContext, gateways: GatewayCaches): Controller {
  const { runtime, caches } = networking;
  const { wgServers, wgClients } = gateways;
  const keyFor = (gateway: WgGateway) => `${gateway.kind} ${keyOf(gateway)}`;
  const all = () => [...wgServers.list(), ...wgClients.list()];
  const gatewayOf = (key: string): WgGateway | undefined => {
    const [kind, ref = ""] = key.split(" ");
    const { name, namespace } = refOfKey(ref);
    return kind === "WgGatewayServer" ? wgServers.get(name, namespace) : wgClients.get(name, namespace);
  };
  const ofLabels = (object: KubeObject) =>
    all()
      .filter((gateway) => isFor(gateway, object))
      .map(keyFor);
  const usersOf = (secret: Secret) =>
    all()
      .filter((gateway) => keyOf(secret) === `${gateway.metadata.namespace}/${keySecretOf(gateway).name}`)
      .map(keyFor);
  return runController(
    {
      name: "wireguard-gateway",
      sources: [
        watches(wgServers, { keys: (gateway) => [keyFor(gateway)] }),
        watches(wgClients, { keys: (gateway) => [keyFor(gateway)] }),
        watches(gateways.deployments, { keys: ofLabels }),
        watches(gateways.services, { keys: ofLabels }),
        watches(gateways.serviceAccounts, { keys: ofLabels }),
        watches(gateways.clusterRoleBindings, { keys: ofLabels }),
        watches(gateways.roleBindings, { keys: ofLabels }),
        watches(gateways.keys, { keys: usersOf }),
        watches(caches.pods, { keys: ofLabels }),
        watches(caches.nodes, { keys: () => wgServers.list().map(keyFor) }),
      ],
      objectOf: gatewayOf,
      reconcile: async (key) => {
        const gateway = gatewayOf(key);
        if (gateway !== undefined) await new Reconciliation(networking, gateways).of(gateway);
      },
    },
    runtime,
  );
}

/** Whether an object was made for a gateway. */
function isFor(gateway: WgGateway, { metadata }: KubeObject): boolean {
  return (
    metadata.labels?.[Label.gatewayName] === labelValue(gateway.metadata.name) &&
    metadata.labels[Label.gatewayNamespace] === labelValue(gateway.metadata.namespace ?? "")
  );
}

class Reconciliation {
  constructor(
    private readonly networking: NetworkingContext,
    private readonly gateways: GatewayCaches,
  ) {}

  async of(gateway: WgGateway): Promise<void> {
    const { client } = this.networking.runtime;
    if (isDeleting(gateway)) {
      await this.removeRoleBindings(this.boundTo(gateway));
      if (gateway.kind === "WgGatewayServer") {
        await withoutFinalizer(client, WgGatewayServer, gateway, Finalizer.gatewayClusterRoleBinding);
      } else await withoutFinalizer(client, WgGatewayClient, gateway, Finalizer.gatewayClusterRoleBinding);
      return;
    }
    const held =
      gateway.kind === "WgGatewayServer"
        ? await withFinalizer(client, WgGatewayServer, gateway, Finalizer.gatewayClusterRoleBinding)
        : await withFinalizer(client, WgGatewayClient, gateway, Finalizer.gatewayClusterRoleBinding);
    await this.ensureAccount(held);
    const secretName = await this.ensureKeys(held);
    await this.ensureWorkload(held);
    await this.writeStatus(held, secretName);
  }

  private async ensureAccount(gateway: WgGateway): Promise<void> {
    const { serviceAccounts, clusterRoleBindings, roleBindings } = this.gateways;
    const name = serviceAccountName(gateway);
    if (name !== "default") {
      const observed = serviceAccounts.get(name, gateway.metadata.namespace);
      await this.write(ServiceAccount, gatewayServiceAccount(gateway), observed);
    }
    const rights = gatewayRights(gateway, this.networking.options);
    for (const desired of rights.roleBindings) {
      const { name, namespace } = desired.metadata;
      await this.write(RoleBinding, desired, roleBindings.get(name, namespace));
    }
    const { clusterRoleBinding } = rights;
    const observed = clusterRoleBindings.get(clusterRoleBinding.metadata.name);
    await this.write(ClusterRoleBinding, clusterRoleBinding, observed);
    // After the new ones, so that a gateway that runs can always go on.
    await this.removeRoleBindings(obsoleteRights(this.boundTo(gateway), rights));
  }

  private boundTo(gateway: WgGateway): BoundRights {
    const { clusterRoleBindings, roleBindings } = this.gateways;
    return {
      roleBindings: roleBindings.list().filter((binding) => isFor(gateway, binding)),
      clusterRoleBindings: clusterRoleBindings.list().filter((binding) => isFor(gateway, binding)),
    };
  }

  /** Makes the keys of a gateway that has none; returns the name of their Secret. */
  private async ensureKeys(gateway: WgGateway): Promise<string> {
    const { client } = this.networking.runtime;
    const { name, isOwn } = keySecretOf(gateway);
    const { namespace } = gateway.metadata;
    const peer = peerOf(gateway);
    // One without its labels is not in the cache, and must not be taken for absent: keys are never made a second time.
    const secret = this.gateways.keys.get(name, namespace) ?? (await client.get(Secret, { name, namespace }));
    if (secret === undefined) {
      if (isOwn) {
        await this.write(Secret, keySecret(gateway, peer, generateWireGuardKeyPair()), undefined);
        return name;
      }
      throw new Terminal(
        "KeysMissing",
        `spec.secretRef names Secret ${namespace}/${name}, which does not exist; make it, with ${DataKey.privateKey} and ${DataKey.publicKey}`,
      );
    }
    const missing = [DataKey.privateKey, DataKey.publicKey].filter((key) => secret.data?.[key] === undefined);
    if (missing.length > 0) {
      throw new Terminal(
        "KeysMissing",
        `Secret ${namespace}/${name} has no ${missing.join(" and no ")}; add 32 bytes`,
      );
    }
    const labelled = secret.metadata.labels?.[Label.remoteClusterID];
    if (labelled !== undefined && labelled !== peer) {
      throw new Terminal(
        "KeysOfAnotherPeer",
        `Secret ${namespace}/${name} is labelled for ${labelled}, and the gateway is for ${peer}; use another Secret`,
      );
    }
    const labels = { [Label.remoteClusterID]: peer, [Label.gatewayResource]: LabelValue.true };
    await writeIfChanged(
      client,
      Secret,
      { apiVersion: "v1", kind: "Secret", metadata: { name, namespace, labels } },
      secret,
    );
    return name;
  }

  private async ensureWorkload(gateway: WgGateway): Promise<void> {
    const { deployments, services } = this.gateways;
    const { namespace } = gateway.metadata;
    if (gateway.kind === "WgGatewayServer") {
      const desired = gatewayService(gateway);
      const observed = services.get(desired.metadata.name ?? "", namespace);
      // What else is in a Service is given by the cluster, and may not be taken away.
      const exact = ["spec.selector", "metadata.labels", "metadata.annotations"];
      const absent = { spec: ["loadBalancerIP", "loadBalancerSourceRanges", "externalIPs"] };
      await this.write(Service, desired, observed, exact, absent).catch((error: unknown) => {
        // Tried again all the same: a node port that is taken may become free.
        if (isRefusal(error)) this.tellRefused(gateway, error);
        throw error;
      });
    }
    const desired = gatewayDeployment(gateway);
    const observed = deployments.get(desired.metadata.name ?? "", namespace);
    await this.write(Deployment, desired, observed, ["spec", "metadata.labels", "metadata.annotations"]);
  }

  /** On the GatewayServer, where its user looks. */
  private tellRefused(gateway: WgGateway, error: ApiError): void {
    const { runtime, caches } = this.networking;
    const owner = controllerOf(gateway);
    const server =
      owner?.kind === "GatewayServer"
        ? caches.servers.get(owner.name, gateway.metadata.namespace)
        : undefined;
    runtime.events.warning(
      server ?? gateway,
      "ServiceRefused",
      `the API server refuses the gateway's Service; change spec.endpoint or the template: ${error.message}`,
    );
  }

  private async writeStatus(gateway: WgGateway, secretName: string): Promise<void> {
    const { runtime, caches } = this.networking;
    const { name, namespace } = gateway.metadata;
    const secretRef = { apiVersion: "v1", kind: "Secret", name: secretName, namespace };
    // A pod in another namespace is not ours, even with our labels.
    const pods = caches.pods
      .list()
      .filter((pod) => pod.metadata.namespace === namespace && isFor(gateway, pod));
    const internal = internalEndpoint(pods);
    if (gateway.kind === "WgGatewayClient") {
      await patchStatusIfChanged(runtime.client, WgGatewayClient, gateway, {
        secretRef,
        internalEndpoint: internal ?? null,
      });
      return;
    }
    const service = this.gateways.services.get(gatewayService(gateway).metadata.name ?? name, namespace);
    const told = gateway.status?.endpoint;
    // A server keeps its address while its pod moves.
    const endpoint = serverEndpoint(service, gatewayNode(pods), caches.nodes.list(), told) ?? told;
    await patchStatusIfChanged(runtime.client, WgGatewayServer, gateway, {
      secretRef,
      endpoint: endpoint ?? null,
      internalEndpoint: internal ?? null,
    });
  }

  private async removeRoleBindings({ roleBindings, clusterRoleBindings }: BoundRights): Promise<void> {
    const { client } = this.networking.runtime;
    for (const { metadata } of clusterRoleBindings)
      await client.delete(ClusterRoleBinding, metadata, { uid: metadata.uid });
    for (const { metadata } of roleBindings)
      await client.delete(RoleBinding, metadata, { uid: metadata.uid });
  }

  /**
   * Writes what differs.
   *
   * @param exact paths that are the template's alone; looked at when the object was made from another one
   */
  private async write<T extends KubeObject>(
    kind: Kind<T>,
    desired: Desired<T> & { metadata: { name?: string } },
    observed: T | undefined,
    exact: string[] = [],
    absent: Record<string, string[]> = {},
  ): Promise<void> {
    const { runtime, options } = this.networking;
    await writeIfChanged(runtime.client, kind, withGlobalMetadata(desired, options.global), observed, {
      exact: isMadeFrom(desired, observed) ? [] : exact,
      ...(isMadeFrom(desired, observed) ? {} : { absent }),
      lock: "never",
    });
  }
}
