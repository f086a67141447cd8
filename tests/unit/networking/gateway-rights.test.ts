import assert from "node:assert/strict";

import { ClusterRoleBinding, type Desired, RoleBinding, type WgGatewayServer } from "../../../runtime/api";
import { gatewayRights, obsoleteRights } from "../../../runtime/networking/gateway/gateway-rights";
import { endRuns, inventory, quiet, run } from "../../support/memory-run";
import { until } from "../../support/until";
import { namespace, scenario } from "./gateway-scenario";

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

describe("the bindings of gateways", function () {
  this.timeout(60_000);
  afterEach(endRuns);
  const clusterWideBinding = `liqo-gateway-clusterwide-${namespace}.rome`;

  it("lose the rights in the whole cluster that an earlier version gave them, and no binding of others", async () => {
    const bindingOf = (name: string, labels: Record<string, string>): Desired<ClusterRoleBinding> => ({
      apiVersion: "rbac.authorization.k8s.io/v1",
      kind: "ClusterRoleBinding",
      metadata: { name, labels },
      roleRef: { apiGroup: "rbac.authorization.k8s.io", kind: "ClusterRole", name: "liqo-gateway" },
      subjects: [{ kind: "ServiceAccount", name: "rome", namespace }],
    });
    const ofGateway = (name: string) => ({
      "networking.liqo.io/gateway-name": name,
      "networking.liqo.io/gateway-namespace": namespace,
    });
    const managed = { "app.kubernetes.io/managed-by": "liqo" };
    const server = await run({
      ...scenario,
      prepare: (cluster) => {
        scenario.prepare(cluster);
        for (const [name, labels] of [
          [`liqo-gateway-${namespace}-rome`, { ...ofGateway("rome"), ...managed }],
          [`liqo-gateway-${namespace}-turin`, { ...ofGateway("turin"), ...managed }],
          ["by-an-administrator", ofGateway("rome")],
        ] as const)
          cluster.create(ClusterRoleBinding, bindingOf(name, labels));
      },
    });
    await until(
      "the old binding is gone",
      () => server.get(ClusterRoleBinding, `liqo-gateway-${namespace}-rome`) === undefined,
    );
    await quiet(server);
    assert.deepEqual(inventory(server, [ClusterRoleBinding]), [
      "ClusterRoleBinding /by-an-administrator",
      `ClusterRoleBinding /${clusterWideBinding}`,
      `ClusterRoleBinding /liqo-gateway-${namespace}-turin`,
    ]);
  });

  it("come back when somebody deletes them", async () => {
    const server = await run(scenario);
    const before = inventory(server, [ClusterRoleBinding, RoleBinding]);
    server.delete(ClusterRoleBinding, clusterWideBinding);
    server.delete(RoleBinding, `${namespace}/liqo-gateway-rome`);
    await until("the bindings are back", () => {
      const found = inventory(server, [ClusterRoleBinding, RoleBinding]);
      return JSON.stringify(found) === JSON.stringify(before);
    });
    await quiet(server);
  });
});
