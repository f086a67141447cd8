import { WellKnownAnnotation } from "../../api/keys";
import { Ingress } from "../../api/kubernetes";
import { without } from "./reflected-metadata";
import { remoteIngressSpec } from "./ingress-content";
import { isAllowed } from "./policy";
import type { ReflectedKind } from "./reflected-kind";

/** Ingresses (offloading reference 10.2). Their status stays at the provider. */
export const ingressReflection: ReflectedKind<Ingress> = {
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
  absences: ["spec.defaultBackend", "spec.rules", "spec.tls"],
  mustBeReplaced: () => false,
};
