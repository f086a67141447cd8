import assert from "node:assert/strict";

import { type CniAgent, networkHints } from "../../../runtime/plan/networking/network-hints";

const pod = (name: string, ...addresses: string[]) => ({ namespace: "shop", name, addresses });
const cilium: CniAgent = {
  namespace: "kube-system",
  name: "cilium",
  kind: "cilium",
  env: {},
  avoidsVirtualNodes: true,
  config: { "kube-proxy-replacement": "false" },
};
const calico: CniAgent = {
  namespace: "calico-system",
  name: "calico-node",
  kind: "calico",
  env: { IP_AUTODETECTION_METHOD: "interface=eth0" },
  avoidsVirtualNodes: true,
};
const podCidrs = ["10.42.0.0/16", "10.43.64.0/20"];
const hints = (facts: Partial<Parameters<typeof networkHints>[0]>, cidrs = podCidrs) =>
  networkHints({ pods: [], agents: [], ...facts }, cidrs);

describe("hints before an installation", () => {
  it("are none where everything fits, in whichever of several networks pods are, of one family or both", () => {
    const pods = [pod("one", "10.42.7.9"), pod("two", "10.43.79.1"), pod("both", "10.42.0.3", "fd00::3")];
    assert.deepEqual(hints({ pods, agents: [cilium, calico] }), []);
  });

  it("name pods whose addresses are in no network that was given", () => {
    const outside = ["a", "b", "c", "d", "e"].map((name, index) => pod(name, `10.200.${index}.5`));
    const [line, ...others] = hints({ pods: [pod("inside", "10.42.0.1"), ...outside] });
    assert.deepEqual(others, []);
    assert.match(line ?? "", /outside of networking\.podCidrs \(10\.42\.0\.0\/16, 10\.43\.64\.0\/20\)/);
    assert.match(line ?? "", /shop\/a \(10\.200\.0\.5\), .*shop\/c \(10\.200\.2\.5\) and 2 more$/);
  });

  it("name pods that have IPv6 addresses alone", () => {
    const [line] = hints({ pods: [pod("six", "fd00::7"), pod("starting")] });
    assert.match(line ?? "", /IPv6 alone; .*IPv4 only: shop\/six \(fd00::7\)$/);
  });

  it("say nothing of addresses where there is no networking", () => {
    assert.deepEqual(hints({ pods: [pod("six", "fd00::7"), pod("a", "10.200.0.5")] }, []), []);
  });

  it("tell how to keep a CNI's agent off virtual nodes, with and without networking", () => {
    for (const cidrs of [podCidrs, []]) {
      const found = hints(
        { agents: [cilium, calico].map((agent) => ({ ...agent, avoidsVirtualNodes: false })) },
        cidrs,
      );
      assert.equal(found.length, 2);
      assert.match(found[0] ?? "", /^Cilium \(DaemonSet kube-system\/cilium\) .* taints them/);
      assert.match(found[1] ?? "", /^Calico \(DaemonSet calico-system\/calico-node\) /);
      for (const line of found) assert.match(line, /liqo\.io\/type NotIn \[virtual-node\]/);
    }
  });

  for (const [method, warns] of [
    [undefined, true],
    ["first-found", true],
    ["skip-interface=docker.*", true],
    ["skip-interface=docker.*,liqo.*", false],
    ["kubernetes-internal-ip", false],
    ["cidr=192.0.2.0/24", false],
  ] as const) {
    it(`${warns ? "warn" : "do not warn"} of Calico's detection of addresses by ${method ?? "default"}`, () => {
      const env: Record<string, string> = method === undefined ? {} : { IP_AUTODETECTION_METHOD: method };
      const agent = { ...calico, env };
      assert.equal(
        hints({ agents: [agent] }).some((line) => line.includes("skip-interface=liqo.*")),
        warns,
      );
      assert.deepEqual(
        hints({ agents: [agent] }, []),
        [],
        "there are interfaces of ours with networking only",
      );
    });
  }

  for (const [config, warns] of [
    [{ "kube-proxy-replacement": "true" }, true],
    [{ "kube-proxy-replacement": "strict" }, true],
    [{ "kube-proxy-replacement": "true", devices: "eth0" }, false],
    [{ "kube-proxy-replacement": "disabled" }, false],
    [{}, false],
  ] as const) {
    it(`${warns ? "warn" : "do not warn"} of Cilium with ${JSON.stringify(config)}`, () => {
      const agents = [{ ...cilium, config: { ...config } }];
      assert.equal(
        hints({ agents }).some((line) => line.includes("set devices")),
        warns,
      );
    });
  }
});
