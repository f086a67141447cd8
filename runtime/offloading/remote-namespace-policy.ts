import { Annotation, Label, Name, type Namespace, tenantNamespaceName, WellKnownLabel } from "../api";
import { type PodSecurityLevel, podSecurityLevels } from "../plan/pod-policy";

type Metadata = Pick<Namespace["metadata"], "labels" | "annotations">;

/** The consumer that a remote namespace was made for, by its label; undefined where it names none. */
export function consumerOfRemoteNamespace(namespace: { metadata: Metadata } | undefined): string | undefined {
  return namespace?.metadata.labels?.[Label.remoteClusterID];
}

const TENANT_PREFIX = tenantNamespaceName("");

/**
 * Why no consumer gets a namespace of this name; undefined where a consumer may have it. The provider keeps these names even while no namespace
 * has them: other components trust a namespace by such a name.
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
 * The Pod Security Standard for the remote namespaces of a consumer: that of the tenant namespace's annotation, else that of the installation.
 * An unknown value means the strictest.
 */
export function podSecurityOf(
  tenantNamespace: { metadata: Metadata } | undefined,
  installed: PodSecurityLevel,
): PodSecurityLevel {
  const said = tenantNamespace?.metadata.annotations?.[Annotation.podSecurity];
  if (said === undefined || said === "") return installed;
  return podSecurityLevels.find((level) => level === said) ?? "restricted";
}

/** The label that enforces a standard in a remote namespace, and the annotation that records that we set it. */
export function podSecurityMarks(level: PodSecurityLevel): Required<Metadata> {
  return {
    labels: { [WellKnownLabel.podSecurityEnforce]: level },
    annotations: { [Annotation.podSecurity]: level },
  };
}

/** The marks that a remote namespace lacks; undefined where it has them, or where an administrator chose another standard. */
export function podSecurityPatch(
  { metadata: { labels, annotations } }: { metadata: Metadata },
  level: PodSecurityLevel,
): Required<Metadata> | undefined {
  const enforced = labels?.[WellKnownLabel.podSecurityEnforce];
  const ours = annotations?.[Annotation.podSecurity];
  if (enforced !== undefined && enforced !== ours) return undefined;
  return enforced === level ? undefined : podSecurityMarks(level);
}

/** Default limit: more namespaces than a cluster usually has, and fewer than harm an API server. */
const NAMESPACES_OF_A_CONSUMER = 1_000;

/** How many namespaces a consumer gets; a value that is not a number means the default. */
export function namespaceLimitOf(tenantNamespace: Namespace | undefined): number {
  const said = tenantNamespace?.metadata.annotations?.[Annotation.namespaceLimit] ?? "";
  return /^\d{1,6}$/.test(said) ? Number(said) : NAMESPACES_OF_A_CONSUMER;
}
