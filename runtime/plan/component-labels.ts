import { WellKnownLabel } from "../api/keys";

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
