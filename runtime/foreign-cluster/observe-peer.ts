import { Annotation, DataKey, gatewayObjectName, type VirtualNode, virtualKubeletName } from "../api";
import { KubeconfigError, parseKubeconfig } from "../identity";
import type { AuthenticationFacts } from "./authentication-module";
import type { PeerCaches } from "./peer-caches";
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
  const [secret] = caches.controlPlaneSecrets(clusterId);
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
            remoteNamespace: secret.metadata.annotations?.[Annotation.remoteTenantNamespace],
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
  return caches.ofPeer(offloading.virtualNodes, clusterId).map((virtualNode) => {
    const { name } = virtualNode.metadata;
    return {
      name,
      hosted: isHosted(virtualNode, offloading),
      createNode: virtualNode.spec.createNode !== false,
      nodeReady:
        offloading.nodes
          .get(name)
          ?.status?.conditions?.some(({ type, status }) => type === "Ready" && status === "True") === true,
    };
  });
}

/**
 * Whether the process that hosts a virtual node is ready: at least one replica of its own Deployment, or of the one that hosts all of them, since
 * any replica takes over what another leaves. Where all are hosted by a process outside of the cluster, the VirtualNode's own condition counts.
 */
function isHosted(
  { metadata, status }: VirtualNode,
  { virtualKubelets, perNode }: NonNullable<PeerCaches["offloading"]>,
): boolean {
  const deployment = perNode
    ? virtualKubelets.get(virtualKubeletName(metadata.name), metadata.namespace)
    : virtualKubelets.list()[0];
  if (deployment === undefined && !perNode)
    return status?.conditions?.find(({ type }) => type === "VirtualKubelet")?.status === "Running";
  return (deployment?.status?.readyReplicas ?? 0) > 0;
}
