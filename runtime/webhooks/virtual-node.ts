import { InvalidObjectError, VirtualNode } from "../api";
import { messageOf } from "../kube";
import type { Options, TemplateContext } from "../offloading/virtual-kubelet-template";
import { denied, type PatchOperation, patched } from "./admission-review";
import { verdictOnValidation } from "./fault-verdict";
import { completeVirtualNode } from "./virtual-node-defaults";
import { validateVirtualNodeSpec } from "./virtual-node-validation";
import type { Webhook } from "./webhook";

export interface VirtualNodeWebhookOptions {
  context: TemplateContext;
  /** The options that a virtual node names, or the installation's default; throws when they do not exist. */
  optionsOf: (node: VirtualNode) => Promise<Options>;
  /** What keeps a new virtual node from its name: a Node, or another VirtualNode; undefined when nothing does. */
  nameTaken: (node: VirtualNode) => Promise<string | undefined>;
  namespaceLabels: (namespace: string) => Promise<Readonly<Record<string, string>>>;
}

/**
 * Completes virtual nodes ({@link completeVirtualNode}), keeps their names unique in the cluster, and refuses what can't become one
 * ({@link validateVirtualNodeSpec}).
 */
export function virtualNodeWebhook(options: VirtualNodeWebhookOptions): Webhook {
  const { context, optionsOf, nameTaken, namespaceLabels } = options;
  return async (request) => {
    const { operation, object, namespace } = request;
    if (object === undefined || (operation !== "CREATE" && operation !== "UPDATE")) return patched([]);
    let node: VirtualNode;
    try {
      node = VirtualNode.parse(object.raw);
    } catch (error) {
      if (error instanceof InvalidObjectError) return denied(error.message);
      throw error;
    }
    const { name } = node.metadata;
    const dependencies = {
      ownClusterID: context.clusterID,
      namespace,
      namespaceLabels: await namespaceLabels(namespace),
    };
    const found = verdictOnValidation("VirtualNode", request, (one) =>
      validateVirtualNodeSpec(one, VirtualNode.fromApiServer(one.raw).spec, dependencies),
    );
    if (!found.allowed) return found;
    if (operation === "CREATE") {
      const taken = await nameTaken(node);
      if (taken !== undefined) return denied(taken);
    }
    let template: Options;
    try {
      template = await optionsOf(node);
    } catch (error) {
      return denied(messageOf(error));
    }
    const spec = completeVirtualNode({ name, namespace, spec: node.spec }, template, context, operation);
    return { ...found, ...patched(specPatch(spec)) };
  };
}

/** The fields that completion may change; the rest of the object stays as the request has it. */
function specPatch(spec: VirtualNode["spec"]): PatchOperation[] {
  const fields = ["createNode", "disableNetworkCheck", "offloadingPatch", "template"] as const;
  return fields.flatMap((field) => {
    const value = spec[field];
    return value === undefined ? [] : [{ op: "add" as const, path: `/spec/${field}`, value }];
  });
}
