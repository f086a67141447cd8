import assert from "node:assert/strict";

import { validateNamespaceOffloading } from "../../../runtime/webhooks/namespace-offloading";
import { NamespaceOffloading } from "../../../runtime/api";
import { admissionRequest } from "./requests";

const offloading = (spec: object, metadata: object = {}) => ({
  apiVersion: "offloading.liqo.io/v1beta1",
  kind: "NamespaceOffloading",
  metadata: { name: "offloading", namespace: "shop", ...metadata },
  spec,
});
const selector = (operator: string, ...values: string[]) => ({
  clusterSelector: { nodeSelectorTerms: [{ matchExpressions: [{ key: "region", operator, values }] }] },
});

const dependencies = { clusterID: "rome", liqoNamespace: "liqo", namespaceLabels: {}, offloadings: [] };

describe("the validation of a NamespaceOffloading", () => {
  type Row = [title: string, request: Parameters<typeof admissionRequest>[0], denial: RegExp | undefined];
  const table: Row[] = [
    ["takes the defaults", { object: offloading({}) }, undefined],
    [
      "takes a selected name",
      { object: offloading({ namespaceMappingStrategy: "SelectedName", remoteNamespaceName: "boutique" }) },
      undefined,
    ],
    [
      "refuses another name",
      { object: offloading({}, { name: "other" }) },
      /^NamespaceOffloading name must match offloading$/,
    ],
    [
      "refuses SelectedName without a name",
      { object: offloading({ namespaceMappingStrategy: "SelectedName" }) },
      /^The RemoteNamespaceName value cannot be empty when using the SelectedName NamespaceMappingStrategy$/,
    ],
    [
      "refuses a remote name that is too long",
      { namespace: "n".repeat(60), object: offloading({}) },
      /has 65 characters, and a namespace may have 63/,
    ],
    [
      "refuses a remote name that is none",
      { object: offloading({ namespaceMappingStrategy: "SelectedName", remoteNamespaceName: "No_Name" }) },
      /is no name for a namespace/,
    ],
    [
      "refuses a remote name that every provider has",
      {
        object: offloading({ namespaceMappingStrategy: "SelectedName", remoteNamespaceName: "kube-system" }),
      },
      /^the remote namespace would be named "kube-system", which every provider has as Kubernetes' own .*: use the strategy DefaultName/,
    ],
    [
      "refuses the name of a namespace that every provider has",
      { namespace: "default", object: offloading({ namespaceMappingStrategy: "EnforceSameName" }) },
      /named "default", which every provider has/,
    ],
    [
      "refuses a selector that is invalid",
      { object: offloading(selector("In")) },
      /^Invalid ClusterSelector: spec\.clusterSelector\.nodeSelectorTerms\[0\].*values: empty/,
    ],
    [
      "refuses another mapping strategy",
      {
        operation: "UPDATE",
        oldObject: offloading({}),
        object: offloading({ namespaceMappingStrategy: "EnforceSameName" }),
      },
      /^The NamespaceMappingStrategy value cannot be modified after creation$/,
    ],
    [
      "refuses another remote name",
      {
        operation: "UPDATE",
        oldObject: offloading({}),
        object: offloading({ remoteNamespaceName: "boutique" }),
      },
      /^The RemoteNamespaceName value cannot be modified after creation$/,
    ],
    [
      "takes another selector",
      { operation: "UPDATE", oldObject: offloading({}), object: offloading(selector("In", "B")) },
      undefined,
    ],
    [
      "refuses another selector that is invalid",
      { operation: "UPDATE", oldObject: offloading({}), object: offloading(selector("Gt", "B")) },
      /exactly one integer/,
    ],
    [
      "leaves an invalid selector alone that was there before",
      {
        operation: "UPDATE",
        oldObject: offloading(selector("In")),
        object: offloading({ ...selector("In"), podOffloadingStrategy: "LocalAndRemote" }),
      },
      undefined,
    ],
    [
      "takes anything that is being deleted",
      {
        operation: "UPDATE",
        oldObject: offloading({}),
        object: offloading(
          { namespaceMappingStrategy: "EnforceSameName" },
          { deletionTimestamp: "2026-03-01T10:00:00Z" },
        ),
      },
      undefined,
    ],
  ];
  for (const [title, request, denial] of table) {
    it(title, () => {
      const verdict = validateNamespaceOffloading(admissionRequest(request), dependencies);
      if (denial === undefined) assert.deepEqual(verdict, { allowed: true });
      else assert.match(verdict.allowed ? "allowed" : verdict.message, denial);
    });
  }

  it("refuses namespaces whose pods keep the cluster and its peerings alive, and lets what is there be changed", () => {
    const tenant = { "liqo.io/tenant-namespace": "true", "liqo.io/remote-cluster-id": "milan" };
    const rows: [namespace: string, labels: Record<string, string>, holder: string | undefined][] = [
      ["kube-system", {}, "is Kubernetes' own"],
      ["kube-public", {}, "is Kubernetes' own"],
      ["kube-node-lease", {}, "is Kubernetes' own"],
      ["liqo", {}, "is that of Liqo itself"],
      ["to-milan", tenant, 'is the tenant namespace of cluster "milan", with its credentials'],
      ["to-milan", { ...tenant, "liqo.io/tenant-namespace": "false" }, undefined],
      ["default", {}, undefined],
      ["liqo-storage", {}, undefined],
      // The twin of a consumer's namespace may be offloaded further.
      ["shop-rome", { "liqo.io/remote-cluster-id": "rome" }, undefined],
    ];
    for (const [namespace, namespaceLabels, holder] of rows) {
      const object = offloading({}, { namespace });
      const given = { ...dependencies, namespaceLabels };
      const verdict = validateNamespaceOffloading(admissionRequest({ namespace, object }), given);
      assert.deepEqual(
        verdict,
        holder === undefined
          ? { allowed: true }
          : {
              allowed: false,
              code: 403,
              message: `NamespaceOffloading "${namespace}/offloading": metadata.namespace: "${namespace}" ${holder}, and must stay in this cluster; put what is to be offloaded into a namespace of its own, and offload that`,
            },
      );
      const after = offloading({ podOffloadingStrategy: "LocalAndRemote" }, { namespace });
      const update = { operation: "UPDATE" as const, namespace, oldObject: object, object: after };
      assert.equal(validateNamespaceOffloading(admissionRequest(update), given).allowed, true);
    }
  });

  it("refuses a remote name that another namespace has, and lets what is there be changed", () => {
    const selected = { namespaceMappingStrategy: "SelectedName", remoteNamespaceName: "shop-rome" };
    const same = { namespaceMappingStrategy: "EnforceSameName" };
    const gone = { deletionTimestamp: "2026-03-01T10:00:00Z" };
    const rows: [existing: object, metadata: object, namespace: string, spec: object, field: string][] = [
      [{}, {}, "b", selected, 'spec.remoteNamespaceName: "shop-rome" is'],
      [
        selected,
        { namespace: "b" },
        "shop",
        {},
        'spec.namespaceMappingStrategy: "DefaultName" gives the remote name "shop-rome", which is',
      ],
      [
        {},
        {},
        "shop-rome",
        same,
        'spec.namespaceMappingStrategy: "EnforceSameName" gives the remote name "shop-rome", which is',
      ],
      [{}, gone, "b", selected, ""],
      [{}, {}, "shop", {}, ""],
      [{}, {}, "b", { ...selected, remoteNamespaceName: "b-rome" }, ""],
      [{ namespaceMappingStrategy: "SelectedName" }, {}, "b", selected, ""],
    ];
    for (const [existing, metadata, namespace, spec, field] of rows) {
      const there = NamespaceOffloading.fromApiServer(offloading(existing, metadata));
      const given = { ...dependencies, offloadings: [there] };
      const object = offloading(spec, { namespace });
      const verdict = validateNamespaceOffloading(admissionRequest({ namespace, object }), given);
      const message = verdict.allowed ? "" : verdict.message;
      const holder = there.metadata.namespace ?? "";
      assert.ok(
        message.startsWith(field === "" ? "" : `NamespaceOffloading "${namespace}/offloading": ${field}`),
      );
      assert.equal(
        message.includes(`that of NamespaceOffloading "${holder}/offloading" already`),
        field !== "",
        message,
      );
      assert.equal(verdict.allowed, field === "");
      const update = { operation: "UPDATE" as const, namespace, oldObject: object, object };
      assert.equal(validateNamespaceOffloading(admissionRequest(update), given).allowed, true);
    }
  });

  it("warns of a strategy that pods may already violate", () => {
    const strategy = (podOffloadingStrategy: string) => offloading({ podOffloadingStrategy });
    const change = (from: string, to: string) =>
      validateNamespaceOffloading(
        admissionRequest({ operation: "UPDATE", oldObject: strategy(from), object: strategy(to) }),
        dependencies,
      );
    const warned = {
      allowed: true,
      warnings: [
        "The PodOffloadingStrategy was mutated to a more restrictive setting: existing pods violating this policy might still be running",
      ],
    };
    assert.deepEqual(change("LocalAndRemote", "Remote"), warned);
    assert.deepEqual(change("Remote", "Local"), warned);
    assert.deepEqual(change("Remote", "LocalAndRemote"), { allowed: true });
    assert.deepEqual(change("Remote", "Remote"), { allowed: true });
  });

  it("warns of a remote name that the strategy does not use, once", () => {
    const object = offloading({ remoteNamespaceName: "boutique" });
    const verdict = (operation: "CREATE" | "UPDATE") =>
      validateNamespaceOffloading(
        admissionRequest({
          operation,
          namespace: "shop",
          object,
          ...(operation === "UPDATE" && { oldObject: object }),
        }),
        dependencies,
      );
    const created = verdict("CREATE");
    assert.ok(created.allowed);
    assert.match(
      (created.warnings ?? []).join("\n"),
      /^NamespaceOffloading "shop\/offloading": spec\.remoteNamespaceName: "boutique" is not used .* DefaultName, .* named "shop-rome"; .*SelectedName$/,
    );
    assert.deepEqual(verdict("UPDATE"), { allowed: true });
  });
});
