import type * as schema from "kubernetes-types/core/v1";

import { builtIn, type BuiltIn } from "./built-in";

export type Pod = BuiltIn<schema.Pod, "v1", "Pod", "spec">;
export const Pod = builtIn<Pod>({
  apiVersion: "v1",
  kind: "Pod",
  plural: "pods",
  namespaced: true,
  always: ["spec"],
});

export type Node = BuiltIn<schema.Node, "v1", "Node", "spec">;
export const Node = builtIn<Node>({
  apiVersion: "v1",
  kind: "Node",
  plural: "nodes",
  namespaced: false,
  always: ["spec"],
});

export type Namespace = BuiltIn<schema.Namespace, "v1", "Namespace">;
export const Namespace = builtIn<Namespace>({
  apiVersion: "v1",
  kind: "Namespace",
  plural: "namespaces",
  namespaced: false,
});

export type Secret = BuiltIn<schema.Secret, "v1", "Secret">;
export const Secret = builtIn<Secret>({
  apiVersion: "v1",
  kind: "Secret",
  plural: "secrets",
  namespaced: true,
});

export type ConfigMap = BuiltIn<schema.ConfigMap, "v1", "ConfigMap">;
export const ConfigMap = builtIn<ConfigMap>({
  apiVersion: "v1",
  kind: "ConfigMap",
  plural: "configmaps",
  namespaced: true,
});

export type Service = BuiltIn<schema.Service, "v1", "Service", "spec">;
export const Service = builtIn<Service>({
  apiVersion: "v1",
  kind: "Service",
  plural: "services",
  namespaced: true,
  always: ["spec"],
});

export type ServiceAccount = BuiltIn<schema.ServiceAccount, "v1", "ServiceAccount">;
export const ServiceAccount = builtIn<ServiceAccount>({
  apiVersion: "v1",
  kind: "ServiceAccount",
  plural: "serviceaccounts",
  namespaced: true,
});

export type Event = BuiltIn<schema.Event, "v1", "Event">;
export const Event = builtIn<Event>({ apiVersion: "v1", kind: "Event", plural: "events", namespaced: true });

export type PersistentVolume = BuiltIn<schema.PersistentVolume, "v1", "PersistentVolume", "spec">;
export const PersistentVolume = builtIn<PersistentVolume>({
  apiVersion: "v1",
  kind: "PersistentVolume",
  plural: "persistentvolumes",
  namespaced: false,
  always: ["spec"],
});

export type PersistentVolumeClaim = BuiltIn<
  schema.PersistentVolumeClaim,
  "v1",
  "PersistentVolumeClaim",
  "spec"
>;
export const PersistentVolumeClaim = builtIn<PersistentVolumeClaim>({
  apiVersion: "v1",
  kind: "PersistentVolumeClaim",
  plural: "persistentvolumeclaims",
  namespaced: true,
  always: ["spec"],
});

export type Endpoints = BuiltIn<schema.Endpoints, "v1", "Endpoints">;
export const Endpoints = builtIn<Endpoints>({
  apiVersion: "v1",
  kind: "Endpoints",
  plural: "endpoints",
  namespaced: true,
});
