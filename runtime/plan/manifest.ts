import type { DeepPartial, KubeObject } from "../api/meta";

/** Metadata that a planner decides; everything else belongs to the API server. */
export interface ManifestMeta {
  name: string;
  /** Absent on cluster-scoped objects. */
  namespace?: string;
  labels?: Record<string, string>;
  annotations?: Record<string, string>;
}

/** An object as a planner writes it: ready to be applied. */
export interface Manifest {
  apiVersion: string;
  kind: string;
  metadata: ManifestMeta;
}

/** A manifest whose fields are checked against the kind's type. */
export type ManifestOf<T extends KubeObject> = {
  apiVersion: T["apiVersion"];
  kind: T["kind"];
  metadata: ManifestMeta;
} & { [Key in Exclude<keyof T, "apiVersion" | "kind" | "metadata" | "status">]?: DeepPartial<T[Key]> };
