import type * as schema from "kubernetes-types/storage/v1";

import { builtIn, type BuiltIn } from "./built-in";

export type StorageClass = BuiltIn<schema.StorageClass, "storage.k8s.io/v1", "StorageClass">;
export const StorageClass = builtIn<StorageClass>({
  apiVersion: "storage.k8s.io/v1",
  kind: "StorageClass",
  plural: "storageclasses",
  namespaced: false,
});
