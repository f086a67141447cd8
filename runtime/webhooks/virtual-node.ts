import { InvalidObjectError, VirtualNode } from "../api";
import { amountFaults } from "../api/quantity";
import { messageOf } from "../kube";
import {
  type NamedSpec,
  type Options,
  type TemplateContext,
  virtualKubeletTemplate,
  withCurrentSpec,
  withUserTemplate,
} from "../offloading/virtual-kubelet-template";
import { objectNameSchema } from "../plan/arguments";
import { type AdmittedObject, denied, patched, type PatchOperation, type Webhook } from "./admission-review";
import { nodeNameFaults, validateProvider, type ValidationResult, verdictOnValidation } from "./validation";

interface VirtualNodeWebhookOptions {
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

interface VirtualNodeDependencies {
  /** This cluster. */
  ownClusterID: string;
  namespace: string;
  namespaceLabels: Readonly<Record<string, string>>;
}

/**
 * What a virtual node lacks, whoever makes it (offloading reference 2.3, 5.1). Whether its Secret is there is not asked: it may come later, and
 * reading Secrets of all namespaces is more than an admission webhook should be allowed to.
 */
export function validateVirtualNodeSpec(
  object: AdmittedObject,
  { clusterID, kubeconfigSecretRef, resourceQuota }: VirtualNode["spec"],
  { ownClusterID, namespace, namespaceLabels }: VirtualNodeDependencies,
): ValidationResult {
  const found = validateProvider(clusterID, {
    ownClusterID,
    purpose: "a virtual node stands for another",
    placed: { object, namespace, namespaceLabels },
  });
  const faults = [
    ...nodeNameFaults(object.metadata.name),
    ...amountFaults(resourceQuota?.hard ?? {}).map((fault) => `spec.resourceQuota.hard: ${fault}`),
    ...found.faults,
  ];
  const warnings = [...found.warnings];
  const secret = kubeconfigSecretRef?.name ?? "";
  if (secret === "") {
    warnings.push(
      "spec.kubeconfigSecretRef.name: is missing, and without it no pod reaches the provider; name a Secret of the same namespace with the key kubeconfig",
    );
  } else if (!objectNameSchema.safeParse(secret).success) {
    faults.push(
      `spec.kubeconfigSecretRef.name: ${JSON.stringify(secret)} is no name of a Secret; use lower-case letters, digits, dashes and dots, as in kubeconfig-resourceslice-pool`,
    );
  }
  return { faults, warnings };
}

type Spec = VirtualNode["spec"];

/**
 * The spec of a virtual node, completed: whether there is a Node, whether its network is checked, what is not reflected, and the template.
 * A template that is there on update is kept and brought up to date; one that is missing is made.
 *
 * @see offloading reference 5.2
 */
export function completeVirtualNode(
  node: NamedSpec,
  options: Options,
  context: TemplateContext,
  operation: "CREATE" | "UPDATE",
): Spec {
  const { spec } = node;
  const complete: Spec = {
    ...spec,
    createNode: spec.createNode ?? options.createNode,
    disableNetworkCheck: spec.disableNetworkCheck ?? options.disableNetworkCheck,
  };
  if (operation === "CREATE") complete.offloadingPatch = withOptions(spec.offloadingPatch ?? {}, options);
  const given = spec.template;
  const template =
    operation === "UPDATE" && given?.spec !== undefined
      ? given
      : virtualKubeletTemplate(
          { ...node, spec: complete },
          given === undefined ? options : withUserTemplate(options, given),
          context,
        );
  complete.template = withCurrentSpec(template, complete, options);
  return complete;
}

function withOptions(
  patch: NonNullable<Spec["offloadingPatch"]>,
  { labelsNotReflected, annotationsNotReflected }: Options,
): NonNullable<Spec["offloadingPatch"]> {
  return {
    ...patch,
    ...union("labelsNotReflected", patch.labelsNotReflected, labelsNotReflected),
    ...union("annotationsNotReflected", patch.annotationsNotReflected, annotationsNotReflected),
  };
}

function union<Key extends string>(
  key: Key,
  first: readonly string[] = [],
  second: readonly string[] = [],
): Partial<Record<Key, string[]>> {
  const all = [...new Set([...first, ...second])];
  return all.length === 0 ? {} : ({ [key]: all } as Partial<Record<Key, string[]>>);
}
