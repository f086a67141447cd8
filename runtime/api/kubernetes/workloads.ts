/** Workloads and their disruption: the groups `apps`, `batch` and `policy`, and pods. */
import type * as apps from "kubernetes-types/apps/v1";
import type * as batch from "kubernetes-types/batch/v1";
import type * as core from "kubernetes-types/core/v1";
import type * as policy from "kubernetes-types/policy/v1";

import { builtIn, type BuiltIn, posted, type Posted } from "./built-in";

export type Pod = BuiltIn<core.Pod, "v1", "Pod", "spec">;
export const Pod = builtIn<Pod>({
  apiVersion: "v1",
  kind: "Pod",
  plural: "pods",
  namespaced: true,
  always: ["spec"],
});

export type ReplicaSet = BuiltIn<apps.ReplicaSet, "apps/v1", "ReplicaSet", "spec">;
export const ReplicaSet = builtIn<ReplicaSet>({
  apiVersion: "apps/v1",
  kind: "ReplicaSet",
  plural: "replicasets",
  namespaced: true,
  always: ["spec"],
});

export type Deployment = BuiltIn<apps.Deployment, "apps/v1", "Deployment", "spec">;
export const Deployment = builtIn<Deployment>({
  apiVersion: "apps/v1",
  kind: "Deployment",
  plural: "deployments",
  namespaced: true,
  always: ["spec"],
});

export type DaemonSet = BuiltIn<apps.DaemonSet, "apps/v1", "DaemonSet", "spec">;
export const DaemonSet = builtIn<DaemonSet>({
  apiVersion: "apps/v1",
  kind: "DaemonSet",
  plural: "daemonsets",
  namespaced: true,
  always: ["spec"],
});

export type Job = BuiltIn<batch.Job, "batch/v1", "Job", "spec">;
export const Job = builtIn<Job>({
  apiVersion: "batch/v1",
  kind: "Job",
  plural: "jobs",
  namespaced: true,
  always: ["spec"],
});

export type PodDisruptionBudget = BuiltIn<
  policy.PodDisruptionBudget,
  "policy/v1",
  "PodDisruptionBudget",
  "spec"
>;
export const PodDisruptionBudget = builtIn<PodDisruptionBudget>({
  apiVersion: "policy/v1",
  kind: "PodDisruptionBudget",
  plural: "poddisruptionbudgets",
  namespaced: true,
  always: ["spec"],
});

export type Eviction = Posted<policy.Eviction, "policy/v1", "Eviction">;
export const Eviction = posted<Eviction>({
  apiVersion: "policy/v1",
  kind: "Eviction",
  plural: "eviction",
  namespaced: true,
});
