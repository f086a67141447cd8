import { Annotation, isOn, Label, Name, type Namespace, tenantNamespaceName, WellKnownLabel } from "../api";
import { type PodSecurityLevel, podSecurityLevels } from "../plan/pod-policy";

type Metadata = Pick<Namespace["metadata"], "labels" | "annotations">;

/**
 * The consumer that a namespace is dedicated to; undefined where it is no tenant namespace. Peers write the labels of their maps, but never
 * those of a namespace.
 */
export function consumerOf(tenantNamespace: { metadata: Metadata } | undefined): string | undefined {
  const labels = tenantNamespace?.metadata.labels;
  const consumer = isOn(labels?.[Label.tenantNamespace]) ? labels?.[Label.remoteClusterID] : undefined;
  return consumer === "" ? undefined : consumer;
}

const TENANT_PREFIX = tenantNamespaceName("");

/**
 * Why no consumer gets a namespace of a name; undefined where one may. These names are the provider's whether a namespace has them already or not:
 * whoever had one first would be taken for what it is the name of.
 *
 * @param liqoNamespace of the installation
 */
export function reservedNamespace(name: string, liqoNamespace: string): string | undefined {
  if (name.startsWith(TENANT_PREFIX)) return "names of tenant namespaces are given by the provider";
  if ([liqoNamespace, Name.liqoNamespace, Name.storageNamespace].includes(name))
    return "the provider keeps that name for Liqo itself";
  if (name === "default" || name.startsWith("kube-")) return "Kubernetes keeps that name for itself";
  return undefined;
}

/**
 * The Pod Security Standard for the remote namespaces of a consumer: what its tenant namespace says, else what the installation does. A word
 * that is none of them means the strictest.
 */
export function podSecurityOf(
  tenantNamespace: { metadata: Metadata } | undefined,
  installed: PodSecurityLevel,
): PodSecurityLevel {
  const said = tenantNamespace?.metadata.annotations?.[Annotation.podSecurity];
  if (said === undefined || said === "") return installed;
  return podSecurityLevels.find((level) => level === said) ?? "restricted";
}

/** What a remote namespace carries so that its pods are held to a standard, and so that we know later that we chose it. */
export function podSecurityMarks(level: PodSecurityLevel): Required<Metadata> {
  return {
    labels: { [WellKnownLabel.podSecurityEnforce]: level },
    annotations: { [Annotation.podSecurity]: level },
  };
}

/** What a remote namespace lacks of these marks; undefined where it has them, or where an administrator chose another standard for it. */
export function podSecurityPatch(
  { metadata: { labels, annotations } }: { metadata: Metadata },
  level: PodSecurityLevel,
): Required<Metadata> | undefined {
  const enforced = labels?.[WellKnownLabel.podSecurityEnforce];
  const ours = annotations?.[Annotation.podSecurity];
  if (enforced !== undefined && enforced !== ours) return undefined;
  return enforced === level ? undefined : podSecurityMarks(level);
}

/** Of a consumer whose tenant namespace says nothing else: more than a cluster has, and less than harms an API server. */
const NAMESPACES_OF_A_CONSUMER = 1_000;

/** How many namespaces a consumer gets; a word that is no number leaves it at the default. */
export function namespaceLimitOf(tenantNamespace: Namespace | undefined): number {
  const said = tenantNamespace?.metadata.annotations?.[Annotation.namespaceLimit] ?? "";
  return /^\d{1,6}$/.test(said) ? Number(said) : NAMESPACES_OF_A_CONSUMER;
}
