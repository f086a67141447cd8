import { builtIn, type BuiltIn } from "./built-in";

/** `kubernetes-types` leaves the aggregation layer out; these are the fields that registering the metrics proxy takes. */
interface APIServiceSchema {
  spec: {
    group: string;
    version: string;
    groupPriorityMinimum: number;
    versionPriority: number;
    insecureSkipTLSVerify?: boolean;
    /** Base64 of a PEM bundle. */
    caBundle?: string;
    service?: { name: string; namespace: string; port?: number };
  };
  status?: {
    conditions?: {
      type: string;
      status: string;
      reason?: string;
      message?: string;
      lastTransitionTime?: string;
    }[];
  };
}

export type APIService = BuiltIn<APIServiceSchema, "apiregistration.k8s.io/v1", "APIService">;
export const APIService = builtIn<APIService>({
  apiVersion: "apiregistration.k8s.io/v1",
  kind: "APIService",
  plural: "apiservices",
  namespaced: false,
});
