import assert from "node:assert/strict";

import { phaseToReport, podOutcome } from "../../../runtime/offloading/shadow-pod-phase";

interface Facts {
  phase: string;
  restartPolicy?: string;
  deleting?: boolean;
  disruption?: string;
}
const pod = ({ phase, restartPolicy = "Always", deleting = false, disruption }: Facts) => ({
  metadata: deleting ? { deletionTimestamp: "2026-03-01T10:00:00Z" } : {},
  spec: { restartPolicy },
  status: {
    phase,
    conditions:
      disruption === undefined ? [] : [{ type: "DisruptionTarget", status: "True", reason: disruption }],
  },
});

describe("the outcome of a remote pod", () => {
  const table: [Facts, "Succeeded" | "Failed" | undefined][] = [
    [{ phase: "Running" }, undefined],
    [{ phase: "Pending" }, undefined],
    [{ phase: "Succeeded" }, "Succeeded"],
    [{ phase: "Failed" }, "Failed"],
    [{ phase: "Failed", deleting: true }, undefined],
    [{ phase: "Succeeded", deleting: true }, undefined],
    [{ phase: "Succeeded", deleting: true, restartPolicy: "Never" }, "Succeeded"],
    [{ phase: "Succeeded", deleting: true, restartPolicy: "OnFailure" }, "Succeeded"],
    [{ phase: "Failed", deleting: true, restartPolicy: "Never" }, undefined],
    [{ phase: "Failed", disruption: "DeletionByPodGC" }, undefined],
    [{ phase: "Failed", disruption: "EvictionByEvictionAPI" }, undefined],
    [{ phase: "Failed", disruption: "TerminationByKubelet" }, "Failed"],
  ];
  for (const [facts, outcome] of table) {
    it(`is ${outcome} for ${JSON.stringify(facts)}`, () => assert.equal(podOutcome(pod(facts)), outcome));
  }
});

describe("the phase that a ShadowPod reports", () => {
  const table: [current: string | undefined, facts: Facts, written: string | undefined][] = [
    [undefined, { phase: "Pending" }, undefined],
    ["Unknown", { phase: "Pending" }, undefined],
    ["Unknown", { phase: "Running" }, "Running"],
    ["Running", { phase: "Running" }, undefined],
    ["Running", { phase: "Pending" }, undefined],
    ["Unknown", { phase: "Running", deleting: true }, undefined],
    ["Running", { phase: "Succeeded" }, "Succeeded"],
    ["Unknown", { phase: "Failed" }, "Failed"],
    ["Running", { phase: "Failed", deleting: true }, undefined],
    ["Succeeded", { phase: "Running" }, undefined],
    ["Failed", { phase: "Succeeded" }, undefined],
  ];
  for (const [current, facts, written] of table) {
    it(`goes from ${current} to ${written ?? "the same"} for ${JSON.stringify(facts)}`, () => {
      assert.equal(phaseToReport(current, pod(facts)), written);
    });
  }
});
