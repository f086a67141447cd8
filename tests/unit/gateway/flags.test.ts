import assert from "node:assert/strict";

import { readFlags, refuseUnknownFlags, splitCommandLine } from "../../../runtime/component/command-line";
import { fabricFlags } from "../../../runtime/fabric/component";
import { gatewayFlags } from "../../../runtime/gateway/gateway";

const REQUIRED = [
  "--name=milan",
  "--namespace=liqo-tenant-milan",
  "--gateway-uid=7d1c0b0e-0000-4000-8000-000000000001",
  "--remote-cluster-id=milan",
  "--mode=client",
];

/** Upstream's flags with the defaults that it documents (networking reference 19.2), but for the lease, which is shorter here on purpose. */
const GATEWAY = [
  "--container-name=gateway",
  "--concurrent-containers-names=wireguard,geneve",
  "--reconcile-timeout=10s",
  "--leader-election=false",
  "--leader-election-lease-duration=3s",
  "--leader-election-renew-deadline=2s",
  "--leader-election-retry-period=500ms",
  "--enable-nft-monitor=true",
  "--enable-route-monitor=true",
  "--minimum-kernel-version=5.10.0",
  "--enable-multipath-hash-policy=false",
  "--enable-connection-controller=true",
  "--ping-enabled=true",
  "--ping-port=12345",
  "--ping-buffer-size=1024",
  "--ping-loss-threshold=5",
  "--ping-interval=2s",
  "--ping-update-status-interval=10s",
  "--mtu=1340",
  "--keys-dir=/etc/wireguard/keys",
  "--dns-check-interval=5m",
  "--implementation=auto",
  "--preserve-client-endpoint=false",
  "--disable-arp=false",
  "--geneve-port=6091",
  "--geneve-cleanup-interval=30m",
];
const FABRIC = [
  "--reconcile-timeout=10s",
  "--enable-nft-monitor=false",
  "--enable-route-monitor=true",
  "--disable-arp=false",
  "--geneve-port=6091",
  "--geneve-cleanup-interval=30m",
];

describe("flags of the agents (networking reference 19.2)", () => {
  for (const [component, schema, required, flags] of [
    ["gateway", gatewayFlags, REQUIRED, GATEWAY],
    ["fabric", fabricFlags, [], FABRIC],
  ] as const) {
    const line = (words: readonly string[]) => splitCommandLine([component, ...required, ...words]);

    it(`of the ${component} are upstream's, each with its default`, () => {
      assert.doesNotThrow(() => refuseUnknownFlags(line(flags), [schema]));
      const defaults = readFlags(line([]), schema);
      for (const flag of flags) {
        assert.deepEqual(readFlags(line([flag]), schema), defaults, flag);
      }
    });
  }

  it("of the gateway are refused where one is missing, or is none", () => {
    const gateway = (words: string[]) => readFlags(splitCommandLine(["gateway", ...words]), gatewayFlags);
    for (const flag of REQUIRED) {
      const name = flag.slice(0, flag.indexOf("="));
      assert.throws(
        () => gateway(REQUIRED.filter((other) => other !== flag)),
        new RegExp(`${name} is missing`),
        name,
      );
    }
    assert.throws(() => gateway([...REQUIRED, "--mode=both"]), /--mode is "both"; write server or client/);
  });
});
