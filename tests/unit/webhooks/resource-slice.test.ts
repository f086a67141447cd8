import assert from "node:assert/strict";

import { validateResourceSlice } from "../../../runtime/webhooks/resource-slice";
import { admissionRequest } from "./requests";

const cluster = "liqo.io/remote-cluster-id";
const cordon = "liqo.io/cordon";
const slice = (labels: object, annotations: object = {}) => ({
  metadata: { name: "pool", labels, annotations },
});
const taken = [{ name: "pool", namespace: "liqo-tenant-turin" }];
const peer = { username: "rome", groups: ["liqo.io", "system:authenticated"] };

describe("the validation of a ResourceSlice", () => {
  type Row = [
    title: string,
    request: Parameters<typeof admissionRequest>[0],
    existing: typeof taken,
    denial: string | undefined,
  ];
  const update = (before: object, after: object, user: object = peer) => ({
    operation: "UPDATE" as const,
    oldObject: before,
    object: after,
    ...user,
  });
  const table: Row[] = [
    ["takes a new name", { object: slice({}) }, [], undefined],
    [
      "refuses a name that is taken",
      { object: slice({}) },
      taken,
      "a resourceslice with the same name already exists in the cluster",
    ],
    [
      "refuses two providers at once",
      { object: { ...slice({ [cluster]: "milan" }), spec: { providerClusterID: "turin" } } },
      [],
      'spec.providerClusterID: "turin" is not the cluster of the label liqo.io/remote-cluster-id, "milan"; give both the provider\'s ID',
    ],
    [
      "takes a provider that no label names",
      { object: { ...slice({}), spec: { providerClusterID: "turin" } } },
      [],
      undefined,
    ],
    [
      "refuses what no node has",
      { object: { ...slice({}), spec: { resources: { memory: "1Gi", cpu: -1 } } } },
      [],
      "spec.resources: cpu: -1 is negative; give an amount of zero or more",
    ],
    ["takes a copy of any name", { object: slice({ "liqo.io/replicated": "true" }) }, taken, undefined],
    [
      "takes the copy's status of a peer",
      update(slice({ [cluster]: "rome" }), slice({ [cluster]: "rome" })),
      taken,
      undefined,
    ],
    [
      "refuses a peer that adds the label",
      update(slice({}), slice({ [cluster]: "rome" })),
      [],
      "can't add the remoteClusterID label",
    ],
    [
      "refuses a peer that changes the label",
      update(slice({ [cluster]: "rome" }), slice({ [cluster]: "turin" })),
      [],
      "can't change the remoteClusterID label",
    ],
    [
      "refuses a peer that deletes the label",
      update(slice({ [cluster]: "rome" }), slice({})),
      [],
      "can't delete the remoteClusterID label",
    ],
    [
      "refuses a peer that adds the annotation",
      update(slice({}), slice({}, { [cordon]: "false" })),
      [],
      "control plane users can't add the liqo.io/cordon annotation",
    ],
    [
      "refuses a peer that changes the annotation",
      update(slice({}, { [cordon]: "true" }), slice({}, { [cordon]: "false" })),
      [],
      "control plane users can't change the liqo.io/cordon annotation",
    ],
    [
      "refuses a peer that deletes the annotation",
      update(slice({}, { [cordon]: "true" }), slice({})),
      [],
      "control plane users can't delete the liqo.io/cordon annotation",
    ],
    [
      "lets others uncordon",
      update(slice({}, { [cordon]: "true" }), slice({}), { username: "admin", groups: [] }),
      [],
      undefined,
    ],
  ];
  for (const [title, request, existing, denial] of table) {
    it(title, () => {
      const verdict = validateResourceSlice(
        admissionRequest({ namespace: "liqo-tenant-milan", ...request }),
        existing,
      );
      assert.deepEqual(
        verdict,
        denial === undefined ? { allowed: true } : { allowed: false, code: 403, message: denial },
      );
    });
  }
});
