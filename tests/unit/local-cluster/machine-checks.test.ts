import assert from "node:assert/strict";

import { clusterSpec } from "../../../provider/local-cluster/cluster-spec";
import { parseRange } from "../../../provider/local-cluster/ipv4-range";
import { machineFaults, type MachineFacts } from "../../../provider/local-cluster/native/machine-checks";

const good: MachineFacts = {
  platform: "linux",
  root: true,
  stateFolder: "/home/user/.local/state/pulumi-liqo",
  cacheFolder: "/home/user/.cache/pulumi-liqo",
  availableMemoryMb: 4_000,
  availableDiskMb: 20_000,
  routes: [
    { range: parseRange("192.168.7.0/24"), device: "wlan0" },
    { range: parseRange("172.30.0.0/20"), device: "pliqo-abc" },
  ],
  fabric: parseRange("172.30.0.0/20"),
  freeInotifyInstances: 100,
  controllers: ["cpu", "cpuset", "memory", "pids"],
  tunnelDevice: true,
  kernelFaults: [],
};
const rome = clusterSpec.parse({ name: "rome", nodes: 2 });

describe("checks of the machine", () => {
  it("find nothing on a machine that fits", () => assert.deepEqual(machineFaults(rome, good), []));

  for (const [title, facts, spec, line] of [
    ["another system", { platform: "darwin" }, {}, /need Linux, this is darwin; use the backend kind/],
    ["a user who is not root", { root: false }, {}, /need root/],
    [
      "too little memory",
      { availableMemoryMb: 800 },
      {},
      /800 MB of memory are available, the cluster rome needs 850 MB/,
    ],
    [
      "too little disk",
      { availableDiskMb: 900 },
      {},
      /900 MB are free below .*pulumi-liqo, the cluster rome needs 1000 MB/,
    ],
    [
      "too few inotify instances",
      { freeInotifyInstances: 26 },
      {},
      /the cluster rome needs 27 inotify instances, 26 are free; allow more \(sysctl fs\.inotify\.max_user_instances=512\)/,
    ],
    [
      "a pod range that the machine reaches",
      {},
      { podCidr: "192.168.0.0/16" },
      /podCidr 192\.168\.0\.0\/16 overlaps 192\.168\.7\.0\/24, which this machine reaches by wlan0/,
    ],
    [
      "a service range in the clusters' own network",
      {},
      { serviceCidr: "172.30.8.0/22" },
      /serviceCidr 172\.30\.8\.0\/22 overlaps 172\.30\.0\.0\/20, the network of the local clusters/,
    ],
    [
      "no device for tunnels",
      { tunnelDevice: false },
      {},
      /^there is no \/dev\/net\/tun, which gateways between clusters need; load the module \(modprobe tun\)/,
    ],
    ["a missing controller", { controllers: ["cpu", "memory"] }, {}, /controller pids is not available/],
    [
      "a state folder that nodes hide",
      { stateFolder: "/var/lib/x" },
      {},
      /below \/var\/lib, .*set PULUMI_LIQO_STATE/,
    ],
    [
      "another Kubernetes version",
      {},
      { kubernetesVersion: "1.30.0" },
      /kubernetesVersion is 1\.30\.0; native clusters run 1\.34\.4/,
    ],
    [
      "a kernel that lacks a feature",
      { kernelFaults: ["the kernel does not do bridges"] },
      {},
      /does not do bridges/,
    ],
  ] as const) {
    it(`name ${title} in one line`, () => {
      const faults = machineFaults({ ...rome, ...spec }, { ...good, ...facts });
      assert.equal(faults.length, 1);
      assert.match(faults[0] ?? "", line);
      assert.ok(!faults[0]?.includes("\n"));
    });
  }
});
