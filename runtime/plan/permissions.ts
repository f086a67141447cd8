import type { PolicyRule, RoleRef, Subject } from "kubernetes-types/rbac/v1";

import type { Manifest } from "./manifest";

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

/**
 * What each account of an installation may do, worked out of its roles and bindings, with the roles that no binding of the installation gives
 * to anybody: the controllers give those to peers.
 */
export function permissionsOf(manifests: readonly Manifest[]): AccountPermissions[] {
  const objects = manifests as readonly Bound[];
  const accounts = new Map<string, Set<string>>();
  const add = (account: string, lines: readonly string[]) => {
    const known = accounts.get(account) ?? new Set<string>();
    for (const line of lines) known.add(line);
    accounts.set(account, known);
  };
  const given = new Set<string>();
  for (const { kind, metadata, roleRef, subjects = [] } of objects) {
    if (kind === "ServiceAccount") add(`ServiceAccount ${metadata.name}`, []);
    if (roleRef === undefined) continue;
    const scope = kind === "RoleBinding" ? `in ${metadata.namespace ?? ""}` : "everywhere";
    const role = objects.find(
      (object) =>
        object.kind === roleRef.kind &&
        object.metadata.name === roleRef.name &&
        (roleRef.kind === "ClusterRole" || object.metadata.namespace === metadata.namespace),
    );
    given.add(`${roleRef.kind} ${roleRef.name}`);
    const lines =
      role === undefined
        ? [`${scope}: all of ${roleRef.kind} ${roleRef.name}, which Kubernetes brings`]
        : (role.rules ?? []).flatMap((rule) => linesOf(rule, scope));
    for (const subject of subjects) add(`${subject.kind} ${subject.name}`, lines);
  }
  for (const { kind, metadata, rules } of objects) {
    const role = `${kind} ${metadata.name}`;
    if (kind !== "ClusterRole" || given.has(role)) continue;
    add(
      `${role}, given by the controllers`,
      (rules ?? []).flatMap((rule) => linesOf(rule, "where bound")),
    );
  }
  return [...accounts]
    .map(([account, lines]) => ({ account, permissions: [...lines].sort() }))
    .sort((a, b) => (a.account < b.account ? -1 : 1));
}

function linesOf(
  { apiGroups = [], resources = [], resourceNames = [], verbs }: PolicyRule,
  scope: string,
): string[] {
  const names = resourceNames.length === 0 ? "" : ` called ${[...resourceNames].sort().join(", ")}`;
  return apiGroups.flatMap((group) =>
    resources.map(
      (resource) =>
        `${scope}: ${group === "" ? resource : `${resource}.${group}`}${names}: ${[...verbs].sort().join(", ")}`,
    ),
  );
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

${sections.join("\n")}`;
}
