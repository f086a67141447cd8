import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

import { z } from "zod";

import { ensureTools } from "../../provider/local-cluster/toolchain";
import { startControlPlane } from "../../provider/local-cluster/control-plane";
import { isRunning, identifyProcess } from "../../provider/local-cluster/process-identity";
import { KubeClient } from "../../runtime/kube";
import { Namespace, Tenant } from "../../runtime/api";
import { OWN_KINDS } from "../../runtime/api/crd";
import { withControlPlanes } from "../support/with-control-planes";

describe("control planes without nodes", function () {
  this.timeout(120_000);
  const controlPlane = withControlPlanes({
    rome: { auditLog: true },
    milan: { controllerManager: true, scheduler: true, serviceCidr: "10.97.0.0/16" },
  });
  let kubectl: (name: "rome" | "milan", ...args: string[]) => string;
  before(async () => {
    const path = (await ensureTools(["kubernetes"])).of("kubectl");
    kubectl = (name, ...args) => {
      const file = join(controlPlane(name).folder, "admin.kubeconfig");
      writeFileSync(file, controlPlane(name).kubeconfig, { mode: 0o600 });
      return execFileSync(path, ["--kubeconfig", file, ...args], { encoding: "utf8" });
    };
  });

  it("serves our kinds from the start, in clusters of their own", async () => {
    const tenant = (name: string, spec: object) => ({
      apiVersion: "authentication.liqo.io/v1beta1",
      kind: "Tenant",
      metadata: { name, namespace: "default" },
      spec,
    });
    const identities = new Set<string | undefined>();
    for (const name of ["rome", "milan"] as const) {
      const client = KubeClient.fromKubeconfig(controlPlane(name).kubeconfig);
      try {
        const good = tenant("good", { clusterID: "turin" });
        assert.equal((await client.create(Tenant, Tenant.parse(good))).spec.clusterID, "turin");
        const bad = Object.assign(Tenant.parse(good), tenant("bad", { clusterID: 7 }));
        await assert.rejects(client.create(Tenant, bad), /spec\.clusterID.*must be of type string/);
        const answers = OWN_KINDS.map(async ({ definition: { group, version, plural } }) => {
          const { status } = await client.raw({ path: `/apis/${group}/${version}/${plural}` });
          return [plural, status];
        });
        assert.deepEqual(
          await Promise.all(answers),
          OWN_KINDS.map(({ definition }) => [definition.plural, 200]),
        );
        identities.add((await client.get(Namespace, { name: "kube-system" }))?.metadata.uid);
      } finally {
        client.close();
      }
    }
    assert.equal(identities.size, 2);
    assert.ok(!identities.has(undefined));
  });

  it("answers an administrator and records the request", async () => {
    kubectl("rome", "create", "configmap", "alpha", "--from-literal=a=1");
    assert.equal(kubectl("rome", "get", "configmap", "alpha", "-o", "jsonpath={.data.a}"), "1");
    const log = controlPlane("rome").auditLogPath ?? "";
    for (let tries = 0; !readFileSync(log, "utf8").includes('"name":"alpha"'); tries++) {
      assert.ok(tries < 100, "no audit line within 10 s");
      await new Promise((resolve) => setTimeout(resolve, 100));
    }
  });

  it("keeps its objects over a restart of the API server", async () => {
    kubectl("rome", "create", "configmap", "beta");
    const before = controlPlane("rome").pids()["kube-apiserver"];
    await controlPlane("rome").restartApiServer();
    assert.notEqual(controlPlane("rome").pids()["kube-apiserver"], before);
    assert.match(kubectl("rome", "get", "configmap", "beta", "-o", "name"), /configmap\/beta/);
  });

  it("runs the controllers that were asked for", () => {
    const deadline = Date.now() + 20_000;
    let found = "";
    while (found === "" && Date.now() < deadline) {
      found = kubectl("milan", "get", "serviceaccount", "default", "--ignore-not-found", "-o", "name");
    }
    assert.equal(found.trim(), "serviceaccount/default");
    assert.equal(kubectl("rome", "get", "serviceaccounts", "-o", "name"), "");
  });

  it("gives other users only what they may do", async () => {
    const milan = controlPlane("milan");
    const file = join(milan.folder, "reader.kubeconfig");
    writeFileSync(file, await milan.kubeconfigFor({ name: "reader", groups: ["readers"] }), { mode: 0o600 });
    const path = (await ensureTools(["kubernetes"])).of("kubectl");
    assert.throws(
      () => execFileSync(path, ["--kubeconfig", file, "get", "secrets"], { stdio: "pipe" }),
      /User "reader" cannot list resource "secrets"/,
    );
  });

  it("leaves no process and no folder when it stops", async () => {
    const one = await startControlPlane({ name: "naples" });
    const processes = Object.values(one.pids()).map((pid) => identifyProcess(pid));
    assert.equal(processes.length, 2);
    await one.stop();
    assert.deepEqual(
      processes.map((process) => process !== undefined && isRunning(process)),
      [false, false],
    );
    assert.equal(existsSync(one.folder), false);
  });

  it("ends with the process that started it, even after kill -9", async () => {
    // Other runs on this machine may start one meanwhile, which removes what is left over.
    const temporary = mkdtempSync(join(tmpdir(), "pulumi-liqo-killed-"));
    const before = process.env["TMPDIR"];
    process.env["TMPDIR"] = temporary;
    try {
      await endsWithItsProcess();
    } finally {
      if (before === undefined) delete process.env["TMPDIR"];
      else process.env["TMPDIR"] = before;
      rmSync(temporary, { recursive: true, force: true });
    }
  });

  async function endsWithItsProcess(): Promise<void> {
    const script = `require(${JSON.stringify(require.resolve("../../provider/local-cluster/control-plane"))})
      .startControlPlane({ name: "turin" }).then((c) => { console.log(JSON.stringify({ pids: Object.values(c.pids()), folder: c.folder })); process.kill(process.pid, "SIGKILL"); });
      setTimeout(() => undefined, 100000);`;
    let output = "";
    try {
      execFileSync(process.execPath, ["-e", script], {
        encoding: "utf8",
        stdio: ["ignore", "pipe", "inherit"],
      });
    } catch (error) {
      output = error instanceof Error && "stdout" in error ? String(error.stdout) : "";
    }
    const { pids, folder } = z
      .object({ pids: z.array(z.number()), folder: z.string() })
      .parse(JSON.parse(output));
    assert.equal(pids.length, 2);
    await new Promise((resolve) => setTimeout(resolve, 300));
    assert.deepEqual(
      pids.map((pid) => identifyProcess(pid)),
      [undefined, undefined],
    );
    assert.ok(existsSync(folder));
    await (await startControlPlane({ name: "naples" })).stop();
    assert.equal(existsSync(folder), false, "the next start removes the folder that a killed process left");
  }
});
