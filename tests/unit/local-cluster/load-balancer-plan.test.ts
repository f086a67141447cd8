import assert from "node:assert/strict";

import { Service } from "../../../runtime/api/kubernetes";
import { decideAddress, decideNode } from "../../../provider/local-cluster/native/agent/load-balancer-plan";

const pool = ["172.30.4.0", "172.30.4.1", "172.30.4.2"];
const service = (spec: object, ingress: object[] = [], metadata: object = {}) =>
  Service.parse({
    apiVersion: "v1",
    kind: "Service",
    metadata: { name: "gateway", namespace: "liqo", ...metadata },
    spec: { type: "LoadBalancer", ...spec },
    status: { loadBalancer: { ingress } },
  });

describe("the address of a load balancer", () => {
  for (const [title, object, taken, decision] of [
    ["is the first that is free", service({}), ["172.30.4.0"], { address: "172.30.4.1", write: true }],
    ["stays", service({}, [{ ip: "172.30.4.2" }]), [], { address: "172.30.4.2", write: false }],
    [
      "moves if another holds it",
      service({}, [{ ip: "172.30.4.2" }]),
      ["172.30.4.2"],
      { address: "172.30.4.0", write: true },
    ],
    [
      "is the one asked for",
      service({ loadBalancerIP: "172.30.4.2" }),
      [],
      { address: "172.30.4.2", write: true },
    ],
    [
      "is another if the one asked for is taken",
      service({ loadBalancerIP: "172.30.4.2" }),
      ["172.30.4.2"],
      { address: "172.30.4.0", write: true },
    ],
    [
      "is never outside the pool",
      service({ loadBalancerIP: "10.0.0.1" }),
      [],
      { address: "172.30.4.0", write: true },
    ],
    [
      "is given back by another type",
      service({ type: "ClusterIP" }, [{ ip: "172.30.4.1" }]),
      [],
      { address: undefined, write: true },
    ],
    [
      "is not written into a service of another type",
      service({ type: "NodePort" }),
      [],
      { address: undefined, write: false },
    ],
    [
      "leaves another class alone",
      service({ loadBalancerClass: "x.io/y" }, [{ ip: "10.0.0.9" }]),
      [],
      { address: undefined, write: false },
    ],
    [
      "is given back by a service under deletion",
      service({}, [{ ip: "172.30.4.1" }], { deletionTimestamp: "2026-01-01T00:00:00Z" }),
      [],
      { address: undefined, write: true },
    ],
    ["is missing when all are taken", service({}), pool, { exhausted: true }],
  ] as const) {
    it(title, () => assert.deepEqual(decideAddress(object, pool, new Set(taken)), decision));
  }
});

describe("the node that answers for a load balancer", () => {
  const nodes = ["rome-1", "rome-2", "rome-3"];
  const local = service({ externalTrafficPolicy: "Local" });
  const on = (...names: string[]) => names.map((nodeName) => ({ nodeName, ready: true }));
  for (const [title, object, endpoints, present, node] of [
    ["is the first", service({}), on("rome-2"), undefined, "rome-1"],
    ["stays", service({}), on("rome-2"), "rome-3", "rome-3"],
    ["has an endpoint if traffic stays local", local, on("rome-3"), "rome-1", "rome-3"],
    ["stays while it has an endpoint", local, on("rome-2", "rome-3"), "rome-3", "rome-3"],
    [
      "does not count endpoints that are not ready",
      local,
      [{ nodeName: "rome-2", ready: false }],
      undefined,
      "rome-1",
    ],
  ] as const) {
    it(title, () => assert.equal(decideNode(object, nodes, endpoints, present), node));
  }
});
