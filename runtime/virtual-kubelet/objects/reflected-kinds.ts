import type { ServicePort, ServiceSpec } from "kubernetes-types/core/v1";
import type { IngressSpec } from "kubernetes-types/networking/v1";

import { Annotation, Name, SecretType, WellKnownAnnotation } from "../../api/keys";
import { ConfigMap, Ingress, Secret, Service } from "../../api/kubernetes";
import type { KubeObject } from "../../api/meta";
import type { ReflectedResource } from "../../plan/reflected-resources";
import { projectSecret } from "../peer/projections";
import { isTokenSecret } from "../peer/token-secret";
import { defined, remoteRootCaName, without } from "../reflection/reflected-metadata";
import { explicitChoice, isAllowed, type ReflectedKind } from "./reflected-kind";

/** ConfigMaps (offloading reference 10.3). The root CA has another name there, so that remote pods trust this cluster's API server. */
function configMapReflection(consumerId: string): ReflectedKind<ConfigMap> {
  const remoteRootCa = remoteRootCaName(consumerId);
  return {
    kind: ConfigMap,
    remoteKind: ConfigMap,
    resource: "ConfigMap",
    workers: ({ flags }) => flags.configmapReflectionWorkers,
    remoteName: (name) => (name === Name.kubeRootCA ? remoteRootCa : name),
    localName: (name) => {
      if (name === remoteRootCa) return Name.kubeRootCA;
      return name === Name.kubeRootCA ? undefined : name; // the provider's own
    },
    keptAtHome: ({ metadata: { name, annotations } }, { flags }) => {
      if (name === Name.kubeRootCA) {
        // Pods need it, so only an explicit annotation keeps it at home.
        return explicitChoice(annotations) === false ? { why: "the current object" } : undefined;
      }
      const policy = flags.configmapReflectionType;
      return isAllowed(policy, annotations) ? undefined : { why: `the current object (policy: "${policy}")` };
    },
    desired: ({ apiVersion, kind, data, binaryData, immutable }, metadata) =>
      defined({ apiVersion, kind, metadata, data: data ?? {}, binaryData: binaryData ?? {}, immutable }),
    exact: ["data", "binaryData"],
    mustBeReplaced: (remote, desired) =>
      remote.immutable === true &&
      (desired.immutable !== true ||
        !sameMap(remote.data, desired.data) ||
        !sameMap(remote.binaryData, desired.binaryData)),
  };
}

function sameMap(
  a: { readonly [key: string]: unknown } = {},
  b: { readonly [key: string]: unknown } = {},
): boolean {
  const keys = Object.keys(a);
  return keys.length === Object.keys(b).length && keys.every((key) => a[key] === b[key]);
}

/** Secrets (offloading reference 10.3), without those that hold tokens of service accounts. */
const secretReflection: ReflectedKind<Secret> = {
  kind: Secret,
  remoteKind: Secret,
  resource: "Secret",
  workers: ({ flags }) => flags.secretReflectionWorkers,
  remoteName: (name) => name,
  localName: (name) => name,
  keptAtHome: ({ type, metadata: { annotations } }, { flags }) => {
    if (type === SecretType.serviceAccountToken) return { why: "secrets holding service account tokens" };
    const policy = flags.secretReflectionType;
    return isAllowed(policy, annotations) ? undefined : { why: `the current object (policy: "${policy}")` };
  },
  isAnothers: isTokenSecret,
  desired: ({ apiVersion, kind, data, type, immutable }, metadata) =>
    defined({ apiVersion, kind, metadata, data: data ?? {}, type, immutable }),
  exact: ["data"],
  mustBeReplaced: (remote, desired) =>
    remote.type !== desired.type ||
    (remote.immutable === true && (desired.immutable !== true || !sameMap(remote.data, desired.data))),
  projectRemote: projectSecret,
};

/** Services (offloading reference 10.1). Their status stays at the provider. */
const serviceReflection: ReflectedKind<Service> = {
  kind: Service,
  remoteKind: Service,
  resource: "Service",
  workers: ({ flags }) => flags.serviceReflectionWorkers,
  remoteName: (name) => name,
  localName: (name) => name,
  keptAtHome: ({ metadata: { name, namespace, annotations } }, { flags }) => {
    if (namespace === "default" && name === "kubernetes") return { why: "the API server's Service" };
    const policy = flags.serviceReflectionType;
    return isAllowed(policy, annotations) ? undefined : { why: `the current object (policy: "${policy}")` };
  },
  desired: (local, metadata, { loadBalancerClass }) => ({
    apiVersion: local.apiVersion,
    kind: local.kind,
    metadata,
    spec: remoteServiceSpec(local, { loadBalancerClass }),
  }),
  exact: ["spec.selector"],
  absent: {
    spec: [
      "allocateLoadBalancerNodePorts",
      "externalName",
      "externalTrafficPolicy",
      "loadBalancerSourceRanges",
      "publishNotReadyAddresses",
      "selector",
    ],
  },
  // Whether a Service has a cluster IP is immutable.
  mustBeReplaced: (remote, { spec }) =>
    remote.spec.type !== "ExternalName" &&
    spec?.type !== "ExternalName" &&
    isHeadless(remote.spec) !== (spec?.clusterIP === "None"),
};

/** What the remote Services of a virtual node differ by. */
export interface ServiceContext {
  /** Class of the provider's load balancers; absent where load balancers are not offered. */
  loadBalancerClass?: string;
}

/** The spec of a Service at the provider (offloading reference 10.1): what it allocates by itself is left to it. */
export function remoteServiceSpec(service: Service, { loadBalancerClass }: ServiceContext): ServiceSpec {
  const { spec } = service;
  const forceNodePort = service.metadata.annotations?.[Annotation.forceRemoteNodePort] === "true";
  return defined({
    type: spec.type,
    selector: spec.selector,
    ports: spec.ports?.map((port) => remotePort(port, forceNodePort)),
    externalName: spec.externalName,
    allocateLoadBalancerNodePorts: spec.allocateLoadBalancerNodePorts,
    externalTrafficPolicy: spec.externalTrafficPolicy,
    internalTrafficPolicy: spec.internalTrafficPolicy,
    ipFamilyPolicy: spec.ipFamilyPolicy,
    loadBalancerSourceRanges: spec.loadBalancerSourceRanges,
    publishNotReadyAddresses: spec.publishNotReadyAddresses,
    sessionAffinity: spec.sessionAffinity,
    clusterIP: spec.clusterIP === "None" ? "None" : undefined,
    loadBalancerClass: spec.type === "LoadBalancer" ? loadBalancerClass : undefined,
  });
}

function remotePort(port: ServicePort, forceNodePort: boolean): ServicePort {
  return defined({
    name: port.name,
    port: port.port,
    targetPort: port.targetPort,
    protocol: port.protocol,
    appProtocol: port.appProtocol,
    nodePort: forceNodePort ? port.nodePort : undefined,
  });
}

/** Whether a Service is, or is to be, without an address of its own. That never changes in place. */
function isHeadless(spec: ServiceSpec): boolean {
  return spec.clusterIP === "None";
}

/** Ingresses (offloading reference 10.2). Their status stays at the provider. */
const ingressReflection: ReflectedKind<Ingress> = {
  kind: Ingress,
  remoteKind: Ingress,
  resource: "Ingress",
  workers: ({ flags }) => flags.ingressReflectionWorkers,
  remoteName: (name) => name,
  localName: (name) => name,
  keptAtHome: ({ metadata: { annotations } }, { flags }) => {
    const policy = flags.ingressReflectionType;
    return isAllowed(policy, annotations) ? undefined : { why: `the current object (policy: "${policy}")` };
  },
  desired: (local, metadata, { ingressClass }) => ({
    apiVersion: local.apiVersion,
    kind: local.kind,
    metadata: { ...metadata, annotations: without(metadata.annotations, [WellKnownAnnotation.ingressClass]) },
    spec: remoteIngressSpec(local, { ingressClass }),
  }),
  exact: ["spec.defaultBackend", "spec.rules", "spec.tls"],
  absent: { spec: ["defaultBackend", "rules", "tls"] },
  mustBeReplaced: () => false,
};

/** What the remote Ingresses of a virtual node differ by. */
export interface IngressContext {
  /** Class of the provider's ingresses; absent where ingresses are not offered, so that its default applies. */
  ingressClass?: string;
}

/** The spec of an Ingress at the provider (offloading reference 10.2). */
export function remoteIngressSpec({ spec }: Ingress, { ingressClass }: IngressContext): IngressSpec {
  return defined({
    ingressClassName: ingressClass,
    defaultBackend: spec?.defaultBackend,
    rules: spec?.rules,
    tls: spec?.tls,
  });
}

/** Kinds that have controllers of their own, or are taken care of with the pods. */
type ReflectedElsewhere = "Pod" | "EndpointSlice" | "ServiceAccount" | "PersistentVolumeClaim" | "Event";

/** Reflects every kind of this file; the compiler asks for those of `REFLECTED_RESOURCES` that are missing. */
export function reflectKinds(
  consumerId: string,
  reflect: <T extends KubeObject>(reflected: ReflectedKind<T>) => void,
): void {
  const kinds: Record<Exclude<ReflectedResource, ReflectedElsewhere>, () => void> = {
    ConfigMap: () => reflect(configMapReflection(consumerId)),
    Secret: () => reflect(secretReflection),
    Service: () => reflect(serviceReflection),
    Ingress: () => reflect(ingressReflection),
  };
  for (const start of Object.values(kinds)) start();
}
