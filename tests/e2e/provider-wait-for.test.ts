import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

import { WaitFor } from "../../provider";
import { discoverKind } from "../../provider/core/observation";
import { ConfigMap, CustomResourceDefinition, type KubeObject, Namespace, Secret } from "../../runtime/api";
import { KubeClient } from "../../runtime/kube";
import { editKubeconfig } from "../support/kubeconfig-edit";
import { pulumiProject, type PulumiProject } from "../support/pulumi-project";
import { settled, text } from "../support/stack-outcome";
import { until } from "../support/until";
import { withControlPlanes } from "../support/with-control-planes";

describe("WaitFor, on the real engine", function () {
  this.timeout(300_000);
  const controlPlane = withControlPlanes({ milan: { definitions: "absent" } });
  const namespace = "liqo-tenant-rome";
  let client: KubeClient;
  let project: PulumiProject;

  before(async function () {
    this.timeout(30 * 60_000); // the first run on a machine builds the engine
    project = await pulumiProject("wait-for", { progress: console.log });
    client = KubeClient.fromKubeconfig(controlPlane("milan").kubeconfig);
    await client.create(Namespace, { apiVersion: "v1", kind: "Namespace", metadata: { name: namespace } });
  });
  after(() => {
    client?.close();
    project?.remove();
  });

  const configMap = (name: string, data: Record<string, string>) =>
    client.apply(
      ConfigMap,
      { apiVersion: "v1", kind: "ConfigMap", metadata: { name, namespace }, data },
      { fieldManager: "test" },
    );
  const waiting = (name: string, more: Partial<ConstructorParameters<typeof WaitFor>[1]>) => () => {
    const wait = new WaitFor("wait", {
      kubeconfig: controlPlane("milan").kubeconfig,
      apiVersion: "v1",
      kind: "ConfigMap",
      name,
      namespace,
      timeoutSeconds: 60,
      ...more,
    });
    return Promise.resolve({ value: wait.value });
  };
  const field = (path: string, equals?: string) => ({
    field: { path, ...(equals !== undefined && { equals }) },
  });

  it("waits for a field that comes later, and gives its value", async () => {
    const stack = await project.stack("field", waiting("late", field("{.data.phase}")));
    const up = stack.up();
    await configMap("late", {});
    setTimeout(() => void configMap("late", { phase: "Bound" }), 2_000);
    assert.equal(text((await up).outputs["value"]), "Bound");
    await settled(stack);
    assert.ok(
      !project.stateFile("field").includes("certificate-authority-data"),
      "the kubeconfig is a secret",
    );
  });

  it("with another expectation is an update and looks again", async () => {
    await configMap("late", { phase: "Bound", next: "Released" });
    const stack = await project.stack("field", waiting("late", field("{.data.next}", "Released")));
    const { summary, outputs } = await stack.up();
    assert.equal(summary.resourceChanges?.["update"], 1);
    assert.equal(text(outputs["value"]), "Released");
    await settled(stack);
  });

  it("waits anew after a refresh that found it no longer so", async () => {
    await configMap("late", { phase: "Bound" });
    const stack = await project.stack("field", waiting("late", field("{.data.next}", "Released")));
    assert.equal((await stack.refresh()).summary.resourceChanges?.["delete"], 1);
    const up = stack.up();
    setTimeout(() => void configMap("late", { next: "Released" }), 1_000);
    assert.equal((await up).summary.resourceChanges?.["create"], 1);
    await stack.destroy();
  });

  it("waits for absence", async () => {
    await configMap("leaving", {});
    const stack = await project.stack("absence", waiting("leaving", { absent: true }));
    const up = stack.up();
    setTimeout(() => void client.delete(ConfigMap, { name: "leaving", namespace }), 1_500);
    await up;
    await settled(stack);
    await stack.destroy();
  });

  it("waits for a condition, of a kind that is not served yet", async () => {
    const wanted = {
      apiVersion: "tests.liqo.io/v1",
      kind: "Probe",
      name: "pool",
      condition: { type: "Ready" },
    };
    const stack = await project.stack("condition", waiting("pool", wanted));
    const up = stack.up();
    setTimeout(() => void readyProbe(client, { name: "pool", namespace }), 1_500);
    await up;
    await settled(stack);
    await stack.destroy();
  });

  it("that reaches its deadline says what it saw and what to do, and the next run goes on waiting", async () => {
    await configMap("never", { phase: "Pending" });
    const stack = await project.stack(
      "deadline",
      waiting("never", { ...field("{.data.phase}", "Bound"), timeoutSeconds: 3 }),
    );
    await assert.rejects(stack.up(), (error: Error) => {
      const url = controlPlane("milan").url;
      for (const part of [
        `ConfigMap "${namespace}/never" at ${url}: waited 3 s for field {.data.phase}=Bound; last seen: {.data.phase} is Pending`,
        "seen: 0 s: {.data.phase} is Pending",
        `next: look with "kubectl get configmap never -n ${namespace} -o yaml"`,
      ]) {
        assert.ok(error.message.includes(part), `${part}\nin\n${error.message}`);
      }
      return true;
    });
    await configMap("never", { phase: "Bound" });
    assert.equal(text((await stack.up()).outputs["value"]), "Bound");
    await settled(stack);
    await stack.destroy();
  });

  it("gives up at once when it cannot come true", async () => {
    await configMap("denied", { phase: "Denied" });
    const failOn = { path: "{.data.phase}", equals: "Denied" };
    const stack = await project.stack(
      "refusal",
      waiting("denied", { ...field("{.data.phase}", "Bound"), failOn }),
    );
    await assert.rejects(
      stack.up(),
      /field \{\.data\.phase\}=Bound cannot come: \{\.data\.phase\} is Denied/,
    );
    await stack.destroy();
  });

  it("with credentials that are not accepted fails at once and says so", async () => {
    const kubeconfig = editKubeconfig(controlPlane("milan").kubeconfig, {}, { token: "expired" });
    const stack = await project.stack(
      "unauthorized",
      waiting("late", { ...field("{.data.phase}"), kubeconfig }),
    );
    await assert.rejects(stack.up(), /does not accept the kubeconfig's credentials \(401\)/);
    await stack.destroy();
  });

  it("with another cluster's CA fails at once and says so", async () => {
    const authority = { "certificate-authority-data": otherAuthority() };
    const kubeconfig = editKubeconfig(controlPlane("milan").kubeconfig, authority, {});
    const stack = await project.stack(
      "authority",
      waiting("late", { ...field("{.data.phase}"), kubeconfig, timeoutSeconds: 250 }),
    );
    await assert.rejects(stack.up(), /the API server cannot be used: .*(certificate|CERT)/i);
    await stack.destroy();
  });

  it("marks values of Secrets as secret", async () => {
    const data = { token: Buffer.from("very secret token").toString("base64") };
    await client.create(Secret, {
      apiVersion: "v1",
      kind: "Secret",
      metadata: { name: "token", namespace },
      data,
    });
    const stack = await project.stack(
      "secret",
      waiting("token", { kind: "Secret", ...field("{.data.token}") }),
    );
    const { outputs } = await stack.up();
    assert.deepEqual(outputs["value"], { value: data.token, secret: true });
    await settled(stack);
    assert.ok(!project.stateFile("secret").includes(data.token));
    await stack.destroy();
  });

  it("refuses inputs that make no sense, naming each", async () => {
    const nothing = await project.stack("refused", waiting("late", {}));
    await assert.rejects(nothing.preview(), /nothing to wait for: give condition, field or absent/);
    const wrong = { field: { path: "{.a..b}" }, timeoutSeconds: 0, name: "Not_A_Name" };
    const faulty = await project.stack("refused", waiting("late", wrong));
    await assert.rejects(faulty.preview(), (error: Error) => {
      assert.match(error.message, /is not a path at/);
      assert.match(error.message, /timeoutSeconds/);
      assert.match(error.message, /"Not_A_Name" is not a name/);
      return true;
    });
  });
});

/** Defines a kind and makes one object of it that becomes Ready: first for an older generation, then for the present one. */
async function readyProbe(client: KubeClient, ref: { name: string; namespace: string }): Promise<void> {
  const [group, version, kind, plural] = ["tests.liqo.io", "v1", "Probe", "probes"];
  const schema = { openAPIV3Schema: { type: "object", "x-kubernetes-preserve-unknown-fields": true } };
  await client.create(CustomResourceDefinition, {
    apiVersion: "apiextensions.k8s.io/v1",
    kind: "CustomResourceDefinition",
    metadata: { name: `${plural}.${group}` },
    spec: {
      group,
      names: { kind, plural },
      scope: "Namespaced",
      versions: [{ name: version, served: true, storage: true, subresources: { status: {} }, schema }],
    },
  });
  const limits = { signal: AbortSignal.timeout(30_000), deadlineMs: 5_000 };
  const probe = await until("the kind", () => discoverKind(client, `${group}/${version}`, kind, limits));
  const made = await until("the object", () =>
    client.create<KubeObject>(probe, { apiVersion: `${group}/${version}`, kind, metadata: ref }),
  );
  for (const observedGeneration of [0, made.metadata.generation]) {
    await new Promise((resolve) => setTimeout(resolve, 500));
    const status = { conditions: [{ type: "Ready", status: "True", observedGeneration }] };
    await client.patch(probe, ref, { status }, { type: "merge", subresource: "status" });
  }
}

/** A CA that signed nothing here, base64 of PEM. */
function otherAuthority(): string {
  const folder = mkdtempSync(join(tmpdir(), "liqo-ca-"));
  try {
    const [key, certificate] = [join(folder, "key.pem"), join(folder, "ca.pem")];
    const subject = ["-subj", "/CN=another cluster"];
    const request = ["req", "-x509", "-newkey", "ed25519", "-nodes", "-days", "1", ...subject];
    execFileSync("openssl", [...request, "-keyout", key, "-out", certificate], { stdio: "ignore" });
    return readFileSync(certificate).toString("base64");
  } finally {
    rmSync(folder, { recursive: true });
  }
}
