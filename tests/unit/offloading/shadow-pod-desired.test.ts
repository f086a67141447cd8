import assert from "node:assert/strict";

import type { ShadowPod } from "../../../runtime/api";
import {
  additions,
  desiredPod,
  surplus,
  writtenByCreator,
} from "../../../runtime/offloading/shadow-pod-desired";

const shadow: ShadowPod = {
  apiVersion: "offloading.liqo.io/v1beta1",
  kind: "ShadowPod",
  metadata: {
    name: "web-0",
    namespace: "shop-rome",
    uid: "s1",
    labels: { app: "web" },
    annotations: { note: "1" },
  },
  spec: {},
};

describe("the pod of a ShadowPod", () => {
  it("has its name, metadata and spec, belongs to it and says so", () => {
    const spec = { containers: [{ name: "web", image: "web:1" }] };
    assert.deepEqual(desiredPod(shadow, spec), {
      apiVersion: "v1",
      kind: "Pod",
      metadata: {
        name: "web-0",
        namespace: "shop-rome",
        labels: { app: "web", "liqo.io/managed-by": "shadowpod" },
        annotations: { note: "1" },
        ownerReferences: [
          {
            apiVersion: "offloading.liqo.io/v1beta1",
            kind: "ShadowPod",
            name: "web-0",
            uid: "s1",
            controller: true,
            blockOwnerDeletion: true,
          },
        ],
      },
      spec,
    });
  });

  it("has no label by which it would be taken for a part of this cluster's network", () => {
    const labels = {
      app: "web",
      "networking.liqo.io/active": "true",
      "networking.liqo.io/gateway-name": "turin",
    };
    const { metadata } = desiredPod(
      { ...shadow, metadata: { ...shadow.metadata, labels } },
      { containers: [] },
    );
    assert.deepEqual(metadata.labels, { app: "web", "liqo.io/managed-by": "shadowpod" });
  });

  it("is brought up to date by what differs alone", () => {
    assert.equal(additions({ app: "web", more: "x" }, { app: "web" }), undefined);
    assert.deepEqual(additions({ app: "old" }, { app: "web", tier: "front" }), { app: "web", tier: "front" });
    assert.deepEqual(additions(undefined, { app: "web" }), { app: "web" });
    assert.deepEqual(surplus({ app: "web", more: "x" }, { app: "web" }), ["more"]);
    assert.deepEqual(surplus(undefined, { app: "web" }), []);
  });

  it("tells by its record who wrote which of its labels", () => {
    const entry = (manager: string, labels: string[], owner?: string) => ({
      manager,
      operation: "Update",
      fieldsV1: {
        "f:metadata": {
          "f:labels": { ".": {}, ...Object.fromEntries(labels.map((label) => [`f:${label}`, {}])) },
          ...(owner === undefined ? {} : { "f:ownerReferences": { ".": {}, [`k:{"uid":"${owner}"}`]: {} } }),
        },
      },
    });
    const fields = [entry("us", ["app"], "s1"), entry("cni", ["injected"]), entry("us", ["tier"])];
    assert.deepEqual([...writtenByCreator(fields, "s1").labels].sort(), ["app", "tier"]);
    assert.deepEqual([...writtenByCreator(fields, "s2").labels], []);
    assert.deepEqual([...writtenByCreator(undefined, "s1").annotations], []);
  });
});
