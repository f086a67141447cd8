import type { PolicyRule } from "kubernetes-types/rbac/v1";

import { RoleName, WellKnownLabel } from "../api/keys";
import type { ClusterRole, ClusterRoleBinding, Role, RoleBinding, ServiceAccount } from "../api/kubernetes";
import { componentLabels, type ManifestOf, type Module } from "./manifest";
import { DeploymentName } from "./deployments";
import {
  awsAuthRules,
  controllerManagerNamespaceRules,
  controllerManagerRules,
  fabricRules,
  gatewayClusterWideRules,
  gatewayLiqoNamespaceRules,
  gatewayRules,
  NetworkingRole,
  networkingRules,
  peeringUserLiqoNamespaceRules,
  peeringUserTenantNamespaceRules,
  remoteControlplaneRules,
  virtualKubeletLocalRules,
  virtualKubeletNamespaceRules,
  virtualKubeletPerNodeRules,
  virtualKubeletRemoteClusterwideRules,
  virtualKubeletRemoteRules,
  virtualKubeletTenantNamespaceRules,
  webhookNamespaceRules,
  webhookRules,
} from "./rbac";
import { accountsOf, clusterRole, clusterRoleBinding, role, roleBinding } from "./rbac/manifests";

interface RoleDefinition {
  name: string;
  /** What the role is looked up by: consumers' roles are found by `app.kubernetes.io/name`. */
  appName: string;
  module: Module;
  rules: PolicyRule[];
  /** ServiceAccounts of the Liqo namespace that have the role. */
  subjects: string[];
}

/** Which of its parts an installation has. */
export interface InstalledModules {
  networking: boolean;
}

const WITHOUT_NETWORKING: InstalledModules = { networking: false };

/** ClusterRoles and to whom the installation gives them; those without subjects are given to consumers and virtual kubelets by the controllers. */
const clusterRoleDefinitions: readonly RoleDefinition[] = [
  {
    name: DeploymentName.controllerManager,
    appName: "controller-manager",
    module: "controller-manager",
    rules: controllerManagerRules,
    subjects: [DeploymentName.controllerManager],
  },
  {
    name: RoleName.remoteControlPlane,
    appName: "remote-controlplane",
    module: "authentication",
    rules: remoteControlplaneRules,
    subjects: [DeploymentName.controllerManager],
  },
  {
    name: RoleName.virtualKubeletNamespace,
    appName: "virtual-kubelet-namespace",
    module: "offloading",
    rules: virtualKubeletNamespaceRules,
    // The controllers give it in each namespace that is offloaded.
    subjects: [],
  },
  {
    name: RoleName.virtualKubeletTenantNamespace,
    appName: "virtual-kubelet-tenant-ns",
    module: "offloading",
    rules: virtualKubeletTenantNamespaceRules,
    subjects: [],
  },
  {
    name: RoleName.virtualKubeletRemote,
    appName: "virtual-kubelet-remote",
    module: "offloading",
    rules: virtualKubeletRemoteRules,
    subjects: [],
  },
  {
    name: RoleName.virtualKubeletRemoteClusterWide,
    appName: "virtual-kubelet-remote-clusterwide",
    module: "offloading",
    rules: virtualKubeletRemoteClusterwideRules,
    subjects: [],
  },
  {
    name: RoleName.peeringUserTenantNamespace,
    appName: "peering-user-tenant-ns",
    module: "peering-user",
    rules: peeringUserTenantNamespaceRules,
    // Peering users are made by liqoctl, with a binding each.
    subjects: [],
  },
  {
    name: DeploymentName.webhook,
    appName: "webhook",
    module: "webhook",
    rules: webhookRules,
    subjects: [DeploymentName.webhook],
  },
];

/** What the virtual kubelet may do in all namespaces. */
const virtualKubeletDefinition: RoleDefinition = {
  name: RoleName.virtualKubeletLocal,
  appName: "virtual-kubelet-local",
  module: "offloading",
  rules: virtualKubeletLocalRules,
  subjects: [DeploymentName.virtualKubelet],
};

/** What the networking adds. */
const networkingRoleDefinitions: readonly RoleDefinition[] = [
  {
    name: `${DeploymentName.controllerManager}-networking`,
    appName: "controller-manager-networking",
    module: "networking",
    rules: networkingRules,
    subjects: [DeploymentName.controllerManager],
  },
  {
    name: NetworkingRole.gateway,
    appName: "gateway",
    module: "networking",
    rules: gatewayRules,
    // Each gateway gets an account of its own, and the bindings with it.
    subjects: [],
  },
  {
    name: NetworkingRole.gatewayClusterWide,
    appName: "gateway-clusterwide",
    module: "networking",
    rules: gatewayClusterWideRules,
    subjects: [],
  },
  {
    name: NetworkingRole.gatewayLiqoNamespace,
    appName: "gateway-liqo-ns",
    module: "networking",
    rules: gatewayLiqoNamespaceRules,
    subjects: [],
  },
  {
    name: NetworkingRole.fabric,
    appName: "fabric",
    module: "networking",
    rules: fabricRules,
    subjects: [NetworkingRole.fabric],
  },
];

function definitionsOf({ networking }: InstalledModules): RoleDefinition[] {
  return [...clusterRoleDefinitions, ...(networking ? networkingRoleDefinitions : [])];
}

/** Roles in the Liqo namespace itself. */
const namespaceRoleDefinitions: readonly RoleDefinition[] = [
  {
    name: DeploymentName.controllerManager,
    appName: "controller-manager",
    module: "controller-manager",
    rules: controllerManagerNamespaceRules,
    subjects: [DeploymentName.controllerManager],
  },
  {
    name: DeploymentName.webhook,
    appName: "webhook",
    module: "webhook",
    rules: webhookNamespaceRules,
    subjects: [DeploymentName.webhook],
  },
  {
    name: RoleName.peeringUserLiqoNamespace,
    appName: "peering-user-liqo-ns",
    module: "peering-user",
    rules: peeringUserLiqoNamespaceRules,
    subjects: [],
  },
];

/** A ServiceAccount for each Deployment and DaemonSet, of the same name. */
export function serviceAccounts(
  namespace: string,
  { networking } = WITHOUT_NETWORKING,
): ManifestOf<ServiceAccount>[] {
  const names = [...Object.values(DeploymentName), ...(networking ? [NetworkingRole.fabric] : [])];
  return names.map((name) => ({
    apiVersion: "v1",
    kind: "ServiceAccount",
    metadata: { name, namespace, labels: componentLabels(name.replace(/^liqo-/, ""), "core") },
  }));
}

export function clusterRoles(modules = WITHOUT_NETWORKING): ManifestOf<ClusterRole>[] {
  return definitionsOf(modules).map(clusterRoleOf);
}

export function clusterRoleBindings(
  namespace: string,
  modules = WITHOUT_NETWORKING,
): ManifestOf<ClusterRoleBinding>[] {
  return definitionsOf(modules)
    .filter(({ subjects }) => subjects.length > 0)
    .map((definition) => clusterRoleBindingOf(definition, namespace));
}

/**
 * What the virtual kubelet may do in all namespaces. Earlier versions gave it more; the controllers give the rest, namespace by namespace. They must
 * be ready before this is applied: otherwise offloaded pods would be without their tokens meanwhile.
 */
export function virtualKubeletManifests(
  namespace: string,
): [role: ManifestOf<ClusterRole>, binding: ManifestOf<ClusterRoleBinding>] {
  return [clusterRoleOf(virtualKubeletDefinition), clusterRoleBindingOf(virtualKubeletDefinition, namespace)];
}

function clusterRoleOf(definition: RoleDefinition): ManifestOf<ClusterRole> {
  return clusterRole(definition.name, labelsOf(definition), definition.rules);
}

function clusterRoleBindingOf(definition: RoleDefinition, namespace: string): ManifestOf<ClusterRoleBinding> {
  const { name, subjects } = definition;
  return clusterRoleBinding(name, labelsOf(definition), accountsOf(namespace, subjects));
}

export function roles(namespace: string): ManifestOf<Role>[] {
  return namespaceRoleDefinitions.map((definition) =>
    role({ name: definition.name, namespace, labels: labelsOf(definition) }, definition.rules),
  );
}

export function roleBindings(namespace: string): ManifestOf<RoleBinding>[] {
  return namespaceRoleDefinitions
    .filter(({ subjects }) => subjects.length > 0)
    .map((definition) =>
      roleBinding(
        { name: definition.name, namespace, labels: labelsOf(definition) },
        accountsOf(namespace, definition.subjects),
      ),
    );
}

/** What the controller manager may do more where each virtual node has a process of its own. */
export function virtualKubeletPerNodeManifests(
  namespace: string,
): (ManifestOf<ClusterRole> | ManifestOf<ClusterRoleBinding>)[] {
  const name = `${DeploymentName.controllerManager}-virtual-kubelets`;
  const labels = componentLabels("controller-manager", "offloading");
  return [
    clusterRole(name, labels, virtualKubeletPerNodeRules),
    clusterRoleBinding(name, labels, accountsOf(namespace, [DeploymentName.controllerManager])),
  ];
}

/** The ConfigMap in which EKS maps IAM users: the controller manager may write it where consumers get IAM users. */
export function awsAuthManifests(namespace: string): (ManifestOf<Role> | ManifestOf<RoleBinding>)[] {
  const metadata = {
    name: `${DeploymentName.controllerManager}-aws-auth`,
    namespace: "kube-system",
    labels: componentLabels("controller-manager", "authentication"),
  };
  return [
    role(metadata, awsAuthRules),
    roleBinding(metadata, accountsOf(namespace, [DeploymentName.controllerManager])),
  ];
}

/** The role's own name stands in `app.kubernetes.io/name`; the controllers look roles up by it (control plane reference 3.3). */
function labelsOf({ appName, module }: Pick<RoleDefinition, "appName" | "module">): Record<string, string> {
  return { ...componentLabels(appName, module), [WellKnownLabel.appName]: appName };
}
