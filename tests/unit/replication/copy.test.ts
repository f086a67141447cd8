import assert from "node:assert/strict";
import { copySelector, isCopy, isSource } from "../../../runtime/plan/peer-objects";
import { copyMetadata, type Replicable } from "../../../runtime/replication/copy";

import { decide, type Decision, type Observed } from "../../../runtime/replication/copy";
import { Finalizer } from "../../../runtime/api";

const route = { localClusterId: "rome", remoteClusterId: "milan", remoteNamespace: "guests-of-milan" };

describe("the copy of a replicated object", () => {
  const source: Replicable = {
    apiVersion: "authentication.liqo.io/v1beta1",
    kind: "ResourceSlice",
    metadata: {
      name: "pool",
      namespace: "liqo-tenant-milan",
      uid: "0b0e6c3e-1111-4222-8333-444455556666",
      resourceVersion: "17",
      finalizers: ["crdreplicator.liqo.io/resource"],
      ownerReferences: [{ apiVersion: "v1", kind: "ConfigMap", name: "x", uid: "y" }],
      labels: {
        "liqo.io/replication": "true",
        "liqo.io/remoteID": "milan",
        "liqo.io/remote-cluster-id": "milan",
        "liqo.io/ownership": "Shared",
        team: "blue",
      },
      annotations: { "liqo.io/create-virtual-node": "true" },
    },
    spec: {},
  };

  it("says where it comes from and keeps nothing that is bound to the source's cluster", () => {
    assert.deepEqual(copyMetadata(source, route), {
      name: "pool",
      namespace: "guests-of-milan",
      labels: {
        "liqo.io/replication": "false",
        "liqo.io/replicated": "true",
        "liqo.io/originID": "rome",
        "liqo.io/remote-cluster-id": "rome",
        "liqo.io/remoteID": "milan",
        team: "blue",
      },
      annotations: { "liqo.io/create-virtual-node": "true" },
    });
  });

  it("is found by its labels at the peer, and is no source there", () => {
    assert.equal(copySelector("rome"), "liqo.io/originID=rome,liqo.io/replicated=true");
    const copy = {
      ...source,
      metadata: { ...source.metadata, ...copyMetadata(source, route), name: "pool" },
    };
    assert.equal(isCopy(copy), true);
    assert.equal(isSource(copy), false);
    assert.equal(isSource(source, "milan"), true);
    assert.equal(isSource(source, "turin"), false);
    assert.equal(isCopy(source), false);
  });
});

const object = (
  spec: unknown,
  metadata: Partial<Replicable["metadata"]> = {},
  status?: unknown,
): Replicable => ({
  apiVersion: "authentication.liqo.io/v1beta1",
  kind: "ResourceSlice",
  metadata: { name: "pool", ...metadata },
  spec,
  ...(status === undefined ? {} : { status }),
});
const held = { finalizers: [Finalizer.replicatedResource] };
const going = { deletionTimestamp: "2026-03-01T10:00:00Z" };
const source = object({ class: "default" }, held);
const copy = object({ class: "default" });

describe("what one name of a replicated kind needs", () => {
  const rows: [string, Partial<Observed>, Partial<Decision>][] = [
    ["neither source nor copy", {}, {}],
    ["a copy without source is deleted", { copy }, { copy: "delete" }],
    ["a copy without source is left alone while it goes", { copy: object({}, going) }, {}],
    ["a copy without source is left alone at a dead peer", { copy, peerDead: true }, {}],
    ["no source and a peer not listed yet", { copy: "unknown" }, {}],
    [
      "a new source is held and copied",
      { source: object({ class: "default" }) },
      { addFinalizer: true, copy: "create" },
    ],
    [
      "a new source is held while the peer is not listed",
      { source: object({}), copy: "unknown" },
      { addFinalizer: true, copy: "wait" },
    ],
    ["a source with an equal copy needs nothing", { source, copy }, {}],
    [
      "empty and absent fields are alike",
      {
        source: object({ class: "default", resources: {} }, held),
        copy: object({ class: "default" }),
      },
      {},
    ],
    ["a changed source", { source, copy: object({ class: "gold" }) }, { copy: "update" }],
    [
      "a copy that the peer reads its own way",
      { source, copy: object({ class: "x" }), specSettled: true },
      {},
    ],
    [
      "a status that moved",
      { source, copy: object({ class: "default" }, {}, { resources: { cpu: "4" } }) },
      { pullStatus: { resources: { cpu: "4" } } },
    ],
    [
      "a status about the present spec, whose generations count separately",
      {
        source: object({ class: "default" }, { ...held, generation: 7 }),
        copy: object({ class: "default" }, { generation: 2 }, { observedGeneration: 2 }),
      },
      { pullStatus: { observedGeneration: 7 } },
    ],
    [
      "a status about a spec before the copy's present one",
      {
        source: object({ class: "default" }, { ...held, generation: 7 }, { observedGeneration: 6 }),
        copy: object({ class: "default" }, { generation: 2 }, { observedGeneration: 1 }),
      },
      {},
    ],
    [
      "a status about a spec that is not the source's any more",
      {
        source: object({ class: "gold" }, { ...held, generation: 8 }, { observedGeneration: 7 }),
        copy: object(
          { class: "default" },
          { generation: 2 },
          { observedGeneration: 2, resources: { cpu: "4" } },
        ),
      },
      { copy: "update", pullStatus: { observedGeneration: 7, resources: { cpu: "4" } } },
    ],
    [
      "a status of a peer that tells no generation",
      {
        source: object({ class: "default" }, { ...held, generation: 7 }, { observedGeneration: 7 }),
        copy: object({ class: "default" }, { generation: 2 }),
      },
      { pullStatus: {} },
    ],
    [
      "a status that went away with a fresh copy",
      { source: object({ class: "default" }, held, { resources: { cpu: "4" } }), copy },
      { pullStatus: {} },
    ],
    [
      "spec and status at once",
      { source, copy: object({ class: "gold" }, {}, { resources: { cpu: "4" } }) },
      { copy: "update", pullStatus: { resources: { cpu: "4" } } },
    ],
    ["a copy on its way out is waited for", { source, copy: object({ class: "gold" }, going) }, {}],
    [
      "what a copy says on its way out is taken over",
      {
        source: object({ class: "default" }, held, { currentMapping: { shop: { phase: "Accepted" } } }),
        copy: object({ class: "gold" }, going, { currentMapping: { shop: { phase: "Terminating" } } }),
      },
      { pullStatus: { currentMapping: { shop: { phase: "Terminating" } } } },
    ],
    ["a live source at a dead peer waits", { source, copy, peerDead: true }, { copy: "wait" }],
    [
      "a deleted source takes its copy along",
      { source: object({}, { ...held, ...going }), copy },
      { copy: "delete" },
    ],
    [
      "a deleted source waits while its copy goes",
      { source: object({}, { ...held, ...going }), copy: object({}, going) },
      {},
    ],
    [
      "a deleted source whose copy is not seen asks for it before it may go",
      { source: object({}, { ...held, ...going }) },
      { copy: "delete-unseen" },
    ],
    [
      "a deleted source of a peer that is not listed asks for its copy",
      { source: object({}, { ...held, ...going }), copy: "unknown" },
      { copy: "delete-unseen" },
    ],
    [
      "a deleted source of a dead peer may go",
      { source: object({}, { ...held, ...going }), copy: "unknown", peerDead: true },
      { removeFinalizer: true },
    ],
    [
      "a deleted source held by others only needs nothing",
      { source: object({}, { finalizers: ["example.org/other"], ...going }) },
      {},
    ],
  ];
  for (const [title, observed, expected] of rows) {
    it(title, () => {
      assert.deepEqual(
        decide({ source: undefined, copy: undefined, peerDead: false, specSettled: false, ...observed }),
        { addFinalizer: false, copy: "keep", pullStatus: undefined, removeFinalizer: false, ...expected },
      );
    });
  }
});
