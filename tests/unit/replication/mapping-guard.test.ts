import assert from "node:assert/strict";
import { NamespaceMap, NamespaceOffloading } from "../../../runtime/api";
import type { Replicable } from "../../../runtime/replication/copy";
import { consents, withdrawals } from "../../../runtime/replication/mapping-guard";

const map = (desiredMapping?: Record<string, string>): Replicable => ({
  apiVersion: NamespaceMap.apiVersion,
  kind: NamespaceMap.kind,
  metadata: { name: "milan", namespace: "to-milan" },
  spec: desiredMapping === undefined ? {} : { desiredMapping },
});

describe("what a map takes from its copy", () => {
  const rows: [string, Replicable, Replicable, object[]][] = [
    ["nothing of what is the same", map({ shop: "shop-rome" }), map({ shop: "shop-rome" }), []],
    ["nothing of what is new", map({ shop: "shop-rome" }), map(), []],
    ["what is left out", map(), map({ shop: "s" }), [{ namespace: "shop", remoteName: undefined }]],
    [
      "what has another name",
      map({ shop: "t", tea: "u" }),
      map({ shop: "s", tea: "u" }),
      [{ namespace: "shop", remoteName: "t" }],
    ],
  ];
  for (const [title, source, copy, expected] of rows)
    it(`is ${title}`, () => assert.deepEqual(withdrawals(source, copy), expected));
});

describe("a NamespaceOffloading's consent to a change of its namespace's place in a map", () => {
  const offloading = (status: NamespaceOffloading["status"], deleting = false): NamespaceOffloading => ({
    apiVersion: NamespaceOffloading.apiVersion,
    kind: NamespaceOffloading.kind,
    metadata: {
      name: "offloading",
      namespace: "shop",
      ...(deleting ? { deletionTimestamp: "2026-03-01T10:00:00Z" } : {}),
    },
    spec: NamespaceOffloading.parseSpec({}),
    status,
  });
  const required = (status: string) => ({
    remoteNamespaceName: "shop-rome",
    remoteNamespacesConditions: { milan: [{ type: "OffloadingRequired", status }] },
  });
  const gaveWay = {
    remoteNamespaceName: "shop-rome",
    remoteNamespacesConditions: {
      milan: [
        { type: "OffloadingRequired", status: "True" },
        { type: "Ready", status: "False", reason: "RemoteNamespaceTaken" },
      ],
    },
  };
  const rows: [string, NamespaceOffloading | undefined, string | undefined, boolean][] = [
    ["is there without one", undefined, undefined, true],
    ["is there while it goes", offloading(required("True"), true), undefined, true],
    ["is there where it selects the cluster no more", offloading(required("False")), undefined, true],
    ["is there where it knows nothing of the cluster", offloading({}), undefined, true],
    ["is not there while it selects the cluster", offloading(required("True")), undefined, false],
    ["is there where it gave way to another of its remote name", offloading(gaveWay), undefined, true],
    ["is there for the name that it worked out", offloading(required("True")), "shop-rome", true],
    ["is not there for another name", offloading(required("True")), "elsewhere", false],
    ["is not there for a name before it worked out one", offloading(undefined), "shop-rome", false],
  ];
  for (const [title, offloaded, remoteName, expected] of rows)
    it(title, () => assert.equal(consents(offloaded, "milan", { namespace: "shop", remoteName }), expected));
});
