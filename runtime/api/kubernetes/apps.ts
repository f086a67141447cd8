import type * as schema from "kubernetes-types/apps/v1";

import { builtIn, type BuiltIn } from "./built-in";

export type Deployment = BuiltIn<schema.Deployment, "apps/v1", "Deployment", "spec">;
export const Deployment = builtIn<Deployment>({
  apiVersion: "apps/v1",
  kind: "Deployment",
  plural: "deployments",
  namespaced: true,
  always: ["spec"],
});

export type DaemonSet = BuiltIn<schema.DaemonSet, "apps/v1", "DaemonSet", "spec">;
export const DaemonSet = builtIn<DaemonSet>({
  apiVersion: "apps/v1",
  kind: "DaemonSet",
  plural: "daemonsets",
  namespaced: true,
  always: ["spec"],
});

export type StatefulSet = BuiltIn<schema.StatefulSet, "apps/v1", "StatefulSet", "spec">;
export const StatefulSet = builtIn<StatefulSet>({
  apiVersion: "apps/v1",
  kind: "StatefulSet",
  plural: "statefulsets",
  namespaced: true,
  always: ["spec"],
});

export type ReplicaSet = BuiltIn<schema.ReplicaSet, "apps/v1", "ReplicaSet", "spec">;
export const ReplicaSet = builtIn<ReplicaSet>({
  apiVersion: "apps/v1",
  kind: "ReplicaSet",
  plural: "replicasets",
  namespaced: true,
  always: ["spec"],
});
