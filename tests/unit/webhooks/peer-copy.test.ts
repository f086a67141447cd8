import assert from "node:assert/strict";

import { validatePeerWrite } from "../../../runtime/webhooks/peer-copy";
import { admissionRequest } from "./requests";

const replicated = "liqo.io/replicated";
const replication = "liqo.io/replication";
const origin = "liqo.io/originID";
const destination = "liqo.io/remoteID";
const cluster = "liqo.io/remote-cluster-id";
const cordon = "liqo.io/cordon";
const cordonTenant = "liqo.io/cordon-tenant";

/** As replicators of every make write it (control plane reference 11.4). */
const marks = {
  [replication]: "false",
  [replicated]: "true",
  [origin]: "rome",
  [destination]: "milan",
  [cluster]: "rome",
};
type Labels = Record<string, string | undefined>;
const renew = (change: Labels = {}, annotations: object = {}) => ({
  apiVersion: "authentication.liqo.io/v1beta1",
  kind: "Renew",
  metadata: { name: "controlplane-milan", labels: { ...marks, tier: "gold", ...change }, annotations },
  spec: { consumerClusterID: "rome" },
});
const source = renew({
  [replication]: "true",
  [replicated]: undefined,
  [origin]: undefined,
  [destination]: "rome",
});
const peer = { username: "rome", groups: ["liqo.io", "system:authenticated"] };

describe("what a peer writes of a replicated kind", () => {
  type Request = Parameters<typeof admissionRequest>[0];
  const create = (object: object): Request => ({ object });
  const update = (oldObject: object, object: object): Request => ({ operation: "UPDATE", oldObject, object });
  const remove = (oldObject: object): Request => ({ operation: "DELETE", oldObject });
  const rows: [title: string, request: Request, refusal: RegExp | undefined][] = [
    ["its copy is made", create(renew()), undefined],
    [
      "its copy with the least labels is made",
      create(renew({ [replication]: undefined, [destination]: undefined, [cluster]: undefined })),
      undefined,
    ],
    [
      "a source is not",
      create(source),
      /^Renew "guests\/controlplane-milan": is no copy of cluster "rome": the label liqo\.io\/replicated is missing, and a copy has "true"; create the object in that cluster/,
    ],
    ["an object without labels is not", create({ ...renew(), metadata: { name: "a" } }), /is no copy/],
    [
      "a copy that is a source too is not",
      create(renew({ [replication]: "true" })),
      /liqo\.io\/replication is "true", and a copy has "false"/,
    ],
    [
      "a copy without an origin is not",
      create(renew({ [origin]: undefined })),
      /liqo\.io\/originID is missing/,
    ],
    [
      "another consumer's copy is not",
      create(renew({ [origin]: "turin" })),
      /liqo\.io\/originID is "turin", and a copy has "rome"/,
    ],
    [
      "a copy for another provider is not",
      create(renew({ [destination]: "turin" })),
      /liqo\.io\/remoteID is "turin", and a copy has "milan"/,
    ],
    [
      "a copy that concerns another cluster is not",
      create(renew({ [cluster]: "turin" })),
      /remote-cluster-id is "turin"/,
    ],
    [
      "a label that skips webhooks changes nothing",
      create({
        ...source,
        metadata: {
          ...source.metadata,
          labels: { ...source.metadata.labels, "liqo.io/webhook-skip": "true" },
        },
      }),
      /is no copy/,
    ],
    ["its copy is changed", update(renew(), renew({ tier: "silver" }, { note: "new" })), undefined],
    ["this cluster's source is not changed", update(source, source), /is no copy/],
    ["this cluster's source is not turned into a copy", update(source, renew()), /is no copy/],
    ["its copy is not turned into a source", update(renew(), source), /can't|is no copy/],
    [
      "its copy is not turned into another's",
      update(renew(), renew({ [origin]: "turin" })),
      /liqo\.io\/originID/,
    ],
    [
      "whose it is stays",
      update(renew(), renew({ [cluster]: "turin" })),
      /^can't change the remoteClusterID label$/,
    ],
    [
      "whose it is is not taken out",
      update(renew(), renew({ [cluster]: undefined })),
      /^can't delete the remoteClusterID label$/,
    ],
    [
      "whose it is is not added",
      update(renew({ [cluster]: undefined }), renew()),
      /^can't add the remoteClusterID label$/,
    ],
    [
      "it is not uncordoned",
      update(renew({}, { [cordon]: "true" }), renew()),
      /^control plane users can't delete the liqo\.io\/cordon annotation$/,
    ],
    [
      "nor with its Tenant",
      update(renew({}, { [cordonTenant]: "true" }), renew({}, { [cordonTenant]: "false" })),
      /^control plane users can't change the liqo\.io\/cordon-tenant annotation$/,
    ],
    [
      "nor is it cordoned",
      update(renew(), renew({}, { [cordon]: "true" })),
      /^control plane users can't add the liqo\.io\/cordon annotation$/,
    ],
    [
      "the status of its copy is not written",
      { ...update(renew(), renew()), subResource: "status" },
      /its status is written by cluster "milan" alone; user "rome" of a peer may read it/,
    ],
    [
      "the status of a source is not written",
      { ...update(source, source), subResource: "status" },
      /its status is written/,
    ],
    ["its copy is deleted", remove(renew()), undefined],
    [
      "a copy that it once marked otherwise is deleted",
      remove(renew({ [destination]: "old", [cluster]: undefined })),
      undefined,
    ],
    ["this cluster's source is not deleted", remove(source), /is no copy/],
    ["another's copy is not deleted", remove(renew({ [origin]: "turin" })), /is no copy/],
  ];
  const judge = (request: Request, who: typeof peer) =>
    validatePeerWrite(admissionRequest({ namespace: "guests", ...request, ...who }), {
      ownClusterID: "milan",
    });
  for (const [title, request, refusal] of rows) {
    it(title, () => {
      const verdict = judge(request, peer);
      if (refusal === undefined) return assert.deepEqual(verdict, { allowed: true });
      assert.equal(verdict.allowed, false);
      assert.equal(verdict.code, 403);
      assert.match(verdict.message, refusal);
    });
  }

  it("is refused to its peering user, who has another name, and nothing is to anybody else", () => {
    const peeringUser = { username: "liqo-peer-user-rome-0a1b", groups: ["liqo.io"] };
    assert.equal(judge(create(renew()), peeringUser).allowed, false);
    for (const groups of [["system:masters"], ["rome"], ["system:serviceaccounts"], []])
      for (const [, request] of rows)
        assert.deepEqual(judge(request, { username: "rome", groups }), { allowed: true });
  });
});
