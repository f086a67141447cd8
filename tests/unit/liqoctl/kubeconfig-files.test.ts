import assert from "node:assert/strict";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

import { parseKubeconfig } from "../../../runtime/kube";
import { findKubeconfigFiles, mergeKubeconfigs } from "../../../runtime/liqoctl/cluster/kubeconfig-files";

const rome = `
current-context: rome
clusters: [{ name: rome, cluster: { server: "https://rome:6443", certificate-authority: pki/ca.crt } }]
users: [{ name: nero, user: { token: fiddle } }]
contexts: [{ name: rome, context: { cluster: rome, user: nero } }]
`;
const milan = `
current-context: milan
clusters:
  - { name: milan, cluster: { server: "https://milan:6443" } }
  - { name: rome, cluster: { server: "https://elsewhere:6443" } }
users: [{ name: ambrose, user: { tokenFile: /run/token } }]
contexts: [{ name: milan, context: { cluster: milan, user: ambrose } }]
`;

describe("kubeconfigs of liqoctl", () => {
  const files = [
    { path: "/etc/rome/config", text: rome },
    { path: "/etc/milan/config", text: milan },
  ];

  it("are one: the first entry of a name counts, and so does the first current context", () => {
    const merged = parseKubeconfig(mergeKubeconfigs(files));
    assert.equal(merged.server.host, "rome:6443");
    assert.deepEqual(merged.certificateAuthority, { file: "/etc/rome/pki/ca.crt" });
    assert.deepEqual(merged.credentials, { type: "token", token: "fiddle" });
  });

  it("give another context, cluster or user where flags say so", () => {
    const milanContext = parseKubeconfig(mergeKubeconfigs(files, { context: "milan" }));
    assert.deepEqual(milanContext.credentials, { type: "token-file", file: "/run/token" });
    const mixed = parseKubeconfig(mergeKubeconfigs(files, { cluster: "milan" }));
    assert.deepEqual([mixed.server.host, mixed.credentials.type], ["milan:6443", "token"]);
  });

  describe("are looked for", () => {
    const folder = mkdtempSync(join(tmpdir(), "pulumi-liqo-kubeconfig-"));
    after(() => rmSync(folder, { recursive: true, force: true }));
    const world = (KUBECONFIG?: string) => ({
      environment: { KUBECONFIG },
      home: join(folder, "home"),
      workingDirectory: folder,
    });
    before(() => {
      mkdirSync(join(folder, "home", ".kube"), { recursive: true });
      writeFileSync(join(folder, "home", ".kube", "config"), milan);
      writeFileSync(join(folder, "rome"), rome);
    });
    const paths = (...args: Parameters<typeof findKubeconfigFiles>) =>
      findKubeconfigFiles(...args).map(({ path }) => path);

    it("at the flag, then in KUBECONFIG, then at home", () => {
      assert.deepEqual(paths("rome", "--kubeconfig", world("other")), [join(folder, "rome")]);
      assert.deepEqual(paths(undefined, "--kubeconfig", world(`missing:${join(folder, "rome")}`)), [
        join(folder, "rome"),
      ]);
      assert.deepEqual(paths(undefined, "--kubeconfig", world()), [join(folder, "home", ".kube", "config")]);
    });

    it("and missed by name", () => {
      assert.throws(
        () => paths("athens", "--remote-kubeconfig", world()),
        /--remote-kubeconfig athens: there is no such file/,
      );
      assert.throws(
        () => paths(undefined, "--kubeconfig", world("missing")),
        /KUBECONFIG names missing, and there is no such file/,
      );
    });
  });
});
