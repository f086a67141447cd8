/** What the samples of all groups are made with. */
import type { KubeObject } from "../../../runtime/api/meta";

export interface Manifest extends KubeObject {
  spec?: unknown;
  status?: unknown;
}

export const TIME = "2026-05-04T12:00:00Z";
export const CA = "LS0tLS1CRUdJTiBDRVJUSUZJQ0FURS0tLS0tCg==";
export const KEY = "pOCSkrZRwni5dyxWn1+puxPZBrRqtoyd+dwrRAn4ogk=";

export function manifest(
  group: string,
  kind: string,
  name: string,
  fields: object,
  namespace?: string,
): Manifest {
  const version = group === "ipam.liqo.io" ? "v1alpha1" : "v1beta1";
  return {
    apiVersion: `${group}/${version}`,
    kind,
    metadata: { name, ...(namespace !== undefined && { namespace }) },
    ...fields,
  };
}

export const transition = { lastTransitionTime: TIME, reason: "Because", message: "it is so" };
