import assert from "node:assert/strict";

import type { ClusterRoleBinding, RoleBinding, WgGatewayServer } from "../../../runtime/api";
import { gatewayRights, obsoleteRights } from "../../../runtime/networking/gateway/gateway-rights";

const options = { gatewayClusterRole: "liqo-gateway", liqoNamespace: "liqo-system" };
const gateway = (name: string, namespace: string, serviceAccountName?: string): WgGatewayServer => ({
  apiVersion: "networking.liqo.io/v1beta1",
  kind: "WgGatewayServer",
  metadata: { name, namespace },
  spec: {
    deployment: {
      metadata: {},
      spec: {
        selector: {},
        template: { spec: { containers: [], ...(serviceAccountName && { serviceAccountName }) } },
      },
    },
    service: { metadata: {}, spec: {} },
  },
});
const summaryOf = (of: WgGatewayServer, with_ = options) => {
  const { roleBindings, clusterRoleBinding } = gatewayRights(of, with_);
  return [...roleBindings, clusterRoleBinding].map(({ kind, metadata, roleRef, subjects }) => {
    const where = "namespace" in metadata ? `${metadata.namespace}/` : "";
    const whom = subjects.map((subject) => `${subject.namespace}/${subject.name}`).join();
    return `${kind} ${where}${metadata.name}: ${roleRef.name} to ${whom}`;
  });
};

describe("the rights of a gateway", () => {
  const guests = "guests-from-rome";
  const rows: [title: string, found: string[], expected: string[]][] = [
    [
      "are its own namespace's, reports in the Liqo namespace, and reading",
      summaryOf(gateway("rome", guests, "rome")),
      [
        `RoleBinding ${guests}/liqo-gateway-rome: liqo-gateway to ${guests}/rome`,
        `RoleBinding liqo-system/liqo-gateway-liqo-ns-${guests}.rome: liqo-gateway-liqo-ns to ${guests}/rome`,
        `ClusterRoleBinding liqo-gateway-clusterwide-${guests}.rome: liqo-gateway-clusterwide to ${guests}/rome`,
      ],
    ],
    [
      "go to the namespace's own account where the template names none",
      summaryOf(gateway("rome", guests)),
      [
        `RoleBinding ${guests}/liqo-gateway-rome: liqo-gateway to ${guests}/default`,
        `RoleBinding liqo-system/liqo-gateway-liqo-ns-${guests}.rome: liqo-gateway-liqo-ns to ${guests}/default`,
        `ClusterRoleBinding liqo-gateway-clusterwide-${guests}.rome: liqo-gateway-clusterwide to ${guests}/default`,
      ],
    ],
    [
      "are those of another role in its own namespace alone",
      summaryOf(gateway("rome", guests, "rome"), { ...options, gatewayClusterRole: "our-gateways" }).slice(
        0,
        1,
      ),
      [`RoleBinding ${guests}/our-gateways-rome: our-gateways to ${guests}/rome`],
    ],
  ];
  for (const [title, found, expected] of rows) it(title, () => assert.deepEqual(found, expected));

  it("have names that no gateway of another namespace can take", () => {
    const [one, other] = [gateway("vpn", "guests-rome"), gateway("rome-vpn", "guests")].map((each) => {
      const { roleBindings, clusterRoleBinding } = gatewayRights(each, options);
      return [...roleBindings, clusterRoleBinding].map(
        ({ metadata }) => `${"namespace" in metadata ? metadata.namespace : ""}/${metadata.name}`,
      );
    });
    assert.equal(new Set([...(one ?? []), ...(other ?? [])]).size, 6);
  });
});

describe("the rights that a gateway should not have any more", () => {
  const managed = { "app.kubernetes.io/managed-by": "liqo" };
  const rbac = { apiVersion: "rbac.authorization.k8s.io/v1" } as const;
  const roleRef = { apiGroup: "rbac.authorization.k8s.io", kind: "ClusterRole", name: "liqo-gateway" };
  const wide = (name: string, labels: Record<string, string>): ClusterRoleBinding => ({
    ...rbac,
    kind: "ClusterRoleBinding",
    metadata: { name, labels },
    roleRef,
  });
  const inNamespace = (name: string, namespace: string, labels: Record<string, string>): RoleBinding => ({
    ...rbac,
    kind: "RoleBinding",
    metadata: { name, namespace, labels },
    roleRef,
  });
  const rows: [title: string, binding: ClusterRoleBinding | RoleBinding, obsolete: boolean][] = [
    ["an earlier version's", wide("liqo-gateway-guests-rome", managed), true],
    ["an earlier version's with another role", wide("our-gateways-guests-rome", managed), true],
    ["the one for reading", wide("liqo-gateway-clusterwide-guests.rome", managed), false],
    ["an administrator's", wide("liqo-gateway-guests-rome", {}), false],
    ["the one in its own namespace", inNamespace("liqo-gateway-rome", "guests", managed), false],
    ["one of that name elsewhere", inNamespace("liqo-gateway-rome", "liqo-system", managed), true],
    ["the one for reports", inNamespace("liqo-gateway-liqo-ns-guests.rome", "liqo-system", managed), false],
    ["one in its own namespace with another role", inNamespace("our-gateways-rome", "guests", managed), true],
  ];
  const rights = gatewayRights(gateway("rome", "guests", "rome"), options);
  for (const [title, binding, obsolete] of rows) {
    it(`${obsolete ? "are" : "are not"} ${title}`, () => {
      const bound =
        binding.kind === "RoleBinding"
          ? { roleBindings: [binding], clusterRoleBindings: [] }
          : { roleBindings: [], clusterRoleBindings: [binding] };
      const found = obsoleteRights(bound, rights);
      assert.equal([...found.roleBindings, ...found.clusterRoleBindings].length, obsolete ? 1 : 0);
    });
  }
});
