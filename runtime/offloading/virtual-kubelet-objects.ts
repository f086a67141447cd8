import type { ClusterRoleBinding, Deployment, ServiceAccount } from "../api";
import {
  type Desired,
  Label,
  LabelValue,
  Name,
  RoleName,
  virtualKubeletName,
  type VirtualNode,
  virtualNodeClusterRoleBindingName,
  type VkOptionsTemplate,
} from "../api";
import { controlledBy } from "../kube";
import { PROBES, UNPRIVILEGED } from "../plan/component-deployment";

/** What the process of a virtual node depends on besides the node and its options. */
export interface VirtualKubeletDependencies {
  clusterID: string;
  liqoNamespace: string;
  podCidrs: readonly string[];
}

export interface VirtualKubeletObjects {
  account: Desired<ServiceAccount>;
  binding: Desired<ClusterRoleBinding>;
  deployment: Desired<Deployment>;
}

const rbac = "rbac.authorization.k8s.io";
const KUBELET_PORT = 10_250;
const HEAP_MIB = 512;

/**
 * The objects of a virtual kubelet that serves one virtual node alone, where those are asked for: its account and its Deployment in the
 * tenant namespace, owned by the VirtualNode, and the binding of its role, which no namespaced object can own. Names are upstream's
 * (offloading reference 5.4), but for the account's: upstream's is that of the virtual node, and mostly that of the gateway to the same peer, whose
 * account is in the same namespace.
 */
export function virtualKubeletObjects(
  node: VirtualNode,
  options: VkOptionsTemplate["spec"],
  { clusterID, liqoNamespace, podCidrs }: VirtualKubeletDependencies,
): VirtualKubeletObjects {
  const { name, namespace = "" } = node.metadata;
  const account = virtualKubeletName(name);
  const selector = {
    [Label.offloadingComponent]: LabelValue.virtualKubelet,
    [Label.remoteClusterID]: node.spec.clusterID ?? "",
    [Label.virtualNode]: name,
  };
  const ownerReferences = [{ ...controlledBy(node), blockOwnerDeletion: false }];
  const { replicas = 1, tolerations, imagePullSecrets, resources, extraLabels, extraAnnotations } = options;
  const fromPod = (variable: string, fieldPath: string) => ({
    name: variable,
    valueFrom: { fieldRef: { fieldPath } },
  });
  return {
    account: {
      apiVersion: "v1",
      kind: "ServiceAccount",
      metadata: { name: account, namespace, labels: selector, ownerReferences },
    },
    binding: {
      apiVersion: `${rbac}/v1`,
      kind: "ClusterRoleBinding",
      metadata: { name: virtualNodeClusterRoleBindingName(name), labels: selector },
      roleRef: { apiGroup: rbac, kind: "ClusterRole", name: RoleName.virtualKubeletLocal },
      subjects: [{ kind: "ServiceAccount", name: account, namespace }],
    },
    deployment: {
      apiVersion: "apps/v1",
      kind: "Deployment",
      metadata: { name: virtualKubeletName(name), namespace, labels: selector, ownerReferences },
      spec: {
        replicas,
        selector: { matchLabels: selector },
        template: {
          metadata: {
            labels: { ...extraLabels, ...selector },
            ...(extraAnnotations === undefined ? {} : { annotations: extraAnnotations }),
          },
          spec: {
            serviceAccountName: account,
            ...(imagePullSecrets === undefined ? {} : { imagePullSecrets }),
            ...(tolerations === undefined ? {} : { tolerations }),
            ...UNPRIVILEGED.pod,
            containers: [
              {
                name: Name.virtualKubeletContainer,
                image: options.containerImage,
                imagePullPolicy: options.pullPolicy || "IfNotPresent",
                args: [
                  "virtual-kubelet",
                  `--cluster-id=${clusterID}`,
                  `--liqo-namespace=${liqoNamespace}`,
                  `--virtual-node=${namespace}/${name}`,
                  `--replicas=${replicas}`,
                  ...podCidrs.map((cidr) => `--local-podcidr=${cidr}`),
                ],
                env: [
                  fromPod("POD_NAME", "metadata.name"),
                  fromPod("POD_NAMESPACE", "metadata.namespace"),
                  fromPod("POD_IP", "status.podIP"),
                  { name: "NODE_OPTIONS", value: `--max-old-space-size=${HEAP_MIB} --max-semi-space-size=4` },
                ],
                ports: [{ name: "kubelet", containerPort: KUBELET_PORT }, ...PROBES.ports],
                ...PROBES.probes,
                ...(resources === undefined ? {} : { resources }),
                ...UNPRIVILEGED.container,
              },
            ],
          },
        },
      },
    },
  };
}
