import assert from "node:assert/strict";
import { withGlobalMetadata } from "../../../runtime/kube";

describe("global labels and annotations", () => {
  it("fill their places, and give way to the object's own", () => {
    const object = {
      apiVersion: "offloading.liqo.io/v1beta1",
      kind: "Quota",
      metadata: { name: "q", namespace: "n", labels: { own: "kept" } },
    };
    const { metadata } = withGlobalMetadata(object, {
      labels: { own: "lost", where: "${namespace}.${name}" },
      annotations: { what: "${kind}/${group}", other: "${unknown}" },
    });
    assert.deepEqual(metadata, {
      name: "q",
      namespace: "n",
      labels: { own: "kept", where: "n.q" },
      annotations: { what: "Quota/offloading.liqo.io", other: "${unknown}" },
    });
  });
});
