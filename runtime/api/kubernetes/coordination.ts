import type * as schema from "kubernetes-types/coordination/v1";

import { builtIn, type BuiltIn } from "./built-in";

export type Lease = BuiltIn<schema.Lease, "coordination.k8s.io/v1", "Lease", "spec">;
export const Lease = builtIn<Lease>({
  apiVersion: "coordination.k8s.io/v1",
  kind: "Lease",
  plural: "leases",
  namespaced: true,
  always: ["spec"],
});
