import { createHash } from "node:crypto";

import {
  DataKey,
  type Deployment,
  type Desired,
  gatewayObjectName,
  type KubeObject,
  Label,
  LabelValue,
  type OwnerReference,
  type Secret,
  type Service,
  type ServiceAccount,
  type WgGatewayClient,
  type WgGatewayServer,
} from "../../api";
import type { WireGuardKeyPair } from "../../identity";
import { controlledBy, controllerOf } from "../../kube";
import { labelValue } from "../labels";

export type WgGateway = WgGatewayServer | WgGatewayClient;

/** Names the volume of a gateway's pod that holds its keys. */
const KEYS_VOLUME = "wireguard-config";

/** On everything that is made for a gateway. */
export function gatewayLabels({ metadata }: KubeObject): Record<string, string> {
  return {
    [Label.gatewayName]: labelValue(metadata.name),
    [Label.gatewayNamespace]: labelValue(metadata.namespace ?? ""),
  };
}

/** The account that the gateway's pods run as; the one that every namespace has where the template names none. */
export function serviceAccountName(gateway: WgGateway): string {
  return gateway.spec.deployment.spec?.template.spec?.serviceAccountName || "default";
}

export function gatewayServiceAccount(gateway: WgGateway): Desired<ServiceAccount> {
  return {
    apiVersion: "v1",
    kind: "ServiceAccount",
    metadata: {
      name: serviceAccountName(gateway),
      namespace: gateway.metadata.namespace,
      labels: gatewayLabels(gateway),
      ownerReferences: [controlledBy(gateway)],
    },
  };
}

/** The Secret with the gateway's keys: the one that it names, else its own. */
export function keySecretOf({ metadata, spec }: WgGateway): { name: string; isOwn: boolean } {
  const name = spec.secretRef?.name;
  return name ? { name, isOwn: false } : { name: gatewayObjectName(metadata.name), isOwn: true };
}

/**
 * The Secret of a gateway that has none. It belongs to the GatewayServer or GatewayClient, so that new objects from another template have the same
 * keys, and peers need not be told (networking reference 9.4).
 */
export function keySecret(gateway: WgGateway, peer: string, keys: WireGuardKeyPair): Desired<Secret> {
  return {
    apiVersion: "v1",
    kind: "Secret",
    metadata: {
      name: keySecretOf(gateway).name,
      namespace: gateway.metadata.namespace,
      labels: { [Label.remoteClusterID]: peer, [Label.gatewayResource]: LabelValue.true },
      ownerReferences: [plainOwner(gateway)],
    },
    data: { [DataKey.privateKey]: keys.privateKey, [DataKey.publicKey]: keys.publicKey },
  };
}

function plainOwner(gateway: WgGateway): OwnerReference {
  const { apiVersion, kind, name, uid } = controllerOf(gateway) ?? controlledBy(gateway);
  return { apiVersion, kind, name, uid };
}

/** The Deployment that the template says, with the gateway's name on its pods and its keys in them. */
export function gatewayDeployment(gateway: WgGateway): Desired<Deployment> {
  const { metadata, spec } = gateway.spec.deployment;
  const template = spec?.template;
  const podLabels = { ...gatewayLabels(gateway), [Label.networkingComponent]: LabelValue.gateway };
  const filled = {
    ...spec,
    template: {
      ...template,
      metadata: { ...template?.metadata, labels: { ...template?.metadata?.labels, ...podLabels } },
      spec: {
        ...template?.spec,
        ...(template?.spec?.volumes && {
          volumes: template.spec.volumes.map((volume) =>
            volume.name === KEYS_VOLUME
              ? { name: volume.name, secret: { ...volume.secret, secretName: keySecretOf(gateway).name } }
              : volume,
          ),
        }),
      },
    },
  };
  return {
    apiVersion: "apps/v1",
    kind: "Deployment",
    metadata: withTemplateHash(workloadMetadata(gateway, metadata), filled),
    spec: filled,
  };
}

/** The Service that peers reach a server at. */
export function gatewayService(server: WgGatewayServer): Desired<Service> {
  const { metadata, spec = {} } = server.spec.service;
  return {
    apiVersion: "v1",
    kind: "Service",
    metadata: withTemplateHash(workloadMetadata(server, metadata), spec),
    spec,
  };
}

type TemplateMetadata = WgGatewayServer["spec"]["service"]["metadata"];

function workloadMetadata(gateway: WgGateway, metadata: TemplateMetadata) {
  return {
    name: gatewayObjectName(gateway.metadata.name),
    namespace: gateway.metadata.namespace,
    labels: { ...metadata?.labels, ...gatewayLabels(gateway) },
    annotations: { ...metadata?.annotations },
    ownerReferences: [controlledBy(gateway)],
  };
}

/** Says what an object was made from. */
const TEMPLATE_HASH = "networking.liqo.io/template-hash";

interface Metadata {
  labels?: Record<string, string>;
  annotations?: Record<string, string>;
}

/** Metadata with the hash of what an object is made from. */
export function withTemplateHash<M extends Metadata>(metadata: M, spec: unknown): M {
  const content = JSON.stringify([metadata.labels, metadata.annotations, spec]);
  const hash = createHash("sha256").update(content).digest("hex").slice(0, 16);
  return { ...metadata, annotations: { ...metadata.annotations, [TEMPLATE_HASH]: hash } };
}

/**
 * Whether an object was made from the present template. One that was not loses what the template no longer has; in one that was, what is there beyond
 * the template are defaults of the API server's.
 */
export function isMadeFrom(desired: { metadata: Metadata }, observed: KubeObject | undefined): boolean {
  return observed?.metadata.annotations?.[TEMPLATE_HASH] === desired.metadata.annotations?.[TEMPLATE_HASH];
}
