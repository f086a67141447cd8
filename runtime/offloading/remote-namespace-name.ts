import { defaultRemoteNamespaceName } from "../api";

interface NamespaceMapping {
  namespaceMappingStrategy?: string;
  /** Used with `SelectedName` only. */
  remoteNamespaceName?: string;
}

/**
 * Name of the provider's namespace for a namespace of the consumer. A strategy that is not known counts as `DefaultName`.
 *
 * @throws Error when the strategy is `SelectedName` and no name is given
 * @see offloading reference 4.1
 */
export function remoteNamespaceName(namespace: string, mapping: NamespaceMapping, consumer: string): string {
  switch (mapping.namespaceMappingStrategy) {
    case "EnforceSameName":
      return namespace;
    case "SelectedName":
      if (mapping.remoteNamespaceName) return mapping.remoteNamespaceName;
      throw new Error(
        `spec.remoteNamespaceName is empty, and the strategy SelectedName needs it; delete the NamespaceOffloading and create it with a name`,
      );
    default:
      return defaultRemoteNamespaceName(namespace, consumer);
  }
}

/** Every cluster has them from the start, so that no provider can make them for a consumer. */
const EVERYWHERE = ["default", "kube-node-lease", "kube-public", "kube-system"];

/** Whether a namespace of this name is at every provider already, as Kubernetes' own. */
export function isKubernetesNamespace(name: string): boolean {
  return EVERYWHERE.includes(name);
}

const NAMESPACE = /^[a-z0-9]([-a-z0-9]*[a-z0-9])?$/;

/**
 * What keeps a name from being a remote namespace's, with the way out; undefined when nothing does. Long namespaces with long cluster IDs pass
 * the 63 characters that a namespace may have.
 */
export function invalidRemoteNamespaceName(name: string): string | undefined {
  if (name.length > 63) {
    return `the remote namespace would be named ${JSON.stringify(name)}, which has ${name.length} characters, and a namespace may have 63: use the strategy SelectedName with a shorter remoteNamespaceName`;
  }
  if (!NAMESPACE.test(name)) {
    return `remoteNamespaceName ${JSON.stringify(name)} is no name for a namespace: use lower-case letters, digits and dashes`;
  }
  if (isKubernetesNamespace(name)) {
    return `the remote namespace would be named ${JSON.stringify(name)}, which every provider has as Kubernetes' own and never gives to a consumer: use the strategy DefaultName, or SelectedName with another remoteNamespaceName`;
  }
  return undefined;
}
