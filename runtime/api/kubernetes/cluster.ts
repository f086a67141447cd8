/** The cluster itself, and what extends its API: namespaces, nodes, events, leases, definitions and webhook registrations. */
import type * as admissionregistration from "kubernetes-types/admissionregistration/v1";
import type * as apiextensions from "kubernetes-types/apiextensions/v1";
import type * as coordination from "kubernetes-types/coordination/v1";
import type * as core from "kubernetes-types/core/v1";
import type * as node from "kubernetes-types/node/v1";

import { builtIn, type BuiltIn } from "./built-in";

export type Namespace = BuiltIn<core.Namespace, "v1", "Namespace">;
export const Namespace = builtIn<Namespace>({
  apiVersion: "v1",
  kind: "Namespace",
  plural: "namespaces",
  namespaced: false,
});

export type Node = BuiltIn<core.Node, "v1", "Node", "spec">;
export const Node = builtIn<Node>({
  apiVersion: "v1",
  kind: "Node",
  plural: "nodes",
  namespaced: false,
  always: ["spec"],
});

export type Event = BuiltIn<core.Event, "v1", "Event">;
export const Event = builtIn<Event>({ apiVersion: "v1", kind: "Event", plural: "events", namespaced: true });

export type Lease = BuiltIn<coordination.Lease, "coordination.k8s.io/v1", "Lease", "spec">;
export const Lease = builtIn<Lease>({
  apiVersion: "coordination.k8s.io/v1",
  kind: "Lease",
  plural: "leases",
  namespaced: true,
  always: ["spec"],
});

export type RuntimeClass = BuiltIn<node.RuntimeClass, "node.k8s.io/v1", "RuntimeClass">;
export const RuntimeClass = builtIn<RuntimeClass>({
  apiVersion: "node.k8s.io/v1",
  kind: "RuntimeClass",
  plural: "runtimeclasses",
  namespaced: false,
});

/** `kubernetes-types` leaves the aggregation layer out; these are the fields that registering the metrics proxy takes. */
interface APIServiceSchema {
  spec: {
    group: string;
    version: string;
    groupPriorityMinimum: number;
    versionPriority: number;
    insecureSkipTLSVerify?: boolean;
    /** Base64 of a PEM bundle. */
    caBundle?: string;
    service?: { name: string; namespace: string; port?: number };
  };
  status?: {
    conditions?: {
      type: string;
      status: string;
      reason?: string;
      message?: string;
      lastTransitionTime?: string;
    }[];
  };
}

export type APIService = BuiltIn<APIServiceSchema, "apiregistration.k8s.io/v1", "APIService">;
export const APIService = builtIn<APIService>({
  apiVersion: "apiregistration.k8s.io/v1",
  kind: "APIService",
  plural: "apiservices",
  namespaced: false,
});

export type CustomResourceDefinition = BuiltIn<
  apiextensions.CustomResourceDefinition,
  "apiextensions.k8s.io/v1",
  "CustomResourceDefinition",
  "spec"
>;
export const CustomResourceDefinition = builtIn<CustomResourceDefinition>({
  apiVersion: "apiextensions.k8s.io/v1",
  kind: "CustomResourceDefinition",
  plural: "customresourcedefinitions",
  namespaced: false,
  always: ["spec"],
});

export type MutatingWebhookConfiguration = BuiltIn<
  admissionregistration.MutatingWebhookConfiguration,
  "admissionregistration.k8s.io/v1",
  "MutatingWebhookConfiguration"
>;
export const MutatingWebhookConfiguration = builtIn<MutatingWebhookConfiguration>({
  apiVersion: "admissionregistration.k8s.io/v1",
  kind: "MutatingWebhookConfiguration",
  plural: "mutatingwebhookconfigurations",
  namespaced: false,
});

export type ValidatingWebhookConfiguration = BuiltIn<
  admissionregistration.ValidatingWebhookConfiguration,
  "admissionregistration.k8s.io/v1",
  "ValidatingWebhookConfiguration"
>;
export const ValidatingWebhookConfiguration = builtIn<ValidatingWebhookConfiguration>({
  apiVersion: "admissionregistration.k8s.io/v1",
  kind: "ValidatingWebhookConfiguration",
  plural: "validatingwebhookconfigurations",
  namespaced: false,
});
