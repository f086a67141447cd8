import { Service } from "../../api/kubernetes";
import { isAllowed } from "./policy";
import type { ReflectedKind } from "./reflected-kind";
import { isHeadless, remoteServiceSpec } from "./service-content";

/** Services (offloading reference 10.1). Their status stays at the provider. */
export const serviceReflection: ReflectedKind<Service> = {
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
  absences: [
    "spec.allocateLoadBalancerNodePorts",
    "spec.externalName",
    "spec.externalTrafficPolicy",
    "spec.loadBalancerSourceRanges",
    "spec.publishNotReadyAddresses",
    "spec.selector",
  ],
  // The provider gives a Service its address, or none, once and for all.
  mustBeReplaced: (remote, { spec }) =>
    remote.spec.type !== "ExternalName" &&
    spec?.type !== "ExternalName" &&
    isHeadless(remote.spec) !== (spec?.clusterIP === "None"),
};
