import assert from "node:assert/strict";

import type { IP } from "../../../runtime/api";
import { gatewayMasqueradeBypass } from "../../../runtime/networking/fabric/pod-routes";
import {
  ipMappingInGateways,
  ipMappingOnNodes,
} from "../../../runtime/networking/addresses/ip-mapping-controller";
import {
  masqueradeBypass,
  remapFirewalls,
} from "../../../runtime/networking/configuration/configuration-rules";
import {
  gatewayWithoutTracking,
  nodesWithoutTracking,
  segmentSizeClamp,
} from "../../../runtime/networking/fabric/static-firewalls-controller";
import { ip } from "../ipam/objects";
import { configuration, n2, pod } from "./objects";
import { describedFirewall } from "./described";

describe("the firewalls of a Configuration", () => {
  it("translate in gateways what was remapped", () => {
    const [pods, external] = remapFirewalls(
      configuration({
        pod: [
          ["10.243.0.0/16", "10.71.0.0/16"],
          ["10.9.0.0/16", "10.9.0.0/16"],
          ["10.200.0.0/20", "172.18.64.0/20"],
        ],
      }),
    );
    assert.deepEqual(describedFirewall(pods), [
      "liqo-tenant-milan/milan-remap-podcidr table remap-podcidr",
      "firewall-category=gateway firewall-unique=milan",
      "owned by Configuration milan",
      "outgoing: nat prerouting -100",
      "  outgoing-10-71-0-0-16: dst 10.71.0.0/16 iif liqo.* dnat 10.243.0.0/16",
      "  outgoing-172-18-64-0-20: dst 172.18.64.0/20 iif liqo.* dnat 10.200.0.0/20",
      "incoming: nat postrouting 100",
      "  incoming-10-243-0-0-16: oif liqo.* src 10.243.0.0/16 iif liqo-tunnel snat 10.71.0.0/16",
      "  incoming-10-200-0-0-20: oif liqo.* src 10.200.0.0/20 iif liqo-tunnel snat 172.18.64.0/20",
    ]);
    assert.deepEqual(describedFirewall(external).slice(0, 5), [
      "liqo-tenant-milan/milan-remap-externalcidr table remap-externalcidr",
      "firewall-category=gateway firewall-unique=milan",
      "owned by Configuration milan",
      "outgoing: nat prerouting -100",
      "  outgoing-10-68-0-0-16: dst 10.68.0.0/16 iif liqo.* dnat 10.70.0.0/16",
    ]);
  });

  it("are empty in gateways where nothing was remapped", () => {
    const [pods] = remapFirewalls(configuration({ pod: [["10.243.7.0/16", "10.243.0.0/16"]] }));
    assert.deepEqual(describedFirewall(pods).slice(3), [
      "outgoing: nat prerouting -100",
      "incoming: nat postrouting 100",
    ]);
  });

  const local = { pod: ["10.42.0.0/16", "10.44.0.0/20"], external: ["10.60.0.0/16"] };
  const twoPods: [string, string][] = [
    ["10.243.0.0/16", "10.71.0.0/16"],
    ["10.9.0.0/16", "10.9.0.0/16"],
  ];

  it("keep the addresses of pods on nodes, and replace all others", () => {
    assert.deepEqual(describedFirewall(masqueradeBypass(configuration({ local, pod: twoPods }), false)), [
      "liqo-tenant-milan/milan-masquerade-bypass table milan-masquerade-bypass",
      "firewall-category=fabric firewall-subcategory=all-nodes",
      "owned by Configuration milan",
      "pre-postrouting: nat postrouting 99",
      "  podcidr-milan-10-42-0-0-16-10-71-0-0-16: dst 10.71.0.0/16 src 10.42.0.0/16 snat 10.42.0.0/16",
      "  podcidr-milan-10-42-0-0-16-10-9-0-0-16: dst 10.9.0.0/16 src 10.42.0.0/16 snat 10.42.0.0/16",
      "  podcidr-milan-10-44-0-0-20-10-71-0-0-16: dst 10.71.0.0/16 src 10.44.0.0/20 snat 10.44.0.0/20",
      "  podcidr-milan-10-44-0-0-20-10-9-0-0-16: dst 10.9.0.0/16 src 10.44.0.0/20 snat 10.44.0.0/20",
      "  service-nodeport-milan-10-71-0-0-16: dst 10.71.0.0/16 src !10.42.0.0/16 src !10.44.0.0/20 snat 10.60.0.0",
      "  service-nodeport-milan-10-9-0-0-16: dst 10.9.0.0/16 src !10.42.0.0/16 src !10.44.0.0/20 snat 10.60.0.0",
      "  podcidr-milan-ext-10-42-0-0-16: dst 10.68.0.0/16 src 10.42.0.0/16 snat 10.42.0.0/16",
      "  podcidr-milan-ext-10-44-0-0-20: dst 10.68.0.0/16 src 10.44.0.0/20 snat 10.44.0.0/20",
      "  service-nodeport-milan-ext: dst 10.68.0.0/16 src !10.42.0.0/16 src !10.44.0.0/20 snat 10.60.0.0",
    ]);
  });

  it("replace every address on nodes with full masquerading", () => {
    assert.deepEqual(describedFirewall(masqueradeBypass(configuration({ local }), true)).slice(3), [
      "pre-postrouting: nat postrouting 99",
      "  service-nodeport-milan-10-71-0-0-16: dst 10.71.0.0/16 snat 10.60.0.0",
      "  service-nodeport-milan-ext: dst 10.68.0.0/16 snat 10.60.0.0",
    ]);
  });

  it("wait for this cluster's networks", () => {
    assert.equal(masqueradeBypass(configuration({ local: { pod: [], external: [] } }), false), undefined);
  });
});

// Owned by their IP, where upstream leaves them without owner (14.3) and clears them by a finalizer.
describe("the firewalls of an IP", () => {
  const exported = (over: Partial<IP["spec"]> = {}) =>
    ip("api-server", { ip: "10.95.0.1", ...over }, { ip: "10.70.0.1", cidr: "10.70.0.0/16" });

  it("translate in gateways what comes from peers and goes to them", () => {
    assert.deepEqual(describedFirewall(ipMappingInGateways(exported())), [
      "liqo/api-server-remap-ipmapping-gw table api-server-remap-ipmapping-gw-liqo",
      "firewall-category=gateway firewall-subcategory=ip-mapping",
      "owned by IP api-server",
      "prerouting: nat prerouting -100",
      "  api-server: dst 10.70.0.1 iif liqo-tunnel dnat 10.95.0.1",
      "postrouting: nat postrouting 100",
      "  api-server: src 10.95.0.1 oif liqo-tunnel snat 10.70.0.1",
    ]);
  });

  it("masquerade on nodes what gateways send, where that is asked for", () => {
    assert.equal(ipMappingOnNodes(exported()), undefined);
    assert.deepEqual(describedFirewall(ipMappingOnNodes(exported({ masquerade: true }))), [
      "liqo/api-server-remap-ipmapping-fabric table api-server-remap-ipmapping-fabric-liqo",
      "firewall-category=fabric firewall-subcategory=ip-mapping",
      "owned by IP api-server",
      "prerouting: nat prerouting -100",
      "  api-server: dst 10.70.0.1 dnat 10.95.0.1",
      "postrouting: nat postrouting 99",
      "  api-server: dst 10.95.0.1 iif liqo.* masquerade",
    ]);
  });

  it("are none while it has no address", () => {
    const waiting = ip("api-server", { ip: "10.95.0.1", masquerade: true });
    assert.deepEqual([ipMappingInGateways(waiting), ipMappingOnNodes(waiting)], [undefined, undefined]);
  });
});

describe("firewalls that options ask for", () => {
  it("keep the address of gateways on a node", () => {
    const gateways = [
      pod("gw-turin", "10.42.2.9"),
      pod("gw-milan", "10.42.2.5"),
      pod("gw-new", "", { status: {} }),
    ];
    const generated = gatewayMasqueradeBypass(n2, gateways, 6091, "liqo");
    assert.deepEqual(describedFirewall(generated), [
      "liqo/n2-gw-masquerade-bypass table n2-gw-masquerade-bypass",
      "firewall-category=fabric firewall-subcategory=single-node firewall-unique=n2 gateway-masquerade-bypass=true",
      "owned by InternalNode n2",
      "pre-postrouting: nat postrouting 99",
      "  shop/gw-milan: src 10.42.2.5 udp dport 6091 snat 10.42.2.5",
      "  shop/gw-turin: src 10.42.2.9 udp dport 6091 snat 10.42.2.9",
    ]);
    assert.equal(gatewayMasqueradeBypass(n2, [], 6091, "liqo"), undefined);
  });

  it("clamp segments", () => {
    assert.deepEqual(describedFirewall(segmentSizeClamp(0, "liqo-system")), [
      "liqo-system/gw-mss-clamping table mss-clamping",
      "firewall-category=gateway firewall-subcategory=all-gateways liqo.io/webhook-skip=true",
      "mss-clamping: filter forward 0",
      "  mss-clamping-out: tcp oif liqo-tunnel tcpmssclamp 0",
      "  mss-clamping-in: tcp iif liqo-tunnel tcpmssclamp 0",
    ]);
  });

  it("track in gateways what may be translated alone", () => {
    assert.deepEqual(describedFirewall(gatewayWithoutTracking("liqo")), [
      "liqo/gw-notrack table liqo-notrack-geneve",
      "firewall-category=gateway firewall-subcategory=all-gateways liqo.io/webhook-skip=true",
      "prerouting: filter prerouting -300",
      "  notrack-outer: iif !liqo.* iif !liqo-tunnel notrack",
      "output: filter output -300",
      "  notrack-outer: oif !liqo.* oif !liqo-tunnel notrack",
    ]);
  });

  it("leave the overlay untracked on nodes", () => {
    assert.deepEqual(describedFirewall(nodesWithoutTracking(6091, "liqo")), [
      "liqo/fabric-notrack table liqo-notrack-geneve",
      "firewall-category=fabric firewall-subcategory=all-nodes liqo.io/webhook-skip=true",
      "prerouting: filter prerouting -300",
      "  notrack-geneve-dport: udp dport 6091 notrack",
      "  notrack-geneve-sport: udp sport 6091 notrack",
      "output: filter output -300",
      "  notrack-geneve-dport: udp dport 6091 notrack",
      "  notrack-geneve-sport: udp sport 6091 notrack",
    ]);
  });
});
