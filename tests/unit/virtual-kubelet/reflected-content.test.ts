import assert from "node:assert/strict";
import fc from "fast-check";

import type { Ingress, Service } from "../../../runtime/api/kubernetes";
import { covers, mergePatch } from "../../../runtime/virtual-kubelet/reflection/difference";
import { remoteIngressSpec } from "../../../runtime/virtual-kubelet/reflection/ingress-content";
import { explicitChoice, isAllowed } from "../../../runtime/virtual-kubelet/reflection/policy";
import { remoteServiceSpec } from "../../../runtime/virtual-kubelet/reflection/service-content";

describe("reflection policies", () => {
  const skip = "liqo.io/skip-reflection";
  const allow = "liqo.io/allow-reflection";
  const cases: [annotations: Record<string, string> | undefined, denyList: boolean, allowList: boolean][] = [
    [undefined, true, false],
    [{ [skip]: "true" }, false, false],
    [{ [skip]: "" }, false, false],
    [{ [skip]: "False" }, true, false],
    [{ [allow]: "true" }, true, true],
    [{ [allow]: "FALSE" }, true, false],
  ];
  for (const [annotations, denyList, allowList] of cases) {
    it(`with ${JSON.stringify(annotations)}: ${denyList} by deny-list, ${allowList} by allow-list`, () => {
      assert.equal(isAllowed("DenyList", annotations), denyList);
      assert.equal(isAllowed("AllowList", annotations), allowList);
    });
  }

  it("reads what the object itself asks for", () => {
    assert.equal(explicitChoice(undefined), undefined);
    assert.equal(explicitChoice({ [skip]: "true" }), false);
    assert.equal(explicitChoice({ [allow]: "true", [skip]: "false" }), true);
    assert.throws(() => explicitChoice({ [allow]: "true", [skip]: "true" }), /keep one of them/);
  });
});

describe("mergePatch", () => {
  /** What an API server makes of a merge patch (RFC 7396). */
  function apply(target: unknown, patch: unknown): unknown {
    if (typeof patch !== "object" || patch === null || Array.isArray(patch)) return patch;
    const result: Record<string, unknown> =
      typeof target === "object" && target !== null && !Array.isArray(target) ? { ...target } : {};
    for (const [key, value] of Object.entries(patch)) {
      if (value === null) delete result[key];
      else result[key] = apply(result[key], value);
    }
    return result;
  }

  it("replaces, adds and removes keys of a map", () => {
    assert.deepEqual(
      mergePatch({ data: { a: "1", b: "2" } }, { data: { a: "1", b: "3", c: "4" } }, ["data"]),
      {
        data: { b: "3", c: "4" },
      },
    );
    assert.deepEqual(mergePatch({ data: { a: "1", b: "2" } }, { data: { a: "1" } }, ["data"]), {
      data: { b: null },
    });
    assert.deepEqual(mergePatch({ data: { a: "1" } }, {}, ["data"]), { data: null });
  });

  it("looks only at the given fields, and takes empty for missing", () => {
    assert.equal(mergePatch({ data: {}, status: 1 }, { immutable: false }, ["data", "immutable"]), undefined);
  });

  it("always ends in what is desired", () => {
    const data = fc.dictionary(fc.constantFrom("a", "b", "c", "d"), fc.constantFrom("1", "2", ""), {
      noNullPrototype: true,
    });
    fc.assert(
      fc.property(data, data, (existing, desired) => {
        const patch = mergePatch({ data: existing }, { data: desired }, ["data"]);
        assert.deepEqual(
          { data: {}, ...(apply({ data: existing }, patch ?? {}) as object) },
          { data: desired },
        );
      }),
    );
  });
});

describe("covers", () => {
  const cases: [existing: unknown, desired: unknown, covered: boolean][] = [
    [{ ports: [{ port: 80, protocol: "TCP" }] }, { ports: [{ port: 80 }] }, true],
    [{ ports: [{ port: 80 }, { port: 81 }] }, { ports: [{ port: 80 }] }, false],
    [{ ports: [{ port: 81 }] }, { ports: [{ port: 80 }] }, false],
    [{ clusterIP: "10.0.0.1" }, { type: undefined }, true],
    [{}, { publishNotReadyAddresses: false }, true],
    [undefined, { a: "1" }, false],
    [undefined, {}, true],
  ];
  for (const [existing, desired, covered] of cases) {
    it(`${JSON.stringify(existing)} ${covered ? "covers" : "does not cover"} ${JSON.stringify(desired)}`, () => {
      assert.equal(covers(existing, desired), covered);
    });
  }
});

describe("remoteServiceSpec", () => {
  const service = (spec: Partial<Service["spec"]>, annotations?: Record<string, string>): Service => ({
    apiVersion: "v1",
    kind: "Service",
    metadata: { name: "web", namespace: "shop", annotations },
    spec: {
      clusterIP: "10.96.0.9",
      clusterIPs: ["10.96.0.9"],
      ipFamilies: ["IPv4"],
      externalIPs: ["1.2.3.4"],
      ports: [{ name: "http", port: 80, targetPort: 8080, protocol: "TCP", nodePort: 30080 }],
      selector: { app: "web" },
      ...spec,
    },
  });

  it("leaves to the provider what it allocates", () => {
    assert.deepEqual(remoteServiceSpec(service({ type: "NodePort" }), {}), {
      type: "NodePort",
      selector: { app: "web" },
      ports: [{ name: "http", port: 80, targetPort: 8080, protocol: "TCP" }],
    });
  });

  it("takes the node port along where it is asked to", () => {
    const forced = remoteServiceSpec(
      service({ type: "NodePort" }, { "liqo.io/force-remote-node-port": "true" }),
      {},
    );
    assert.equal(forced.ports?.[0]?.nodePort, 30080);
  });

  it("stays headless", () =>
    assert.equal(remoteServiceSpec(service({ clusterIP: "None" }), {}).clusterIP, "None"));

  it("uses the provider's class for load balancers alone", () => {
    const context = { loadBalancerClass: "metal" };
    assert.equal(remoteServiceSpec(service({ type: "LoadBalancer" }), context).loadBalancerClass, "metal");
    assert.equal(remoteServiceSpec(service({ type: "ClusterIP" }), context).loadBalancerClass, undefined);
    assert.equal(
      remoteServiceSpec(service({ type: "LoadBalancer", loadBalancerClass: "ours" }), {}).loadBalancerClass,
      undefined,
    );
  });
});

describe("remoteIngressSpec", () => {
  const ingress: Ingress = {
    apiVersion: "networking.k8s.io/v1",
    kind: "Ingress",
    metadata: { name: "web" },
    spec: { ingressClassName: "ours", rules: [{ host: "shop.example" }] },
  };
  it("uses the provider's class, or none", () => {
    assert.deepEqual(remoteIngressSpec(ingress, { ingressClass: "nginx" }), {
      ingressClassName: "nginx",
      rules: [{ host: "shop.example" }],
    });
    assert.deepEqual(remoteIngressSpec(ingress, {}), { rules: [{ host: "shop.example" }] });
  });
});
