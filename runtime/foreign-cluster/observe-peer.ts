import { DataKey, type Deployment, gatewayObjectName, Label, type VirtualNode } from "../api";
import { KubeconfigError, parseKubeconfig } from "../identity";
import type { AuthenticationFacts } from "./authentication-module";
import type { PeerCaches } from "./caches";
import type { GatewayFacts, NetworkingFacts } from "./networking-module";
import type { VirtualNodeFacts } from "./offloading-module";
import type { PeerFacts } from "./status";

/** Reads what is known of a peer from the caches. */
export function observePeer(caches: PeerCaches, clusterId: string): Omit<PeerFacts, "apiServer"> {
  return {
    networking: networkingFacts(caches, clusterId),
    authentication: authenticationFacts(caches, clusterId),
    offloading: offloadingFacts(caches, clusterId),
  };
}

function networkingFacts(caches: PeerCaches, clusterId: string): NetworkingFacts | undefined {
  const { networking } = caches;
  if (networking === undefined) return undefined;
  const gateway = (found: { metadata: { name: string; namespace?: string } } | undefined) => {
    if (found === undefined) return undefined;
    const { name, namespace } = found.metadata;
    const deployment = networking.deployments.get(gatewayObjectName(name), namespace);
    const facts: GatewayFacts = { name };
    if (deployment !== undefined) {
      facts.deployment = {
        readyReplicas: deployment.status?.readyReplicas ?? 0,
        unavailableReplicas: deployment.status?.unavailableReplicas ?? 0,
      };
    }
    return facts;
  };
  const [connection] = caches.ofPeer(networking.connections, clusterId);
  return {
    configuration: caches.ofPeer(networking.configurations, clusterId).length > 0,
    server: gateway(caches.ofPeer(networking.servers, clusterId)[0]),
    client: gateway(caches.ofPeer(networking.clients, clusterId)[0]),
    ...(connection === undefined ? {} : { connection: connection.status?.value ?? "" }),
  };
}

function authenticationFacts(caches: PeerCaches, clusterId: string): AuthenticationFacts | undefined {
  const { authentication } = caches;
  if (authentication === undefined) return undefined;
  const [tenant] = caches.ofPeer(authentication.tenants, clusterId);
  const identity = caches
    .ofPeer(authentication.identities, clusterId)
    .find(({ spec }) => spec.type === "ControlPlane");
  const [secret] = caches
    .ofPeer(authentication.secrets, clusterId)
    .filter(({ metadata }) => !metadata.deletionTimestamp);
  return {
    ...(tenant === undefined
      ? {}
      : {
          tenant: {
            authzPolicy: tenant.spec.authzPolicy,
            hasAuthParams: tenant.status?.authParams !== undefined,
            tenantNamespace: tenant.status?.tenantNamespace,
          },
        }),
    ...(identity === undefined
      ? {}
      : {
          identity: {
            namespace: identity.metadata.namespace ?? "",
            remoteNamespace: identity.spec.namespace,
            apiServer: identity.spec.authParams?.apiServer,
            proxyUrl: identity.spec.authParams?.proxyURL,
            hasSecret: Boolean(identity.status?.kubeconfigSecretRef?.name),
          },
        }),
    ...(secret === undefined
      ? {}
      : {
          secret: {
            namespace: secret.metadata.namespace ?? "",
            remoteNamespace: secret.metadata.annotations?.["liqo.io/remote-tenant-namespace"],
            server: serverOf(secret.data?.[DataKey.kubeconfig]),
          },
        }),
  };
}

/** URL in a kubeconfig; undefined where there is none to be read. */
function serverOf(kubeconfig: string | undefined): string | undefined {
  try {
    return parseKubeconfig(Buffer.from(kubeconfig ?? "", "base64").toString("utf8")).server;
  } catch (error) {
    if (error instanceof KubeconfigError) return undefined;
    throw error;
  }
}

function offloadingFacts(caches: PeerCaches, clusterId: string): VirtualNodeFacts[] | undefined {
  const { offloading } = caches;
  if (offloading === undefined) return undefined;
  const [shared] = offloading.shared.list();
  const dedicated = offloading.dedicated.list();
  return caches.ofPeer(offloading.virtualNodes, clusterId).map((virtualNode) => {
    const { name } = virtualNode.metadata;
    const own = dedicated.find(
      ({ metadata }) =>
        metadata.labels?.[Label.virtualNode] === name &&
        metadata.namespace === virtualNode.metadata.namespace,
    );
    return {
      name,
      hosted: isHosted(virtualNode, own, shared),
      createNode: virtualNode.spec.createNode !== false,
      nodeReady:
        offloading.nodes
          .get(name)
          ?.status?.conditions?.some(({ type, status }) => type === "Ready" && status === "True") === true,
    };
  });
}

/**
 * Whether the process that hosts a virtual node is ready: all replicas of a Deployment of its own where there is one, else at least one
 * replica of the shared Deployment, since any of them takes over what another leaves. Where the process runs outside of the cluster there is
 * neither, and the VirtualNode's own condition counts.
 */
export function isHosted(
  virtualNode: VirtualNode,
  dedicated: Deployment | undefined,
  shared: Deployment | undefined,
): boolean {
  if (dedicated !== undefined) {
    const { replicas = 0, readyReplicas = 0 } = dedicated.status ?? {};
    return replicas > 0 && readyReplicas === replicas;
  }
  if (shared !== undefined) return (shared.status?.readyReplicas ?? 0) > 0;
  return virtualNode.status?.conditions?.find(({ type }) => type === "VirtualKubelet")?.status === "Running";
}
