import type * as schema from "kubernetes-types/discovery/v1";

import { builtIn, type BuiltIn } from "./built-in";

export type EndpointSlice = BuiltIn<schema.EndpointSlice, "discovery.k8s.io/v1", "EndpointSlice">;
export const EndpointSlice = builtIn<EndpointSlice>({
  apiVersion: "discovery.k8s.io/v1",
  kind: "EndpointSlice",
  plural: "endpointslices",
  namespaced: true,
});
