import {
  ClusterRoleBinding,
  Deployment,
  type Desired,
  EventReason,
  type KubeObject,
  Label,
  LabelValue,
  Name,
  RoleName,
  ServiceAccount,
  virtualKubeletName,
  VirtualNode,
  virtualNodeClusterRoleBindingName,
  VkOptionsTemplate,
} from "../api";
import { controlledBy, type Controller, keyOf, runController, watches, writeIfChanged } from "../kube";
import type { OffloadingContext } from "./context";
import { PROBES, UNPRIVILEGED } from "../plan/component-deployment";
import { RBAC } from "../plan/rbac/manifests";

/**
 * Where each virtual node is to have a process of its own (`--virtual-kubelet-per-node`): keeps an account, a binding and a Deployment for each.
 * The first and the last go with the VirtualNode that owns them; the binding is removed here, once the VirtualNode is gone: until then the
 * virtual kubelet needs its rights to clean up.
 */
export function virtualKubeletController(
  context: OffloadingContext,
  dependencies: VirtualKubeletDependencies,
): Controller {
  const { informers, client } = context;
  const own = { labelSelector: `${Label.offloadingComponent}=${LabelValue.virtualKubelet}` };
  const virtualNodes = informers.informer(VirtualNode);
  const templates = informers.informer(VkOptionsTemplate);
  const accounts = informers.informer(ServiceAccount, own);
  const bindings = informers.informer(ClusterRoleBinding, own);
  const deployments = informers.informer(Deployment, own);
  const allNodes = () => virtualNodes.list().map(keyOf);

  const optionsOf = (node: VirtualNode) => {
    const named = node.spec.vkOptionsTemplateRef;
    const ref = named?.name
      ? { name: named.name, namespace: named.namespace || node.metadata.namespace }
      : { name: Name.vkOptionsTemplate, namespace: dependencies.liqoNamespace };
    return { ref, options: templates.get(ref.name, ref.namespace)?.spec };
  };

  return runController(
    {
      name: "virtualkubelet",
      sources: [
        watches(virtualNodes),
        watches(templates, { keys: allNodes }),
        watches(accounts, { keys: ofNode }),
        watches(deployments, { keys: ofNode }),
        watches(bindings, { keys: (binding) => [servedBy(binding)] }),
      ],
      objectOf: (key) => virtualNodes.getByKey(key),
      reconcile: async (key) => {
        const node = virtualNodes.getByKey(key);
        if (node === undefined) {
          for (const binding of bindings.list()) {
            if (servedBy(binding) !== key) continue;
            await client.delete(ClusterRoleBinding, binding.metadata, { uid: binding.metadata.uid });
          }
          return;
        }
        if (node.metadata.deletionTimestamp) return;
        const { ref, options } = optionsOf(node);
        if (options === undefined) {
          context.events.warning(
            node,
            EventReason.virtualKubeletNotMade,
            `VkOptionsTemplate "${ref.namespace}/${ref.name}" not found; create it, or name another in spec.vkOptionsTemplateRef`,
          );
          return;
        }
        const { account, binding, deployment } = virtualKubeletObjects(node, options, dependencies);
        const { namespace } = node.metadata;
        await writeIfChanged(
          client,
          ServiceAccount,
          account,
          accounts.get(account.metadata.name ?? "", namespace),
        );
        await writeIfChanged(client, ClusterRoleBinding, binding, bindings.get(binding.metadata.name ?? ""));
        await writeIfChanged(
          client,
          Deployment,
          deployment,
          deployments.get(deployment.metadata.name ?? "", namespace),
        );
      },
    },
    context,
  );
}

/** Key of the virtual node that an object in its namespace is for. */
function ofNode({ metadata }: KubeObject): string[] {
  return [`${metadata.namespace ?? ""}/${metadata.labels?.[Label.virtualNode] ?? ""}`];
}

/** Key of the virtual node that a binding is for. */
function servedBy({ metadata, subjects }: ClusterRoleBinding): string {
  return `${subjects?.[0]?.namespace ?? ""}/${metadata.labels?.[Label.virtualNode] ?? ""}`;
}

/** What the process of a virtual node depends on besides the node and its options. */
interface VirtualKubeletDependencies {
  clusterID: string;
  liqoNamespace: string;
  podCidrs: readonly string[];
}

interface VirtualKubeletObjects {
  account: Desired<ServiceAccount>;
  binding: Desired<ClusterRoleBinding>;
  deployment: Desired<Deployment>;
}

const KUBELET_PORT = 10_250;
const HEAP_MIB = 512;

/**
 * The objects of a virtual kubelet that serves one virtual node alone, where those are asked for: its account and its Deployment in the
 * tenant namespace, owned by the VirtualNode, and the binding of its role, which no namespaced object can own. Names are upstream's
 * (offloading reference 5.4), but for the account's: upstream's is that of the virtual node, and mostly that of the gateway to the same peer, whose
 * account is in the same namespace.
 */
function virtualKubeletObjects(
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
      apiVersion: `${RBAC}/v1`,
      kind: "ClusterRoleBinding",
      metadata: { name: virtualNodeClusterRoleBindingName(name), labels: selector },
      roleRef: { apiGroup: RBAC, kind: "ClusterRole", name: RoleName.virtualKubeletLocal },
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
