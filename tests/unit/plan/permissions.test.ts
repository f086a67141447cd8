import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { join } from "node:path";

import { packageRoot } from "../../../runtime/api";
import { fullInstallation } from "../../../runtime/plan/full-installation";
import { permissionsOf, permissionsPage } from "../../../runtime/plan/permissions";

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
    assert.deepEqual([...new Set(reading)].sort(), [
      "ServiceAccount liqo-controller-manager",
      "ServiceAccount liqo-virtual-kubelet",
    ]);
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
