import assert from "node:assert/strict";

import type { EngineEvent } from "@pulumi/pulumi/automation";

import { announcement, errorText } from "../../../scripts/quick-start/announcements";
import { PartsClock } from "../../../scripts/quick-start/parts";
import { table } from "../../../scripts/quick-start/table";

const URN = "urn:pulumi:local::quick-start::";
const CLUSTER = `${URN}pulumi-nodejs:dynamic/liqo:LocalCluster::rome`;
const PEERING = `${URN}pulumi-liqo:index:Peering::rome-milan`;
const NONCE = `${URN}pulumi-liqo:index:Peering$pulumi-liqo:index:AuthenticationPeering$kubernetes:core/v1:Secret::rome-milan-nonce`;

const event = (fields: object): EngineEvent => ({ sequence: 1, timestamp: 1, ...fields });
const diagnostic = (severity: string, message: string, more: object = {}) =>
  event({ diagnosticEvent: { severity, message, color: "never", ...more } });
const begun = (urn: string, op = "create") => event({ resourcePreEvent: { metadata: { urn, op } } });
const made = (urn: string, op = "create") => event({ resOutputsEvent: { metadata: { urn, op } } });

describe("the lines that npm start prints", () => {
  it("never hold what is meant for debugging, which may be secret", () => {
    assert.equal(announcement(diagnostic("debug", "RegisterResource: kubeconfig …")), undefined);
    assert.equal(errorText(diagnostic("debug", "RegisterResource: kubeconfig …")), undefined);
  });

  it("hold what resources say while they are made, without colours", () => {
    const text = "<{%reset%}>LocalCluster: rome: API server ready<{%reset%}>\n";
    assert.equal(announcement(diagnostic("info", text)), "LocalCluster: rome: API server ready");
  });

  it("leave out where plugins were found", () => {
    const text = "using pulumi-resource-random from $PATH at /opt/pulumi-resource-random";
    assert.equal(announcement(diagnostic("warning", text, { prefix: "warning: " })), undefined);
  });

  it("tell of components and Deployments that are ready, and of nothing that stays as it was", () => {
    assert.equal(announcement(made(PEERING)), "Peering rome-milan: ready");
    assert.equal(announcement(made(PEERING, "same")), undefined);
    assert.equal(announcement(made(NONCE)), undefined);
    assert.equal(announcement(begun(PEERING)), undefined);
  });

  it("name the resource of an error", () => {
    const text = errorText(diagnostic("error", "the provider denies", { urn: PEERING }));
    assert.equal(text, "Peering rome-milan: the provider denies");
  });
});

describe("the times that npm start shows", () => {
  it("are those of the parts, from their first resource's beginning to their last one's end", () => {
    let now = 0;
    const clock = new PartsClock(() => now);
    for (const [time, occurrence] of [
      [1, begun(CLUSTER)],
      [21, made(CLUSTER)],
      [22, begun(PEERING)],
      [23, begun(NONCE)],
      [25, made(NONCE)],
      [30, made(PEERING)],
      [31, made(`${URN}pulumi:pulumi:Stack::quick-start-local`)],
    ] as const) {
      now = time;
      clock.observe(occurrence);
    }
    assert.deepEqual(clock.durations(), [
      { name: "clusters", seconds: 20, resources: 1 },
      { name: "peering", seconds: 8, resources: 2 },
    ]);
  });

  it("leave out what did not change", () => {
    const clock = new PartsClock(() => 0);
    clock.observe(begun(CLUSTER, "same"));
    clock.observe(made(CLUSTER, "same"));
    assert.deepEqual(clock.durations(), []);
  });
});

describe("a table", () => {
  it("aligns its columns and ends no line with blanks", () => {
    assert.equal(
      table([
        ["NAME", "STATUS", "NODE"],
        ["shop-1", "Running", ""],
      ]),
      "NAME     STATUS    NODE\nshop-1   Running",
    );
  });
});
