import {
  ClusterRoleBinding,
  Deployment,
  EventReason,
  type KubeObject,
  Label,
  LabelValue,
  Name,
  ServiceAccount,
  VirtualNode,
  VkOptionsTemplate,
} from "../api";
import { type Controller, keyOf, runController, watches, writeIfChanged } from "../kube";
import type { OffloadingContext } from "./context";
import { virtualKubeletObjects, type VirtualKubeletDependencies } from "./virtual-kubelet-objects";

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
