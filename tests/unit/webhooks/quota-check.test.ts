import assert from "node:assert/strict";
import { amountsOf } from "../../../runtime/api/quantity";
import { podDemand, type QuotaLimits, quotaViolation } from "../../../runtime/webhooks/quota-check";

const container = (name: string, requests?: object, more: object = {}) => ({
  name,
  ...(requests === undefined ? {} : { resources: { requests } }),
  ...more,
});
const sidecar = { restartPolicy: "Always" };

describe("the demand of a pod", () => {
  const table: [title: string, spec: unknown, total: Record<string, string | number>][] = [
    ["is one pod when nothing is requested", { containers: [container("a")] }, { pods: 1 }],
    [
      "is the sum of the containers",
      { containers: [container("a", { cpu: "100m" }), container("b", { cpu: "1", memory: "64Mi" })] },
      { cpu: "1100m", memory: "64Mi", pods: 1 },
    ],
    [
      "is that of the greatest init container where it is more, for each resource by itself",
      {
        containers: [container("a", { cpu: "1", memory: "64Mi" })],
        initContainers: [container("i", { cpu: "3" }), container("j", { cpu: "2", memory: "32Mi" })],
      },
      { cpu: "3", memory: "64Mi", pods: 1 },
    ],
    [
      "counts sidecars with the containers, and with the init containers after them",
      {
        containers: [container("a", { cpu: "1" })],
        initContainers: [
          container("first", { cpu: "2" }),
          container("proxy", { cpu: "500m" }, sidecar),
          container("second", { cpu: "1200m" }),
        ],
      },
      { cpu: "2", pods: 1 },
    ],
    [
      "counts a sidecar and a later init container at once",
      {
        containers: [container("a", { cpu: "100m" })],
        initContainers: [container("proxy", { cpu: "500m" }, sidecar), container("i", { cpu: "1" })],
      },
      { cpu: "1500m", pods: 1 },
    ],
    [
      "takes a limit for a request that is missing, as the API server will",
      {
        containers: [{ name: "a", resources: { limits: { cpu: 2, memory: "1Gi" }, requests: { cpu: "1" } } }],
      },
      { cpu: "1", memory: "1Gi", pods: 1 },
    ],
    [
      "is at least what the pod asks for as a whole",
      { resources: { requests: { cpu: "4" } }, containers: [container("a", { cpu: "1", memory: "1Gi" })] },
      { cpu: "4", memory: "1Gi", pods: 1 },
    ],
    ["is one pod for what is no pod", "nonsense", { pods: 1 }],
  ];
  for (const [title, spec, total] of table) {
    it(title, () => assert.deepEqual(podDemand(spec).total, amountsOf(total)));
  }

  for (const quantity of ["much", "-1", true, null]) {
    it(`can't be told when a request is ${JSON.stringify(quantity)}`, () => {
      assert.throws(
        () => podDemand({ containers: [container("web", { cpu: quantity })] }),
        /container web: requests\.cpu is .*not a quantity/,
      );
    });
  }
});

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
