import type { ServicePort, ServiceSpec } from "kubernetes-types/core/v1";

import { Annotation } from "../../api/keys";
import type { Service } from "../../api/kubernetes";
import { defined } from "../pods/defined";

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
export function isHeadless(spec: ServiceSpec): boolean {
  return spec.clusterIP === "None";
}
