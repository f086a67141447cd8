import type * as schema from "kubernetes-types/apiextensions/v1";

import { builtIn, type BuiltIn } from "./built-in";

export type CustomResourceDefinition = BuiltIn<
  schema.CustomResourceDefinition,
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
