import assert from "node:assert/strict";

import { amountsOf } from "../../../runtime/api/quantity";
import { podDemand } from "../../../runtime/webhooks/pod-demand";

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
