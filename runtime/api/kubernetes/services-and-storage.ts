/** What pods are reached by, configured with and store in: the groups `discovery`, `networking` and `storage`, and their kinds of the core group. */
import type * as core from "kubernetes-types/core/v1";
import type * as discovery from "kubernetes-types/discovery/v1";
import type * as networking from "kubernetes-types/networking/v1";
import type * as storage from "kubernetes-types/storage/v1";

import { builtIn, type BuiltIn } from "./built-in";

export type Service = BuiltIn<core.Service, "v1", "Service", "spec">;
export const Service = builtIn<Service>({
  apiVersion: "v1",
  kind: "Service",
  plural: "services",
  namespaced: true,
  always: ["spec"],
});

export type Endpoints = BuiltIn<core.Endpoints, "v1", "Endpoints">;
export const Endpoints = builtIn<Endpoints>({
  apiVersion: "v1",
  kind: "Endpoints",
  plural: "endpoints",
  namespaced: true,
});

export type EndpointSlice = BuiltIn<discovery.EndpointSlice, "discovery.k8s.io/v1", "EndpointSlice">;
export const EndpointSlice = builtIn<EndpointSlice>({
  apiVersion: "discovery.k8s.io/v1",
  kind: "EndpointSlice",
  plural: "endpointslices",
  namespaced: true,
});

export type Ingress = BuiltIn<networking.Ingress, "networking.k8s.io/v1", "Ingress", "spec">;
export const Ingress = builtIn<Ingress>({
  apiVersion: "networking.k8s.io/v1",
  kind: "Ingress",
  plural: "ingresses",
  namespaced: true,
  always: ["spec"],
});

export type ConfigMap = BuiltIn<core.ConfigMap, "v1", "ConfigMap">;
export const ConfigMap = builtIn<ConfigMap>({
  apiVersion: "v1",
  kind: "ConfigMap",
  plural: "configmaps",
  namespaced: true,
});

export type Secret = BuiltIn<core.Secret, "v1", "Secret">;
export const Secret = builtIn<Secret>({
  apiVersion: "v1",
  kind: "Secret",
  plural: "secrets",
  namespaced: true,
});

export type PersistentVolume = BuiltIn<core.PersistentVolume, "v1", "PersistentVolume", "spec">;
export const PersistentVolume = builtIn<PersistentVolume>({
  apiVersion: "v1",
  kind: "PersistentVolume",
  plural: "persistentvolumes",
  namespaced: false,
  always: ["spec"],
});

export type PersistentVolumeClaim = BuiltIn<
  core.PersistentVolumeClaim,
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

export type StorageClass = BuiltIn<storage.StorageClass, "storage.k8s.io/v1", "StorageClass">;
export const StorageClass = builtIn<StorageClass>({
  apiVersion: "storage.k8s.io/v1",
  kind: "StorageClass",
  plural: "storageclasses",
  namespaced: false,
});
