import type {
  Container,
  EnvVar,
  HostAlias,
  PodSpec,
  Volume,
  VolumeProjection,
} from "kubernetes-types/core/v1";

import { Annotation, Name } from "../../api/keys";
import { tokenKey, tokenSecretName } from "../peer/token-secret";
import { remoteRootCaName } from "../reflection/reflected-metadata";
import { type ApiServerMode, apiServerMode } from "../tokens/pod-tokens";

/** How pods of a virtual node reach the consumer's API server. */
export interface HomeApiServer {
  host: string;
  port: string;
  /** Addresses at which the provider reaches it; the provider translates them. None when the host resolves by itself. */
  addresses: readonly string[];
}

/** What a virtual node offers its pods: the consumer's API server, or nothing. */
export type ApiServerOffer = HomeApiServer | "disabled";

/** The service names that stand for the API server inside pods. */
export const HOME_API_SERVER_HOST = "kubernetes.default";
const HOME_API_SERVER_HOSTNAMES = [HOME_API_SERVER_HOST, "kubernetes.default.svc"];

interface PodIdentity {
  name: string;
  annotations?: Record<string, string>;
  /** As in the local spec; the default account when empty. */
  serviceAccountName?: string;
}

/** The parts of a remote pod's spec that depend on the API server it talks to. */
export type ApiServerParts = Pick<
  PodSpec,
  | "automountServiceAccountToken"
  | "containers"
  | "hostAliases"
  | "initContainers"
  | "serviceAccountName"
  | "volumes"
>;

/** Adapts the parts of a spec that concern the API server: tokens, its CA, its address, the service account. */
export function withApiServer(
  spec: ApiServerParts,
  pod: PodIdentity,
  offer: ApiServerOffer,
  consumerId: string,
): ApiServerParts {
  const mode = apiServerMode(pod.annotations, offer !== "disabled");
  if (mode === "Remote") {
    return {
      ...spec,
      automountServiceAccountToken: true,
      serviceAccountName:
        pod.annotations?.[Annotation.remoteServiceAccountName] || pod.serviceAccountName || "default",
    };
  }
  const adapted: ApiServerParts = {
    ...spec,
    automountServiceAccountToken: false,
    volumes: spec.volumes?.map((volume) => withHomeSources(volume, mode, pod.name, consumerId)),
  };
  if (mode === "Disabled" || offer === "disabled") return adapted;

  const env = apiServerEnv(offer);
  const account = pod.serviceAccountName || "default";
  adapted.containers = spec.containers.map((container) => withEnv(container, env, account));
  adapted.initContainers = spec.initContainers?.map((container) => withEnv(container, env, account));
  if (offer.addresses.length > 0) {
    adapted.hostAliases = [...(spec.hostAliases ?? []), ...offer.addresses.map(hostAlias)];
  }
  return adapted;
}

function hostAlias(ip: string): HostAlias {
  return { ip, hostnames: [...HOME_API_SERVER_HOSTNAMES] };
}

function apiServerEnv({ host, port }: HomeApiServer): EnvVar[] {
  const url = `tcp://${host}:${port}`;
  return [
    { name: "KUBERNETES_SERVICE_HOST", value: host },
    { name: "KUBERNETES_SERVICE_PORT", value: port },
    { name: "KUBERNETES_PORT", value: url },
    { name: `KUBERNETES_PORT_${port}_TCP`, value: url },
    { name: `KUBERNETES_PORT_${port}_TCP_PROTO`, value: "tcp" },
    { name: `KUBERNETES_PORT_${port}_TCP_ADDR`, value: host },
    { name: `KUBERNETES_PORT_${port}_TCP_PORT`, value: port },
  ];
}

/** The account's name is a literal there, because the remote pod runs as another account. */
function withEnv(container: Container, env: readonly EnvVar[], serviceAccountName: string): Container {
  const own = (container.env ?? []).map((variable) =>
    variable.valueFrom?.fieldRef?.fieldPath === "spec.serviceAccountName"
      ? { name: variable.name, value: serviceAccountName }
      : variable,
  );
  return { ...container, env: [...own, ...env] };
}

function withHomeSources(
  volume: Volume,
  mode: Exclude<ApiServerMode, "Remote">,
  podName: string,
  consumerId: string,
): Volume {
  if (volume.projected === undefined) return volume;
  const sources = (volume.projected.sources ?? []).flatMap((source) =>
    homeSource(source, volume.name, mode, podName, consumerId),
  );
  return { ...volume, projected: { ...volume.projected, sources } };
}

function homeSource(
  source: VolumeProjection,
  volumeName: string,
  mode: Exclude<ApiServerMode, "Remote">,
  podName: string,
  consumerId: string,
): VolumeProjection[] {
  if (source.configMap?.name === Name.kubeRootCA) {
    return [{ ...source, configMap: { ...source.configMap, name: remoteRootCaName(consumerId) } }];
  }
  const token = source.serviceAccountToken;
  if (token === undefined) return [source];
  if (mode === "Disabled") return [];
  const item = { key: tokenKey(volumeName, token.path), path: token.path };
  return [{ secret: { name: tokenSecretName(podName), items: [item] } }];
}
