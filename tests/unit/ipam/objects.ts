/** Networks and IPs as they stand in a cluster, for the tests of this folder. */
import { Annotation, type IP, Label, type Network } from "../../../runtime/api";

export interface NetworkFacts {
  name: string;
  cidr: string;
  given?: string;
  namespace?: string;
  type?: string;
  pinned?: boolean;
  shared?: boolean;
  preAllocated?: number;
  preinstalled?: boolean;
  created?: string;
  finalizers?: string[];
  deleted?: boolean;
}

export function network(facts: NetworkFacts): Network {
  const { name, cidr, given, namespace = "liqo", type, pinned, shared, preAllocated } = facts;
  return {
    apiVersion: "ipam.liqo.io/v1alpha1",
    kind: "Network",
    metadata: {
      name,
      namespace,
      labels: {
        ...(type !== undefined && { [Label.networkType]: type }),
        ...(pinned === true && { [Label.networkNotRemapped]: "true" }),
        ...(shared === true && { [Label.networkShared]: "true" }),
      },
      ...(facts.preinstalled === true && { annotations: { [Annotation.preinstalled]: "true" } }),
      ...(facts.created !== undefined && { creationTimestamp: facts.created }),
      ...(facts.finalizers !== undefined && { finalizers: facts.finalizers }),
      ...(facts.deleted === true && { deletionTimestamp: "2026-05-04T12:00:00Z" }),
    },
    spec: { cidr, ...(preAllocated !== undefined && { preAllocated }) },
    ...(given !== undefined && { status: { cidr: given } }),
  };
}

export function ip(name: string, spec: IP["spec"], status?: IP["status"], namespace = "liqo"): IP {
  return {
    apiVersion: "ipam.liqo.io/v1alpha1",
    kind: "IP",
    metadata: { name, namespace },
    spec,
    ...(status !== undefined && { status }),
  };
}
