import type { AccountPermissions } from "./permissions";
import { RBAC } from "./rbac/manifests";

/** A right in all namespaces by which its account could become another one or reach what is not Liqo's, with what it is for. */
export interface ReasonedRight {
  account: string;
  /** As the page has it, without `everywhere`. */
  right: string;
  /** Undefined where nobody has said it, which a test refuses. */
  reason: string | undefined;
}

interface Reason {
  account: string;
  resources: string[];
  reason: string;
}

const CERTIFICATES = "certificates.k8s.io";
const CONTROLLER_MANAGER = "ServiceAccount liqo-controller-manager";
const VIRTUAL_KUBELET = "ServiceAccount liqo-virtual-kubelet";

/** Resources, with the verbs that make a right to them one that needs a reason. */
const GUARDED: readonly [resource: string, verbs: readonly string[]][] = [
  ["secrets", ["create", "delete", "get", "list", "patch", "update", "watch"]],
  ["serviceaccounts/token", ["create"]],
  ["pods", ["create", "patch", "update"]],
  ["pods/status", ["patch", "update"]],
  ["pods/exec", ["create", "get"]],
  ["pods/attach", ["create", "get"]],
  ["nodes/proxy", ["create", "get"]],
  [`clusterroles.${RBAC}`, ["bind", "create", "escalate", "patch", "update"]],
  [`roles.${RBAC}`, ["bind", "create", "escalate", "patch", "update"]],
  [`clusterrolebindings.${RBAC}`, ["create", "patch", "update"]],
  [`rolebindings.${RBAC}`, ["create", "patch", "update"]],
  [`certificatesigningrequests/approval.${CERTIFICATES}`, ["patch", "update"]],
  [`signers.${CERTIFICATES}`, ["approve", "sign"]],
];

const REASONS: readonly Reason[] = [
  {
    account: CONTROLLER_MANAGER,
    resources: ["secrets"],
    reason:
      "Tenant namespaces have any name, so that no Role covers them: nonces, credentials of identities, keys of gateways. Of most Secrets the caches keep labels and no values.",
  },
  {
    account: CONTROLLER_MANAGER,
    resources: [`clusterroles.${RBAC}`],
    reason:
      "The roles of consumers, gateways and virtual kubelets are bound as those come; `bind` is for the named roles alone.",
  },
  {
    account: CONTROLLER_MANAGER,
    resources: [`clusterrolebindings.${RBAC}`, `rolebindings.${RBAC}`],
    reason:
      "The bindings of those roles, in tenant namespaces, in namespaces made for consumers and in offloaded ones, which have any name. The API server lets no role be bound whose rights the account neither has nor may `bind`.",
  },
  {
    account: CONTROLLER_MANAGER,
    resources: ["pods"],
    reason:
      "ShadowPods become pods, with their labels and annotations, in namespaces made for consumers, which have any name; pods of lost virtual nodes are labelled.",
  },
  {
    account: CONTROLLER_MANAGER,
    resources: [`certificatesigningrequests/approval.${CERTIFICATES}`, `signers.${CERTIFICATES}`],
    reason:
      "Certificates of consumers and of virtual kubelets: requests belong to no namespace, and what is approved is what the controllers asked for or checked.",
  },
  {
    account: VIRTUAL_KUBELET,
    resources: ["pods/status"],
    reason:
      "Pods wait on virtual nodes in namespaces that are not offloaded, and are given up where one is no longer, and their status says so; a write of the status changes no spec.",
  },
  {
    account: "ServiceAccount liqo-metric-agent",
    resources: ["nodes/proxy"],
    reason:
      "The kubelets' metrics of the pods of consumers have no other way; the agent serves nobody anything else of it.",
  },
];

/** The rights that need a reason, each with the one that it has. */
export function reasonedRights(accounts: readonly AccountPermissions[]): ReasonedRight[] {
  return accounts.flatMap(({ account, permissions }) =>
    permissions.flatMap((line) => {
      const right = guardedRight(line);
      if (right === undefined) return [];
      const found = REASONS.find(
        (each) => each.account === account && each.resources.includes(right.resource),
      );
      return [{ account, right: right.text, reason: found?.reason }];
    }),
  );
}

/** Reasons for rights that nobody has, which would hide the next one that is added. */
export function idleReasons(accounts: readonly AccountPermissions[]): string[] {
  const held = new Set(
    accounts.flatMap(({ account, permissions }) =>
      permissions.map((line) => `${account}: ${guardedRight(line)?.resource ?? ""}`),
    ),
  );
  return REASONS.flatMap(({ account, resources }) =>
    resources.map((resource) => `${account}: ${resource}`).filter((key) => !held.has(key)),
  );
}

function guardedRight(line: string): { resource: string; text: string } | undefined {
  const [, text = "", resource = "", verbs = ""] =
    /^everywhere: ((\S+?)(?: called .+)?: ([^:]+))$/.exec(line) ?? [];
  const guarded = GUARDED.find(([name]) => name === resource)?.[1] ?? [];
  return verbs.split(", ").some((verb) => guarded.includes(verb)) ? { resource, text } : undefined;
}

/** The part of `docs/permissions.md` on them. */
export function reasonsSection(accounts: readonly AccountPermissions[]): string {
  const rows = [
    ["Account", "Right", "Why"],
    ...reasonedRights(accounts).map(({ account, right, reason = "" }) => [
      account.replace(/^\S+ /, ""),
      right,
      reason,
    ]),
  ];
  const widths = [0, 1, 2].map((column) => Math.max(...rows.map((row) => (row[column] ?? "").length)));
  const lineOf = (cells: string[], fill = " ") =>
    `| ${cells.map((cell, column) => cell.padEnd(widths[column] ?? 0, fill)).join(" | ")} |\n`;
  const [head = "", ...body] = rows.map((row) => lineOf(row));
  return `## Rights in all namespaces that need a reason

To read or write Secrets, to make tokens, to change or enter pods, to bind roles and to approve certificates. A test fails where one has no reason here.

${head}${lineOf(["", "", ""], "-")}${body.join("")}`;
}
