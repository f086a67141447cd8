import assert from "node:assert/strict";

import type { Ingress, Service } from "../../../runtime/api/kubernetes";
import { explicitChoice, isAllowed } from "../../../runtime/virtual-kubelet/objects/reflected-kind";
import {
  remoteIngressSpec,
  remoteServiceSpec,
} from "../../../runtime/virtual-kubelet/objects/reflected-kinds";

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
