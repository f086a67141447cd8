import type * as schema from "kubernetes-types/networking/v1";

import { builtIn, type BuiltIn } from "./built-in";

export type Ingress = BuiltIn<schema.Ingress, "networking.k8s.io/v1", "Ingress", "spec">;
export const Ingress = builtIn<Ingress>({
  apiVersion: "networking.k8s.io/v1",
  kind: "Ingress",
  plural: "ingresses",
  namespaced: true,
  always: ["spec"],
});

export type IngressClass = BuiltIn<schema.IngressClass, "networking.k8s.io/v1", "IngressClass", "spec">;
export const IngressClass = builtIn<IngressClass>({
  apiVersion: "networking.k8s.io/v1",
  kind: "IngressClass",
  plural: "ingressclasses",
  namespaced: false,
  always: ["spec"],
});
