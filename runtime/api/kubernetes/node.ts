import type * as schema from "kubernetes-types/node/v1";

import { builtIn, type BuiltIn } from "./built-in";

export type RuntimeClass = BuiltIn<schema.RuntimeClass, "node.k8s.io/v1", "RuntimeClass">;
export const RuntimeClass = builtIn<RuntimeClass>({
  apiVersion: "node.k8s.io/v1",
  kind: "RuntimeClass",
  plural: "runtimeclasses",
  namespaced: false,
});
