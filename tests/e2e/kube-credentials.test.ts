import assert from "node:assert/strict";
import { chmodSync, mkdtempSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";

import {
  ClusterRoleBinding,
  ConfigMap,
  Namespace,
  ServiceAccount,
  TokenRequest,
} from "../../runtime/api/kubernetes";
import { ConnectionError, isUnauthorized, KubeClient } from "../../runtime/kube";
import { configMap } from "../support/config-map";
import { editKubeconfig, userPem } from "../support/kubeconfig-edit";
import { until } from "../support/until";
import { whoAmI } from "../support/who-am-i";
import { withControlPlanes } from "../support/with-control-planes";

describe("credentials of the kube client", function () {
  this.timeout(60_000);
  const controlPlane = withControlPlanes({ rome: { definitions: "absent" } });
  let client: KubeClient;
  let folder: string;
  before(async () => {
    folder = mkdtempSync(join(tmpdir(), "pulumi-liqo-kube-credentials-"));
    client = KubeClient.fromKubeconfig(controlPlane("rome").kubeconfig);
    await client.create(Namespace, { apiVersion: "v1", kind: "Namespace", metadata: { name: "rome-apps" } });
  });
  after(() => {
    client.close();
    rmSync(folder, { recursive: true, force: true });
  });

  it("swaps the client certificate without ending a watch", async () => {
    const plane = controlPlane("rome");
    const group = ["system:masters"];
    const swapping = KubeClient.fromKubeconfig(await plane.kubeconfigFor({ name: "rome-1", groups: group }));
    const watch = await swapping.stream({ path: "/api/v1/namespaces/rome-apps/configmaps?watch=true" });
    const seen: string[] = [];
    let ended = false;
    watch.body.on("data", (chunk: Buffer) => seen.push(chunk.toString())).on("close", () => (ended = true));
    assert.equal(await whoAmI(swapping), "rome-1");
    swapping.replaceCredentials(await plane.kubeconfigFor({ name: "rome-2", groups: group }));
    assert.equal(await whoAmI(swapping), "rome-2");
    await client.create(ConfigMap, configMap("rome-apps", "after-swap", {}));
    await until("an event on the old watch", () => seen.join("").includes("after-swap"));
    assert.equal(ended, false);
    assert.throws(() => swapping.replaceCredentials("clusters: 7"), /clusters/);
    assert.equal(await whoAmI(swapping), "rome-2");
    // Requests that are on their way while the credentials change neither fail nor wait.
    const busy = Array.from({ length: 200 }, async (_, i) => {
      await pause(i);
      return await swapping.get(Namespace, { name: "default" });
    });
    for (const name of ["rome-3", "rome-4", "rome-5"]) {
      const next = await plane.kubeconfigFor({ name, groups: group });
      await pause(30);
      swapping.replaceCredentials(next);
    }
    assert.ok((await Promise.all(busy)).every((namespace) => namespace?.metadata.name === "default"));
    assert.equal(await whoAmI(swapping), "rome-5");
    assert.equal(ended, false);
    swapping.close();
    await until("the end of the watch on a replaced connection", () => ended);
  });

  it("reads a token file again when it is replaced on disk, even where the old token has been revoked", async () => {
    const file = join(folder, "token");
    const token = async (name: string) => {
      const account = {
        apiVersion: "v1",
        kind: "ServiceAccount",
        metadata: { name, namespace: "rome-apps" },
      } as const;
      await client.create(ServiceAccount, account);
      const body = { apiVersion: "authentication.k8s.io/v1", kind: "TokenRequest", spec: {} };
      const { status } = await client.createSubresource(
        ServiceAccount,
        account.metadata,
        "token",
        body,
        (value) => TokenRequest.parse(value),
      );
      return status?.token ?? "";
    };
    const first = await token("reader-1");
    const second = await token("reader-2");
    await client.create(ClusterRoleBinding, {
      apiVersion: "rbac.authorization.k8s.io/v1",
      kind: "ClusterRoleBinding",
      metadata: { name: "readers" },
      roleRef: { apiGroup: "rbac.authorization.k8s.io", kind: "ClusterRole", name: "cluster-admin" },
      subjects: [{ kind: "ServiceAccount", name: "reader-2", namespace: "rome-apps" }],
    });
    const write = (text: string) => {
      writeFileSync(`${file}.new`, text, { mode: 0o600 });
      renameSync(`${file}.new`, file);
    };
    write(first);
    const reader = KubeClient.fromKubeconfig(
      editKubeconfig(controlPlane("rome").kubeconfig, {}, { tokenFile: "token" }),
      { baseDirectory: folder },
    );
    assert.equal(await whoAmI(reader), "system:serviceaccount:rome-apps:reader-1");
    write(second);
    await client.delete(ServiceAccount, { name: "reader-1", namespace: "rome-apps" });
    await until(
      "the new token in use",
      async () => (await whoAmI(reader)) === "system:serviceaccount:rome-apps:reader-2",
      { timeoutMs: 15_000 },
    );
    reader.close();
  });

  it("takes tokens and certificates from an exec plugin", async () => {
    const plugin = join(folder, "plugin.sh");
    const pem = (field: string) => userPem(controlPlane("rome").kubeconfig, field);
    const credential = {
      apiVersion: "client.authentication.k8s.io/v1",
      kind: "ExecCredential",
      status: {
        clientCertificateData: pem("client-certificate-data"),
        clientKeyData: pem("client-key-data"),
      },
    };
    writeFileSync(join(folder, "credential.json"), JSON.stringify(credential), { mode: 0o600 });
    writeFileSync(plugin, `#!/bin/sh\ncat "${folder}/credential.json"\n`);
    chmodSync(plugin, 0o700);
    const exec = { apiVersion: credential.apiVersion, command: plugin, interactiveMode: "Never" };
    const kubeconfig = editKubeconfig(controlPlane("rome").kubeconfig, {}, { exec });
    const issued = KubeClient.fromKubeconfig(kubeconfig);
    assert.equal(await whoAmI(issued), "kubernetes-admin");
    issued.close();
    writeFileSync(join(folder, "credential.json"), `secret-token-in-broken-output {`);
    const broken = KubeClient.fromKubeconfig(kubeconfig);
    await assert.rejects(whoAmI(broken), (error: Error) => {
      assert.match(
        error.message,
        /kubeconfig: user: exec plugin ".*plugin\.sh" failed: its output is not JSON/,
      );
      assert.doesNotMatch(JSON.stringify([error.message, String(error.cause)]), /secret-token/);
      return true;
    });
    broken.close();
  });

  it("says what is wrong with a server or a credential, never the credential", async () => {
    const plane = controlPlane("rome");
    const token = "eyJhbGciOiJSUzI1NiJ9.secret-payload.signature";
    const refused = KubeClient.fromKubeconfig(editKubeconfig(plane.kubeconfig, {}, { token }));
    await assert.rejects(refused.get(Namespace, { name: "default" }), (error: Error) => {
      assert.ok(isUnauthorized(error));
      assert.doesNotMatch(error.message, /secret/);
      return true;
    });
    refused.close();
    const strangerCa = { "certificate-authority-data": undefined };
    const untrusted = KubeClient.fromKubeconfig(editKubeconfig(plane.kubeconfig, strangerCa));
    await assert.rejects(untrusted.get(Namespace, { name: "default" }), (error: Error) => {
      assert.ok(error instanceof ConnectionError);
      assert.match(error.message, /^cannot connect to 127\.0\.0\.1:\d+: .*certificate/);
      return true;
    });
    untrusted.close();
    const trusting = KubeClient.fromKubeconfig(
      editKubeconfig(plane.kubeconfig, { ...strangerCa, "insecure-skip-tls-verify": true }),
    );
    assert.equal(await whoAmI(trusting), "kubernetes-admin");
    trusting.close();
    const nobody = KubeClient.fromKubeconfig(
      editKubeconfig(plane.kubeconfig, { server: "https://127.0.0.1:1" }),
    );
    await assert.rejects(
      nobody.get(Namespace, { name: "default" }),
      /cannot connect to 127\.0\.0\.1:1: .*ECONNREFUSED/,
    );
    nobody.close();
  });
});
