import assert from "node:assert/strict";

import { parseLinks, parseNeighbours } from "../../../runtime/networking/kernel/ip-listing";
import {
  overlayKind,
  type OverlayLink,
  overlayMacAddress,
  overlayPlan,
} from "../../../runtime/networking/agent/overlay-links";
import { tunnelLinkPlan } from "../../../runtime/gateway/tunnel-interface";
import { canUse, Namespace } from "./namespace";
import type { InternalNode } from "../../../runtime/api";

const link = (over: Partial<OverlayLink> = {}): OverlayLink => ({
  name: "liqo.bcdfghjklm",
  kind: "vxlan",
  id: 7,
  remote: "10.243.2.5",
  port: 6091,
  mtu: 1340,
  address: "10.80.0.1",
  arp: true,
  ...over,
});
const none = new Set<string>();

describe("the plan of the overlay's interfaces", () => {
  it("makes one that is missing, with an address of its own on every layer", () => {
    assert.deepEqual(overlayPlan([link()], none, []), {
      removals: [],
      changes: [
        "link add name liqo.bcdfghjklm address 02:6c:0a:50:00:01 mtu 1340 txqueuelen 1000 type vxlan id 7 remote 10.243.2.5 dstport 6091 nolearning",
        "link set dev liqo.bcdfghjklm addrgenmode none",
        "addr add 10.80.0.1/32 dev liqo.bcdfghjklm",
        "link set dev liqo.bcdfghjklm up",
      ],
    });
    const [first] = overlayPlan([link({ kind: "geneve", arp: false })], none, []).changes;
    assert.match(first ?? "", / type geneve id 7 remote 10\.243\.2\.5 dstport 6091$/);
  });

  it("knows the other end without asking, where its address is given", () => {
    const { changes } = overlayPlan([link({ peer: "10.80.0.3" })], none, []);
    assert.equal(
      changes.at(-1),
      "neigh replace 10.80.0.3 lladdr 02:6c:0a:50:00:03 dev liqo.bcdfghjklm nud permanent",
    );
    assert.ok(
      !overlayPlan([link({ peer: "10.80.0.3", arp: false })], none, [])
        .changes.join()
        .includes("neigh"),
    );
  });

  it("removes what is of the overlay and not wanted, and nothing else", () => {
    const observed = parseLinks(
      JSON.stringify([
        { ifname: "eth0", flags: ["UP"], mtu: 1500, addr_info: [] },
        {
          ifname: "liqo.old",
          linkinfo: { info_kind: "geneve", info_data: { id: 1, remote: "10.0.0.9", port: 6091 } },
        },
        {
          ifname: "liqo.kept",
          linkinfo: { info_kind: "vxlan", info_data: { id: 2, remote: "10.0.0.9", port: 6091 } },
        },
        { ifname: "liqo.veth", linkinfo: { info_kind: "veth" } },
        { ifname: "flannel.1", linkinfo: { info_kind: "vxlan", info_data: { id: 1, port: 8472 } } },
        {},
      ]),
    );
    assert.deepEqual(overlayPlan([], new Set(["liqo.kept"]), observed), {
      removals: ["link del dev liqo.old"],
      changes: [],
    });
  });

  it("gives each address a hardware address that nobody else has", () => {
    assert.equal(overlayMacAddress("10.80.1.255"), "02:6c:0a:50:01:ff");
  });
});

if (canUse("ip")) {
  describe("the overlay's interfaces in the kernel", function () {
    this.timeout(180_000);
    let namespace: Namespace;
    beforeEach(async () => {
      namespace = await Namespace.open();
    });
    afterEach(() => namespace.close());

    const observed = () => parseLinks(namespace.run("ip -j -d addr show"));
    const neighbours = () => parseNeighbours(namespace.run("ip -4 -j neigh show nud permanent"));
    const bring = (wanted: OverlayLink[]) => {
      const plan = () => overlayPlan(wanted, none, observed(), neighbours());
      const { removals, changes } = plan();
      namespace.run("ip -4 -batch -", [...removals, ...changes].join("\n"));
      assert.deepEqual(plan(), { removals: [], changes: [] });
      return [...removals, ...changes];
    };

    it("come, follow every change, and go", () => {
      bring([link(), link({ name: "liqo.other", id: 8, remote: "10.243.2.6" })]);
      for (const change of [{ id: 9 }, { remote: "10.243.2.7" }, { port: 6092 }, { address: "10.80.0.2" }]) {
        const lines = bring([link(change)]);
        assert.ok(lines.includes("link del dev liqo.bcdfghjklm"), lines.join("\n"));
        bring([link()]);
      }
      assert.deepEqual(bring([link({ mtu: 1400 })]), ["link set dev liqo.bcdfghjklm mtu 1400"]);
      bring([link({ arp: false })]);
      namespace.run("ip addr flush dev liqo.bcdfghjklm; ip addr add 10.9.9.9/24 dev liqo.bcdfghjklm");
      namespace.run("ip link set liqo.bcdfghjklm down");
      bring([link()]);
      bring([]);
      assert.deepEqual(
        observed().map(({ name }) => name),
        ["lo"],
      );
    });

    it("know the other end again when somebody has taken that away", () => {
      const lines = bring([link({ peer: "10.80.0.3" })]);
      assert.match(
        namespace.run("ip -4 neigh show"),
        /^10\.80\.0\.3 dev liqo\.bcdfghjklm .*02:6c:0a:50:00:03 PERMANENT/,
      );
      namespace.run("ip neigh del 10.80.0.3 dev liqo.bcdfghjklm");
      assert.deepEqual(bring([link({ peer: "10.80.0.3" })]), lines.slice(-1));
      namespace.run("ip link set dev liqo.bcdfghjklm down");
      assert.deepEqual(bring([link({ peer: "10.80.0.3" })]), [
        "link set dev liqo.bcdfghjklm up",
        ...lines.slice(-1),
      ]);
    });

    it("leave a tunnel with the width and the address that it should have", () => {
      namespace.run("ip link add liqo-tunnel type veth peer name far");
      const wanted = { name: "liqo-tunnel", mtu: 1340, address: "169.254.18.2/30" };
      const have = () => observed().filter(({ name }) => name === "liqo-tunnel");
      const plan = () => have().flatMap((found) => tunnelLinkPlan(wanted, found));
      namespace.run("ip addr add 169.254.18.1/30 dev liqo-tunnel");
      namespace.run("ip -4 -batch -", plan().join("\n"));
      assert.deepEqual(plan(), []);
      assert.deepEqual(
        have().map(({ mtu, addresses, up }) => ({ mtu, addresses, up })),
        [{ mtu: 1340, addresses: ["169.254.18.2/30"], up: true }],
      );
    });
  });
}

describe("the encapsulation of the overlay", () => {
  const node = (overlay?: string): InternalNode => ({
    apiVersion: "networking.liqo.io/v1beta1",
    kind: "InternalNode",
    metadata: {
      name: "n",
      ...(overlay !== undefined && { annotations: { "networking.liqo.io/overlay": overlay } }),
    },
    spec: { interface: { gateway: { name: "liqo.a" }, node: { ip: "10.80.0.1" } } },
  });
  const cases: [(string | undefined)[], string | undefined][] = [
    [[], undefined],
    [[undefined], undefined],
    [["geneve", undefined], "geneve"],
    [["geneve", "vxlan"], "vxlan"],
    [["other"], undefined],
  ];
  for (const [said, expected] of cases) {
    it(`is ${expected ?? "not known"} where nodes say ${said.map((one) => one ?? "nothing").join(", ") || "nothing"}`, () => {
      assert.equal(overlayKind(said.map(node)), expected);
    });
  }
});
