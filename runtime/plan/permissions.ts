import type { PolicyRule, RoleRef, Subject } from "kubernetes-types/rbac/v1";

import { installation } from "./installation";
import type { Manifest } from "./manifest";
import { reasonsSection } from "./permission-reasons";

/** An installation with all optional parts, from which the page of permissions is made. */
export function fullInstallation(): Manifest[] {
  return installation({
    clusterId: "rome",
    image: "runtime",
    proxy: true,
    virtualKubeletPerNode: true,
    metricAgent: true,
    networking: { podCidrs: ["10.20.0.0/16"], serviceCidr: "10.21.0.0/16" },
    aws: { region: "eu-south-1", clusterName: "rome", credentialsSecret: "aws" },
  });
}

/** What one account may do, a line a permission: where, which resources, which verbs. */
export interface AccountPermissions {
  /** `ServiceAccount liqo-webhook`, or the name of a role that controllers give to peers. */
  account: string;
  permissions: string[];
}

interface Bound {
  kind: string;
  metadata: { name: string; namespace?: string };
  rules?: PolicyRule[];
  roleRef?: RoleRef;
  subjects?: Subject[];
}

/** The right to a resource, such as `everywhere: pods`, with its verbs. */
type Rights = Map<string, Set<string>>;

/**
 * What each account of an installation may do, worked out of its roles and bindings, with the roles that no binding of the installation gives
 * to anybody: the controllers and liqoctl give those to peers and to gateways.
 */
export function permissionsOf(manifests: readonly Manifest[]): AccountPermissions[] {
  const objects = manifests as readonly Bound[];
  const accounts = new Map<string, Rights>();
  const rightsOf = (account: string): Rights => {
    const known = accounts.get(account) ?? new Map<string, Set<string>>();
    accounts.set(account, known);
    return known;
  };
  const given = new Set<string>();
  for (const { kind, metadata, roleRef, subjects = [] } of objects) {
    if (kind === "ServiceAccount") rightsOf(`ServiceAccount ${metadata.name}`);
    if (roleRef === undefined) continue;
    const scope = kind === "RoleBinding" ? `in ${metadata.namespace ?? ""}` : "everywhere";
    const role = objects.find(
      (object) =>
        object.kind === roleRef.kind &&
        object.metadata.name === roleRef.name &&
        (roleRef.kind === "ClusterRole" || object.metadata.namespace === metadata.namespace),
    );
    given.add(`${roleRef.kind} ${roleRef.name}`);
    for (const subject of subjects) {
      const rights = rightsOf(`${subject.kind} ${subject.name}`);
      if (role !== undefined) for (const rule of role.rules ?? []) add(rights, rule, scope);
      else rights.set(`${scope}: all of ${roleRef.kind} ${roleRef.name}, which Kubernetes brings`, new Set());
    }
  }
  for (const { kind, metadata, rules } of objects) {
    const role = `${kind} ${metadata.name}`;
    if (!["ClusterRole", "Role"].includes(kind) || given.has(role)) continue;
    const scope =
      kind === "Role"
        ? `in ${metadata.namespace ?? ""}`
        : metadata.name.endsWith("-clusterwide")
          ? "everywhere"
          : "where bound";
    const rights = rightsOf(`${role}, given by the controllers or liqoctl`);
    for (const rule of rules ?? []) add(rights, rule, scope);
  }
  return [...accounts]
    .map(([account, rights]) => ({ account, permissions: linesOf(rights) }))
    .sort((a, b) => (a.account < b.account ? -1 : 1));
}

function add(
  rights: Rights,
  { apiGroups = [], resources = [], resourceNames = [], verbs }: PolicyRule,
  scope: string,
): void {
  const names = resourceNames.length === 0 ? "" : ` called ${[...resourceNames].sort().join(", ")}`;
  for (const group of apiGroups)
    for (const resource of resources) {
      const key = `${scope}: ${group === "" ? resource : `${resource}.${group}`}${names}`;
      rights.set(key, new Set([...(rights.get(key) ?? []), ...verbs]));
    }
}

/** One for each resource, however many parts of a component ask for it. */
function linesOf(rights: Rights): string[] {
  return [...rights]
    .map(([right, verbs]) => (verbs.size === 0 ? right : `${right}: ${[...verbs].sort().join(", ")}`))
    .sort();
}

/** The page that people review, `docs/permissions.md`. */
export function permissionsPage(accounts: readonly AccountPermissions[]): string {
  const sections = accounts.map(
    ({ account, permissions }) =>
      `## ${account}\n\n${permissions.length === 0 ? "Nothing.\n" : permissions.map((line) => `- ${line}\n`).join("")}`,
  );
  return `# What each account may do

Of an installation with all its parts, in the Liqo namespace \`liqo\`. Written by \`npm run generate\`; a test compares it with the roles, so that no
right is given without somebody seeing it here.

${reasonsSection(accounts)}
${sections.join("\n")}`;
}
