import type { OwnerReference } from "../../api";

/** An IP that a controller wants to exist. */
export interface WantedIP {
  apiVersion: "ipam.liqo.io/v1alpha1";
  kind: "IP";
  metadata: {
    name: string;
    namespace: string;
    labels?: Record<string, string>;
    annotations?: Record<string, string>;
    ownerReferences?: OwnerReference[];
  };
  spec: { ip: string; masquerade?: boolean };
}

export function wantedIP(metadata: WantedIP["metadata"], spec: WantedIP["spec"]): WantedIP {
  return { apiVersion: "ipam.liqo.io/v1alpha1", kind: "IP", metadata, spec };
}
