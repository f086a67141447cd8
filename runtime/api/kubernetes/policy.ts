import type * as schema from "kubernetes-types/policy/v1";

import { builtIn, posted, type BuiltIn, type Posted } from "./built-in";

export type PodDisruptionBudget = BuiltIn<
  schema.PodDisruptionBudget,
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

export type Eviction = Posted<schema.Eviction, "policy/v1", "Eviction">;
export const Eviction = posted<Eviction>({
  apiVersion: "policy/v1",
  kind: "Eviction",
  plural: "eviction",
  namespaced: true,
});
