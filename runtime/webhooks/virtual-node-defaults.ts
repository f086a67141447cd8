import type { VirtualNode } from "../api";
import {
  type NamedSpec,
  type Options,
  type TemplateContext,
  virtualKubeletTemplate,
  withCurrentSpec,
  withUserTemplate,
} from "../offloading/virtual-kubelet-template";

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
