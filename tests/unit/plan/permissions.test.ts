import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { join } from "node:path";

import { packageRoot } from "../../../runtime/api";
import { fullInstallation, permissionsOf, permissionsPage } from "../../../runtime/plan/permissions";
import { idleReasons, reasonedRights } from "../../../runtime/plan/permission-reasons";

describe("the rights of an installation", () => {
  const accounts = permissionsOf(fullInstallation());
  const all = accounts.flatMap(({ account, permissions }) =>
    permissions.map((line) => `${account}: ${line}`),
  );

  it("are those that were reviewed; if not, run `npm run generate` and look at what changes in docs/permissions.md", () => {
    const page = readFileSync(join(packageRoot(), "docs/permissions.md"), "utf8");
    assert.equal(page, permissionsPage(accounts));
  });

  it("name what they are for: no wildcards, no way to more rights", () => {
    for (const line of all) {
      assert.doesNotMatch(line, /\*/, line);
      assert.doesNotMatch(line, /\b(escalate|impersonate)\b/, line);
      // Binding is bound to the roles that are handed out.
      if (/: clusterroles\S*.*\bbind\b/.test(line)) assert.match(line, / called liqo-/, line);
      if (/\bapprove\b/.test(line)) assert.match(line, / called .*kubernetes\.io\//, line);
    }
  });

  it("reach all Secrets only where tenant namespaces, which have any name, are served", () => {
    const reading = all
      .filter((line) => /everywhere: secrets( called \S+)?: /.test(line))
      .map((line) => line.split(":")[0]);
    assert.deepEqual([...new Set(reading)], ["ServiceAccount liqo-controller-manager"]);
  });

  it("of virtual kubelets to Secrets, ConfigMaps and tokens are where the controllers bind them, and in all namespaces none", () => {
    const of = (account: string) =>
      accounts.find((each) => each.account.startsWith(account))?.permissions ?? [];
    assert.deepEqual(
      of("ServiceAccount liqo-virtual-kubelet").filter((line) =>
        /: (secrets|configmaps|serviceaccounts)\b/.test(line),
      ),
      ["everywhere: configmaps called extension-apiserver-authentication: get, list, watch"],
    );
    assert.deepEqual(of("ClusterRole liqo-virtual-kubelet-tenant-ns,"), [
      "where bound: secrets: get, list, watch",
    ]);
    const offloaded = of("ClusterRole liqo-virtual-kubelet-namespace,");
    for (const line of [
      "where bound: configmaps: get, list, watch",
      "where bound: secrets: get, list, watch",
      "where bound: serviceaccounts/token: create",
    ])
      assert.ok(offloaded.includes(line), line);
    for (const line of offloaded)
      assert.match(line, /^where bound: (\S+: get, list, watch|serviceaccounts\/token: create)$/);
  });

  it("in all namespaces, to Secrets, tokens, pods, bindings and certificates, have each a reason, and each reason a right", () => {
    const reasoned = reasonedRights(accounts);
    assert.deepEqual(
      reasoned.filter(({ reason }) => reason === undefined),
      [],
    );
    assert.deepEqual(idleReasons(accounts), []);
    assert.deepEqual(
      [...new Set(reasoned.map(({ account }) => account))],
      [
        "ServiceAccount liqo-controller-manager",
        "ServiceAccount liqo-metric-agent",
        "ServiceAccount liqo-virtual-kubelet",
      ],
    );
  });

  it("without a reason are found, whatever they are to", () => {
    const rows: [line: string, found: boolean][] = [
      ["everywhere: secrets: get", true],
      ["everywhere: secrets called one: list", true],
      ["everywhere: serviceaccounts/token: create", true],
      ["everywhere: pods: get, list, patch, watch", true],
      ["everywhere: pods: get, list, watch", false],
      ["everywhere: pods/exec: create", true],
      ["everywhere: clusterroles.rbac.authorization.k8s.io called liqo-new: bind", true],
      ["everywhere: clusterroles.rbac.authorization.k8s.io: get, list, watch", false],
      ["everywhere: rolebindings.rbac.authorization.k8s.io: create, get", true],
      ["everywhere: signers.certificates.k8s.io called kubernetes.io/kube-apiserver-client: approve", true],
      ["in liqo: secrets: get", false],
      ["where bound: secrets: get", false],
    ];
    for (const [line, found] of rows) {
      const account = "ServiceAccount liqo-new";
      const expected = found ? [{ account, right: line.replace("everywhere: ", ""), reason: undefined }] : [];
      assert.deepEqual(reasonedRights([{ account, permissions: [line] }]), expected, line);
    }
  });

  it("of gateways are in their own namespace, but for reading what they carry out and reporting on it", () => {
    const of = (role: string) =>
      accounts.find(({ account }) => account.startsWith(`ClusterRole ${role},`))?.permissions ?? [];
    assert.deepEqual(of("liqo-gateway-clusterwide"), [
      "everywhere: firewallconfigurations.networking.liqo.io: get, list, watch",
      "everywhere: internalnodes.networking.liqo.io: get, list, watch",
      "everywhere: routeconfigurations.networking.liqo.io: get, list, watch",
    ]);
    for (const line of of("liqo-gateway-liqo-ns"))
      assert.match(line, /^where bound: (events|(firewall|route)configurations\/status)\b/);
    const own = of("liqo-gateway");
    assert.ok(own.length > 0);
    for (const line of own) {
      assert.match(line, /^where bound: /);
      assert.doesNotMatch(line, /secrets|serviceaccounts|rbac|apps|pods: .*(create|patch|update)/, line);
    }
  });

  it("of peering users make no token of any account", () => {
    const rights = all.filter((line) => line.includes("liqo-peering-user-"));
    assert.ok(rights.length > 0);
    for (const line of rights) assert.doesNotMatch(line, /serviceaccounts|pods|rbac/, line);
  });

  it("let nobody but the controller manager write roles' bindings, and nobody roles", () => {
    const writing = all.filter(
      (line) => /rbac\.authorization\.k8s\.io/.test(line) && /\b(create|patch|update)\b/.test(line),
    );
    assert.ok(writing.length > 0);
    for (const line of writing)
      assert.match(line, /^ServiceAccount liqo-controller-manager: .*: (cluster)?rolebindings\./, line);
  });

  it("are none for the proxy", () => {
    assert.deepEqual(
      accounts.find(({ account }) => account === "ServiceAccount liqo-proxy")?.permissions,
      [],
    );
  });
});
