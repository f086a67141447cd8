import assert from "node:assert/strict";

import { amountsOf } from "../../../runtime/api/quantity";
import { podDemand } from "../../../runtime/webhooks/pod-demand";
import { type QuotaLimits, quotaViolation } from "../../../runtime/webhooks/quota-rules";

const web = (resources: object, name = "web") => ({ containers: [{ name, resources }] });
const small = web({ requests: { cpu: "500m", memory: "1Gi" } });
const quota = (resources: Record<string, string>, more: Partial<QuotaLimits> = {}): QuotaLimits => ({
  resources,
  ...more,
});
const enough = { cpu: "4", memory: "8Gi", pods: "110" };

describe("a quota", () => {
  type Row = [
    title: string,
    quota: QuotaLimits,
    spec: object,
    used: Record<string, string>,
    violation: string | undefined,
  ];
  const table: Row[] = [
    ["admits what is free", quota(enough), small, { cpu: "3500m", memory: "7Gi" }, undefined],
    ["refuses everything when cordoned", quota(enough, { cordoned: true }), small, {}, "user is cordoned"],
    [
      "refuses what is more than free",
      quota(enough),
      small,
      { cpu: "3501m" },
      "peering cpu quota usage exceeded - free 499m / requested 500m",
    ],
    [
      "shows memory as the quota does",
      quota(enough),
      small,
      { memory: "7680Mi" },
      "peering memory quota usage exceeded - free 512Mi / requested 1Gi",
    ],
    [
      "shows what is overdrawn",
      quota({ ...enough, cpu: "1" }),
      small,
      { cpu: "2" },
      "peering cpu quota usage exceeded - free -1 / requested 500m",
    ],
    [
      "counts pods",
      quota(enough),
      small,
      { pods: "110" },
      "peering pods quota usage exceeded - free 0 / requested 1",
    ],
    [
      "does not count pods where it has no entry",
      quota({ cpu: "4", memory: "8Gi" }),
      small,
      { pods: "9000" },
      undefined,
    ],
    [
      "refuses a resource that it does not name",
      quota(enough),
      web({ requests: { "nvidia.com/gpu": 1 } }),
      {},
      "nvidia.com/gpu quota limit not found for this peering",
    ],
    [
      "admits none of a resource that it does not name",
      quota(enough),
      web({ requests: { "nvidia.com/gpu": 0 } }),
      {},
      undefined,
    ],
    ["asks for nothing with None", quota(enough, { limitsEnforcement: "None" }), web({}), {}, undefined],
    [
      "asks for requests with Soft",
      quota(enough, { limitsEnforcement: "Soft" }),
      web({ requests: { cpu: "1" } }),
      {},
      "CPU and/or memory requests not set for container web",
    ],
    ["admits requests alone with Soft", quota(enough, { limitsEnforcement: "Soft" }), small, {}, undefined],
    [
      "asks init containers too",
      quota(enough, { limitsEnforcement: "Soft" }),
      { ...small, initContainers: [{ name: "setup" }] },
      {},
      "CPU and/or memory requests not set for initContainer setup",
    ],
    [
      "asks for equal limits with Hard",
      quota(enough, { limitsEnforcement: "Hard" }),
      web({ requests: { cpu: "1", memory: "1Gi" }, limits: { cpu: "1", memory: "2Gi" } }),
      {},
      "memory limits and requests are not equal for container web",
    ],
    [
      "takes limits that are equal in another form, with Hard",
      quota(enough, { limitsEnforcement: "Hard" }),
      web({ requests: { cpu: "1000m", memory: "1024Mi" }, limits: { cpu: "1", memory: "1Gi" } }),
      {},
      undefined,
    ],
  ];
  for (const [title, limits, spec, used, violation] of table) {
    it(title, () => assert.equal(quotaViolation(limits, podDemand(spec), amountsOf(used)), violation));
  }
});
