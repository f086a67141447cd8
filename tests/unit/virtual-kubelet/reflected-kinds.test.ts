import assert from "node:assert/strict";
import type { PolicyRule } from "kubernetes-types/rbac/v1";

import type { Ingress, Service } from "../../../runtime/api/kubernetes";
import {
  REFLECTED_RESOURCES,
  reflectedRights,
  type ReflectedRights,
} from "../../../runtime/plan/reflected-resources";
import { virtualKubeletNamespaceRules } from "../../../runtime/plan/rbac/components";
import { virtualKubeletRemoteRules } from "../../../runtime/plan/rbac/consumers";
import { nodeFlags } from "../../../runtime/virtual-kubelet/settings/flags";
import { explicitChoice, isAllowed } from "../../../runtime/virtual-kubelet/objects/reflected-kind";
import {
  reflectKinds,
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

describe("the kinds that are reflected", () => {
  reflectKinds("rome", ({ resource, kind, remoteKind }) => {
    const { read, written } = reflectedRights(resource);

    it(`${resource}: is read and written with rights to its own resource`, () => {
      const where = `${resource} in runtime/plan/reflected-resources.ts`;
      assert.deepEqual(read, [kind.group, kind.plural], `read of ${where}`);
      assert.deepEqual(written, [remoteKind.group, remoteKind.plural], `written of ${where}`);
    });
  });

  it("are the same in the roles of both clusters and in the arguments of a virtual kubelet", () => {
    const grants = (rules: readonly PolicyRule[], [group, plural]: readonly [string, string]) =>
      rules.some(({ apiGroups, resources }) => apiGroups?.includes(group) && resources?.includes(plural));
    for (const [resource, rights] of Object.entries<ReflectedRights>(REFLECTED_RESOURCES)) {
      const { read, written, policy } = rights;
      if (read !== undefined) assert.ok(grants(virtualKubeletNamespaceRules, read), `${resource}: read`);
      if (written !== undefined)
        assert.ok(grants(virtualKubeletRemoteRules, written), `${resource}: written`);
      const flags = Object.keys(nodeFlags.shape);
      assert.ok(flags.includes(`${resource.toLowerCase()}ReflectionWorkers`), `${resource}: workers`);
      assert.equal(
        flags.includes(`${resource.toLowerCase()}ReflectionType`),
        policy === true,
        `${resource}: policy`,
      );
    }
  });
});
