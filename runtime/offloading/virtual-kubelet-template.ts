import {
  Label,
  LabelValue,
  Name,
  virtualKubeletName,
  type VirtualNode,
  type VkOptionsTemplate,
} from "../api";
import { REFLECTED_RESOURCES, type ReflectedRights } from "../plan/reflected-resources";

type Spec = VirtualNode["spec"];
export type Options = VkOptionsTemplate["spec"];
type Template = NonNullable<Spec["template"]>;
type Container = NonNullable<
  NonNullable<NonNullable<NonNullable<Template["spec"]>["template"]["spec"]>["containers"]>
>[number];

/** What a template depends on besides the virtual node and its options. */
export interface TemplateContext {
  clusterID: string;
  liqoNamespace: string;
  podCidrs: readonly string[];
}

export interface NamedSpec {
  name: string;
  namespace: string;
  spec: Spec;
}

/**
 * The Deployment of a virtual kubelet that serves this one virtual node, as upstream's webhook writes it. Our own virtual kubelet serves
 * many nodes from one process and reads their VirtualNodes; the template stays for whoever reads the API.
 *
 * @see offloading reference 5.3
 */
export function virtualKubeletTemplate(
  node: NamedSpec,
  options: Options,
  context: TemplateContext,
): Template {
  const own = {
    [Label.offloadingComponent]: LabelValue.virtualKubelet,
    [Label.remoteClusterID]: node.spec.clusterID ?? "",
    [Label.virtualNode]: node.name,
  };
  const labels = { ...options.extraLabels, ...own };
  const annotations = options.extraAnnotations ?? {};
  return {
    metadata: { name: virtualKubeletName(node.name), namespace: node.namespace, labels, annotations },
    spec: {
      ...(options.replicas === undefined ? {} : { replicas: options.replicas }),
      selector: { matchLabels: own },
      template: {
        metadata: { labels, annotations },
        spec: {
          serviceAccountName: node.name,
          ...(options.imagePullSecrets === undefined ? {} : { imagePullSecrets: options.imagePullSecrets }),
          ...(options.tolerations === undefined ? {} : { tolerations: options.tolerations }),
          containers: [container(node, options, context)],
        },
      },
    },
  };
}

function container(node: NamedSpec, options: Options, context: TemplateContext): Container {
  const fromPod = (name: string, fieldPath: string) => ({ name, valueFrom: { fieldRef: { fieldPath } } });
  return {
    name: Name.virtualKubeletContainer,
    image: options.containerImage,
    imagePullPolicy: options.pullPolicy || "IfNotPresent",
    command: ["/usr/bin/virtual-kubelet"],
    args: containerArguments(node, options, context),
    env: [
      fromPod("POD_IP", "status.podIP"),
      fromPod("POD_NAME", "metadata.name"),
      fromPod("POD_NAMESPACE", "metadata.namespace"),
      { name: "VIRTUALNODE_NAME", value: node.name },
    ],
    ...(options.resources === undefined ? {} : { resources: options.resources }),
    ...(options.metricsEnabled
      ? { ports: [{ name: "metrics", containerPort: metricsPort(options.metricsAddress), protocol: "TCP" }] }
      : {}),
  };
}

function containerArguments(node: NamedSpec, options: Options, context: TemplateContext): string[] {
  const { spec, name, namespace } = node;
  const list = [
    `--foreign-cluster-id=${spec.clusterID ?? ""}`,
    `--nodename=${name}`,
    "--node-ip=$(POD_IP)",
    `--tenant-namespace=${namespace}`,
    `--liqo-namespace=${context.liqoNamespace}`,
    `--home-cluster-id=${context.clusterID}`,
    ...context.podCidrs.map((cidr) => `--local-podcidr=${cidr}`),
    ...classArguments(spec),
  ];
  const reflected = Object.entries<ReflectedRights>(REFLECTED_RESOURCES);
  for (const resource of reflected.map(([kind]) => kind.toLowerCase())) {
    const workers = options.reflectorsConfig?.[resource]?.workers;
    if (workers !== undefined) list.push(`--${resource}-reflection-workers=${workers}`);
  }
  for (const resource of reflected.flatMap(([kind, { policy }]) => (policy ? [kind.toLowerCase()] : []))) {
    const policy = options.reflectorsConfig?.[resource]?.type;
    if (policy) list.push(`--${resource}-reflection-type=${policy}`);
  }
  const { nodeExtraAnnotations = {}, nodeExtraLabels = {} } = options;
  if (Object.keys(nodeExtraAnnotations).length > 0)
    list.push(`--node-extra-annotations=${mapArgument(nodeExtraAnnotations)}`);
  if (Object.keys(nodeExtraLabels).length > 0)
    list.push(`--node-extra-labels=${mapArgument(nodeExtraLabels)}`);
  list.push(...(options.extraArgs ?? []), `--metrics-enabled=${options.metricsEnabled}`);
  if (options.metricsEnabled) list.push(`--metrics-address=${options.metricsAddress ?? ""}`);
  return list;
}

interface ClassFlags {
  enable: string;
  name: string;
  value: (spec: Spec) => string | undefined;
}

/** Of several classes the one that is marked as default, else the first. */
function chosen<Class extends { default?: boolean }>(
  classes: readonly Class[] | undefined,
): Class | undefined {
  return classes?.find((one) => one.default === true) ?? classes?.[0];
}

const CLASSES: readonly ClassFlags[] = [
  {
    enable: "enable-storage",
    name: "remote-real-storage-class-name",
    value: (spec) => chosen(spec.storageClasses)?.storageClassName,
  },
  {
    enable: "enable-ingress",
    name: "remote-real-ingress-class-name",
    value: (spec) => chosen(spec.ingressClasses)?.ingressClassName,
  },
  {
    enable: "enable-load-balancer",
    name: "remote-real-load-balancer-class-name",
    value: (spec) => chosen(spec.loadBalancerClasses)?.loadBalancerClassName,
  },
];

function classArguments(spec: Spec): string[] {
  return CLASSES.flatMap(({ enable, name, value }) => {
    const used = value(spec);
    return used === undefined ? [] : [`--${enable}`, `--${name}=${used}`];
  });
}

function metricsPort(address: string | undefined): number {
  const port = Number(address?.slice(address.lastIndexOf(":") + 1) || Number.NaN);
  return Number.isInteger(port) && port > 0 && port < 65_536 ? port : 8082;
}

/**
 * Options with what a user's own template says: labels and annotations, and of its first container image, resources, and the arguments
 * that options have a place for.
 *
 * @see offloading reference 5.2
 */
export function withUserTemplate(options: Options, template: Template): Options {
  const [first] = template.spec?.template.spec?.containers ?? [];
  const list = first?.args ?? [];
  const annotations = argumentValue(list, "node-extra-annotations");
  const labels = argumentValue(list, "node-extra-labels");
  const address = argumentValue(list, "metrics-address");
  const resources = { ...options.resources };
  if (first?.resources?.requests) resources.requests = { ...resources.requests, ...first.resources.requests };
  if (first?.resources?.limits) resources.limits = { ...resources.limits, ...first.resources.limits };
  return {
    ...options,
    ...(first?.image ? { containerImage: first.image } : {}),
    ...(Object.keys(resources).length > 0 ? { resources } : {}),
    extraLabels: { ...options.extraLabels, ...template.metadata?.labels },
    extraAnnotations: { ...options.extraAnnotations, ...template.metadata?.annotations },
    ...(annotations === undefined
      ? {}
      : { nodeExtraAnnotations: { ...options.nodeExtraAnnotations, ...parseMapArgument(annotations) } }),
    ...(labels === undefined
      ? {}
      : { nodeExtraLabels: { ...options.nodeExtraLabels, ...parseMapArgument(labels) } }),
    ...(list.some((one) => argumentKey(one) === "metrics-enabled") ? { metricsEnabled: true } : {}),
    ...(address === undefined ? {} : { metricsAddress: address }),
    ...(options.extraArgs === undefined
      ? {}
      : {
          extraArgs: options.extraArgs.map(
            (extra) => list.find((one) => argumentKey(one) === argumentKey(extra)) ?? extra,
          ),
        }),
  };
}

/**
 * A template with the arguments that say what the virtual node says now: its cluster, classes, kubeconfig and switches. What else is in it
 * stays as it was made, or as somebody changed it.
 */
export function withCurrentSpec(template: Template, spec: Spec, options: Options): Template {
  const pod = template.spec?.template.spec;
  const [first, ...rest] = pod?.containers ?? [];
  if (template.spec === undefined || pod === undefined || first === undefined) return template;
  let list: string[] = withArgument(first.args ?? [], "foreign-cluster-id", spec.clusterID ?? "");
  for (const { enable, name, value } of CLASSES) {
    const used = value(spec);
    if (used === undefined) {
      list = withoutArgument(withoutArgument(list, enable), name);
      continue;
    }
    if (!list.some((one) => argumentKey(one) === enable)) list.push(`--${enable}`);
    list = withArgument(list, name, used);
  }
  list = withArgument(list, "foreign-kubeconfig-secret-name", spec.kubeconfigSecretRef?.name ?? "");
  list = withArgument(list, "create-node", String(spec.createNode ?? true));
  list = withArgument(list, "node-check-network", String(spec.disableNetworkCheck !== true));
  return {
    ...template,
    spec: {
      ...template.spec,
      ...(options.replicas === undefined ? {} : { replicas: options.replicas }),
      template: {
        ...template.spec.template,
        spec: { ...pod, containers: [{ ...first, args: list }, ...rest] },
      },
    },
  };
}

/** Arguments of the form `--key=value`, in order, as a container has them. */
type Arguments = readonly string[];

/** The key of an argument, without dashes: `--nodename=milan` and `--nodename` both have `nodename`. */
function argumentKey(argument: string): string {
  const text = argument.replace(/^--?/, "");
  const equals = text.indexOf("=");
  return equals < 0 ? text : text.slice(0, equals);
}

/** The value of an argument; undefined when it has none or is not there. */
function argumentValue(list: Arguments, key: string): string | undefined {
  const argument = list.find((one) => argumentKey(one) === key);
  const equals = argument?.indexOf("=") ?? -1;
  return argument === undefined || equals < 0 ? undefined : argument.slice(equals + 1);
}

/** The list with an argument replaced where it stands, or appended. */
function withArgument(list: Arguments, key: string, value: string): string[] {
  const argument = `--${key}=${value}`;
  const at = list.findIndex((one) => argumentKey(one) === key);
  return at < 0 ? [...list, argument] : list.map((one, index) => (index === at ? argument : one));
}

/** The list without an argument. */
function withoutArgument(list: Arguments, key: string): string[] {
  return list.filter((one) => argumentKey(one) !== key);
}

/** `a=1,b=2`, sorted, as map-valued flags take it. */
function mapArgument(map: Readonly<Record<string, string>>): string {
  return Object.keys(map)
    .sort()
    .map((key) => `${key}=${map[key]}`)
    .join(",");
}

/** The reverse of {@link mapArgument}; an entry without `=` has an empty value. */
function parseMapArgument(text: string): Record<string, string> {
  const map: Record<string, string> = {};
  for (const entry of text.split(",")) {
    const equals = entry.indexOf("=");
    const key = (equals < 0 ? entry : entry.slice(0, equals)).trim();
    if (key !== "") map[key] = equals < 0 ? "" : entry.slice(equals + 1);
  }
  return map;
}
