import type * as schema from "kubernetes-types/batch/v1";

import { builtIn, type BuiltIn } from "./built-in";

export type Job = BuiltIn<schema.Job, "batch/v1", "Job", "spec">;
export const Job = builtIn<Job>({
  apiVersion: "batch/v1",
  kind: "Job",
  plural: "jobs",
  namespaced: true,
  always: ["spec"],
});
