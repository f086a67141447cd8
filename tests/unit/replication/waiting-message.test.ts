import assert from "node:assert/strict";
import type { Replicable } from "../../../runtime/replication/copy";
import { waitingMessage } from "../../../runtime/replication/waiting-message";

const slice = (name: string, deletionTimestamp?: string): Replicable => ({
  apiVersion: "authentication.liqo.io/v1beta1",
  kind: "ResourceSlice",
  metadata: { name, namespace: "to-milan", ...(deletionTimestamp ? { deletionTimestamp } : {}) },
  spec: {},
});
const going = (name: string) => slice(name, "2026-03-01T10:00:00Z");

describe("what the deletion of a control-plane Secret waits for", () => {
  it("is told of by name and with the way out, where objects stay", () => {
    const message = waitingMessage("milan", [slice("pool"), going("old")], true) ?? "";
    assert.match(message, /cluster "milan".*ResourceSlice "to-milan\/pool"; delete them.*liqoctl unpeer/);
    assert.ok(!message.includes("old"), "that goes by itself");
  });

  it("names few of many", () => {
    const many = ["a", "b", "c", "d", "e", "f", "g"].map((name) => slice(name));
    assert.match(waitingMessage("milan", many, false) ?? "", /"to-milan\/e" and 2 more;/);
  });

  it("is the peer's answer where all goes already", () => {
    assert.equal(waitingMessage("milan", [going("pool")], false), undefined);
    assert.match(
      waitingMessage("milan", [going("pool")], true) ?? "",
      /copies of ResourceSlice "to-milan\/pool"/,
    );
    assert.match(waitingMessage("milan", [], true) ?? "", /does not answer.*liqoctl force unpeer/);
  });
});
