import assert from "node:assert/strict";

import { shadowPodMetadata } from "../../../runtime/virtual-kubelet/pods/shadow-pod-writer";
import {
  metadataPatch,
  sourceRecordOf,
  withSourceRecord,
} from "../../../runtime/virtual-kubelet/reflection/reflected-metadata";

const pair = { origin: "rome", destination: "milan" };
const RECORD = "offloading.liqo.io/source";

describe("shadowPodMetadata", () => {
  it("reflects the pod's metadata, marked as ours", () => {
    const { labels, annotations } = shadowPodMetadata(
      {
        uid: "u1",
        labels: {
          app: "web",
          secretive: "x",
          "liqo.io/shadowPod": "true",
          "liqo.io/remote-unavailable": "true",
        },
        annotations: { note: "n", "metallb.universe.tf/address-pool": "p" },
      },
      "milan-gpu",
      { labels: ["secretive"], annotations: ["metallb.universe.tf/address-pool"] },
      pair,
    );
    assert.deepEqual(labels, {
      app: "web",
      "offloading.liqo.io/nodename": "milan-gpu",
      "offloading.liqo.io/origin": "rome",
      "offloading.liqo.io/destination": "milan",
    });
    assert.equal(annotations.note, "n");
    assert.equal(annotations["metallb.universe.tf/address-pool"], undefined);
    assert.equal(sourceRecordOf({ metadata: { annotations } })?.uid, "u1");
  });
});

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
