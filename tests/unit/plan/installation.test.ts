import assert from "node:assert/strict";

import { OWN_KINDS } from "../../../runtime/api";
import { deployments } from "../../../runtime/plan/deployments";
import { installation } from "../../../runtime/plan/installation";
import { installationDataSchema } from "../../../runtime/plan/installation-settings";
import type { Manifest } from "../../../runtime/plan/manifest";

const settings = { clusterId: "milan", namespace: "liqo-system", image: "runtime:7" };
const manifests = installation(settings);

function find(kind: string, name: string): Manifest {
  const found = manifests.find((manifest) => manifest.kind === kind && manifest.metadata.name === name);
  assert.ok(found, `${kind} ${name} is planned`);
  return found;
}

const data = (value: object) => installationDataSchema.parse({ image: "runtime:7", ...value });

describe("the plan of an installation", () => {
  it("defines every kind, before anything else", () => {
    const kinds = manifests.slice(0, OWN_KINDS.length).map(({ kind }) => kind);
    assert.deepEqual(new Set(kinds), new Set(["CustomResourceDefinition"]));
    assert.equal(OWN_KINDS.length, 28);
  });

  it("has no two objects of one name", () => {
    const names = manifests.map(
      ({ kind, metadata }) => `${kind}/${metadata.namespace ?? ""}/${metadata.name}`,
    );
    assert.deepEqual(names, [...new Set(names)]);
  });

  it("puts every namespaced object into the namespace given, after the namespace itself", () => {
    const namespaces = manifests.flatMap(({ metadata }) => metadata.namespace ?? []);
    assert.deepEqual(new Set(namespaces), new Set(["liqo-system"]));
    const first = manifests.findIndex(({ metadata }) => metadata.namespace !== undefined);
    const home = manifests.findIndex(({ kind }) => kind === "Namespace");
    assert.ok(home >= 0 && home < first);
  });

  it("leaves the namespace to others where asked", () => {
    const without = installation({ ...settings, createNamespace: false });
    assert.deepEqual(
      without.filter(({ kind }) => kind === "Namespace"),
      [],
    );
    assert.equal(without.length, manifests.length - 1);
  });

  it("says who the cluster is where everything looks for it", () => {
    const configMap = find("ConfigMap", "liqo-clusterid-configmap");
    assert.equal(configMap.metadata.labels?.["app.kubernetes.io/name"], "clusterid-configmap");
    assert.deepEqual("data" in configMap && configMap.data, { CLUSTER_ID: "milan" });
  });

  it("reports to nobody, unless asked to; then under a random name", () => {
    const text = (all: readonly Manifest[]) =>
      JSON.stringify(all.filter(({ kind }) => kind !== "CustomResourceDefinition"));
    assert.doesNotMatch(text(manifests), /telemetry/i);
    const telemetry = { endpoint: "https://reports.example/liqo" };
    const telemetryIdentity = "3f0c9a52-6f0e-4a43-9a53-0d7d1f7c2f11";
    const asked = text(installation({ ...settings, telemetry, telemetryIdentity }));
    assert.match(asked, /--telemetry-endpoint=https:\/\/reports\.example\/liqo/);
    assert.match(asked, /"CLUSTER_ID_TELEMETRY":"3f0c9a52/);
    assert.throws(
      () => installation({ ...settings, telemetry }),
      /telemetryIdentity: is missing; give a random UUID/,
    );
    assert.throws(
      () => installation({ ...settings, telemetry: { endpoint: "reports.example" }, telemetryIdentity }),
      /telemetry\.endpoint: .*is no URL; write one with https/,
    );
  });

  for (const [role, appName] of [
    ["liqo-remote-controlplane", "remote-controlplane"],
    ["liqo-virtual-kubelet-remote", "virtual-kubelet-remote"],
    ["liqo-virtual-kubelet-remote-clusterwide", "virtual-kubelet-remote-clusterwide"],
    ["liqo-virtual-kubelet-local", "virtual-kubelet-local"],
    ["liqo-virtual-kubelet-namespace", "virtual-kubelet-namespace"],
    ["liqo-virtual-kubelet-tenant-ns", "virtual-kubelet-tenant-ns"],
  ] as const) {
    it(`has the ClusterRole ${role}, found as ${appName}`, () => {
      assert.equal(find("ClusterRole", role).metadata.labels?.["app.kubernetes.io/name"], appName);
    });
  }

  it("takes what the virtual kubelet had in all namespaces when the controllers give it in single ones, and not before", () => {
    const at = (kind: string, name: string) => manifests.indexOf(find(kind, name));
    const controllers = at("Deployment", "liqo-controller-manager");
    for (const role of ["liqo-virtual-kubelet-namespace", "liqo-virtual-kubelet-tenant-ns"])
      assert.ok(at("ClusterRole", role) < controllers, role);
    assert.ok(at("ClusterRole", "liqo-virtual-kubelet-local") > controllers);
  });

  it("has the webhook that leads mark itself for the leader's Service, one or several", () => {
    const { selector } =
      (find("Service", "liqo-webhook-leader") as { spec?: { selector?: Record<string, string> } }).spec ?? {};
    const { "leaderelection.liqo.io/leader": leader, ...others } = selector ?? {};
    assert.equal(leader, "true");
    for (const replicas of [1, 2]) {
      const plan = deployments({ namespace: "liqo-system", ...data({ replicas: { webhook: replicas } }) });
      const { metadata, spec } = plan.webhook.spec?.template ?? {};
      assert.deepEqual(metadata?.labels, { ...metadata?.labels, ...others });
      assert.ok(
        !("leaderelection.liqo.io/leader" in (metadata?.labels ?? {})),
        "one that is being replaced stands beside its successor",
      );
      assert.ok(spec?.containers?.[0]?.args?.includes("--enable-leader-election=true"));
    }
  });

  it("gives every ServiceAccount of a Deployment a role", () => {
    const accounts = manifests
      .filter(({ kind }) => kind === "ServiceAccount")
      .map(({ metadata }) => metadata.name);
    assert.deepEqual(accounts.sort(), ["liqo-controller-manager", "liqo-virtual-kubelet", "liqo-webhook"]);
    const bound = JSON.stringify(manifests.filter(({ kind }) => kind === "ClusterRoleBinding"));
    for (const account of accounts)
      assert.ok(bound.includes(`"name":"${account}","namespace":"liqo-system"`));
  });

  it("gives a consumer's roles to nobody here, but for the control plane's own", () => {
    const bindings = manifests.filter(({ kind }) => kind === "ClusterRoleBinding");
    const bound = bindings.map(({ metadata }) => metadata.name);
    assert.ok(!bound.includes("liqo-virtual-kubelet-remote"));
    assert.ok(!bound.includes("liqo-virtual-kubelet-remote-clusterwide"));
  });

  it("elects a leader of the controller managers only among several", () => {
    const single = deployments({ namespace: "liqo", ...data({}) });
    const several = deployments({ namespace: "liqo", ...data({ replicas: { controllerManager: 3 } }) });
    const argsOf = (plan: typeof single) =>
      plan.controllerManager.spec?.template?.spec?.containers?.[0]?.args ?? [];
    assert.ok(argsOf(single).includes("--enable-leader-election=false"));
    assert.ok(argsOf(several).includes("--enable-leader-election=true"));
    assert.equal(single.controllerManager.spec?.strategy?.type, "Recreate", "two at once would both work");
    assert.equal(several.controllerManager.spec?.strategy?.type, "RollingUpdate");
  });

  it("tells the webhook and the controllers alike what pods of consumers may name, and the controllers what they may do", () => {
    const given = { podSecurity: "restricted", serviceAccounts: ["guest", "robot"], runtimeClasses: ["*"] };
    const flagsOf = (settings: object) => {
      const plan = deployments({ namespace: "liqo", ...data(settings) });
      return (["controllerManager", "webhook"] as const).map((component) =>
        (plan[component].spec?.template?.spec?.containers?.[0]?.args ?? []).filter((arg) =>
          /^--(pod-security|allowed-)/.test(arg),
        ),
      );
    };
    const allowed = ["--allowed-service-accounts=guest,robot", "--allowed-runtime-classes=*"];
    assert.deepEqual(flagsOf({}), [["--pod-security=baseline"], []]);
    assert.deepEqual(flagsOf({ offloading: given }), [["--pod-security=restricted", ...allowed], allowed]);
    assert.throws(() => data({ offloading: { podSecurity: "none" } }));
  });

  it("passes the API server's override, its CA as base64", () => {
    const plan = deployments({
      namespace: "liqo",
      ...data({ apiServer: { address: "api.milan.example:6443", ca: "-----BEGIN CERTIFICATE-----\n" } }),
    });
    const args = plan.controllerManager.spec?.template?.spec?.containers?.[0]?.args ?? [];
    assert.ok(args.includes("--api-server-address-override=api.milan.example:6443"));
    const ca = args.find((arg) => arg.startsWith("--ca-override="))?.slice("--ca-override=".length) ?? "";
    assert.equal(Buffer.from(ca, "base64").toString(), "-----BEGIN CERTIFICATE-----\n");
  });

  it("runs unprivileged, with a read-only root and a capped heap", () => {
    for (const plan of Object.values(deployments({ namespace: "liqo", ...data({}) }))) {
      const pod = plan.spec?.template?.spec;
      assert.equal(pod?.securityContext?.runAsNonRoot, true);
      const container = pod?.containers?.[0];
      assert.equal(container?.securityContext?.readOnlyRootFilesystem, true);
      assert.deepEqual(container?.securityContext?.capabilities?.drop, ["ALL"]);
      assert.match(
        container?.env?.find(({ name }) => name === "NODE_OPTIONS")?.value ?? "",
        /--max-old-space-size=\d+/,
      );
    }
  });

  it("is the same each time", () => {
    assert.deepEqual(installation(settings), manifests);
  });

  it("has the same objects whatever the data", () => {
    const identities = (list: Manifest[]) =>
      list.map(({ apiVersion, kind, metadata: { name, namespace } }) => [apiVersion, kind, namespace, name]);
    const other = installation({
      ...settings,
      clusterId: "turin",
      image: "other:8",
      imagePullSecrets: ["registry"],
      podCidrs: ["10.31.0.0/16"],
      clusterLabels: { region: "north" },
      replicas: { webhook: 2, virtualKubelet: 3 },
    });
    assert.deepEqual(identities(other), identities(manifests));
  });
});
