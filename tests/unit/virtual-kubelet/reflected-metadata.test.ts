import assert from "node:assert/strict";

import {
  metadataPatch,
  remoteRootCaName,
  sourceRecordOf,
  withSourceRecord,
} from "../../../runtime/virtual-kubelet/reflection/reflected-metadata";

const RECORD = "offloading.liqo.io/source";

describe("metadataPatch", () => {
  const desired = (labels: Record<string, string>, annotations: Record<string, string> = {}) =>
    withSourceRecord("u1", { labels, annotations });

  it("finds nothing to do for what it made", () => {
    const made = desired({ a: "1" }, { b: "2" });
    assert.equal(metadataPatch(made, made), undefined);
  });

  it("leaves what the provider added", () => {
    const made = desired({ a: "1" });
    const existing = {
      labels: { ...made.labels, "liqo.io/creator-user": "pool-a8a4c692b93b" },
      annotations: { ...made.annotations, theirs: "t" },
    };
    assert.equal(metadataPatch(existing, made), undefined);
  });

  it("adds, changes and removes what came from the source", () => {
    const existing = desired({ stale: "x", changed: "old", kept: "k" }, { gone: "g" });
    const wanted = desired({ changed: "new", kept: "k", added: "y" });
    assert.deepEqual(metadataPatch({ ...existing, labels: { ...existing.labels, theirs: "t" } }, wanted), {
      labels: { changed: "new", added: "y", stale: null },
      annotations: { gone: null, [RECORD]: wanted.annotations[RECORD] },
    });
  });

  it("restores a label that was edited by hand", () => {
    const made = desired({ a: "1" });
    assert.deepEqual(metadataPatch({ ...made, labels: { a: "edited" } }, made)?.labels, { a: "1" });
  });

  it("removes nothing where there is no record, or an unreadable one", () => {
    const existing = { labels: { a: "1", old: "o" }, annotations: { [RECORD]: "{" } };
    assert.equal(metadataPatch(existing, desired({ a: "1" })), undefined);
    assert.equal(sourceRecordOf({ metadata: existing }), undefined);
  });

  it("records keys in one order", () => {
    assert.equal(
      desired({ b: "1", a: "2" }).annotations[RECORD],
      desired({ a: "2", b: "1" }).annotations[RECORD],
    );
  });
});

describe("remoteRootCaName", () => {
  for (const [consumer, name] of [
    ["rome", "kube-root-ca.crt.rome"],
    ["cluster1", "kube-root-ca.crt.clust"],
    ["eu-w-1", "kube-root-ca.crt.eu-w-a"],
  ] as const) {
    it(`is ${name} for ${consumer}`, () => assert.equal(remoteRootCaName(consumer), name));
  }
});
