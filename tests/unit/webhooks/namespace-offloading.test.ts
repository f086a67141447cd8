import assert from "node:assert/strict";

import { validateNamespaceOffloading } from "../../../runtime/webhooks/namespace-offloading";
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
      const verdict = validateNamespaceOffloading(admissionRequest(request), "rome");
      if (denial === undefined) assert.deepEqual(verdict, { allowed: true });
      else assert.match(verdict.allowed ? "allowed" : verdict.message, denial);
    });
  }

  it("warns of a strategy that pods may already violate", () => {
    const strategy = (podOffloadingStrategy: string) => offloading({ podOffloadingStrategy });
    const change = (from: string, to: string) =>
      validateNamespaceOffloading(
        admissionRequest({ operation: "UPDATE", oldObject: strategy(from), object: strategy(to) }),
        "rome",
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
});
