import { WellKnownLabel } from "../api/keys";
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

/** Says of an object that this package made it, in `app.kubernetes.io/managed-by`. */
export const MANAGED_BY = "pulumi-liqo";

/** Modules of the runtime, as `app.kubernetes.io/component` names them. */
export type Module =
  | "controller-manager"
  | "virtual-kubelet"
  | "webhook"
  | "authentication"
  | "offloading"
  | "networking"
  | "core"
  | "remote-controlplane"
  | "peering-user";

/**
 * Labels of an object of an installation (control plane reference 15.1). Look-ups rely on the name, partly with the component.
 *
 * @param name what the object is for, such as `controller-manager`
 * @param module which part of the runtime it belongs to
 */
export function componentLabels(name: string, module: Module): Record<string, string> {
  return {
    [WellKnownLabel.appName]: name,
    [WellKnownLabel.appInstance]: `liqo-${name}`,
    [WellKnownLabel.appComponent]: module,
    [WellKnownLabel.appPartOf]: "liqo",
    [WellKnownLabel.appManagedBy]: MANAGED_BY,
  };
}

/** The part of {@link componentLabels} that never changes, for selectors. */
export function selectorLabels(name: string): Record<string, string> {
  return { [WellKnownLabel.appName]: name, [WellKnownLabel.appInstance]: `liqo-${name}` };
}
