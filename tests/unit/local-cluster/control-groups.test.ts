import assert from "node:assert/strict";

import {
  parseHierarchies,
  podGroupWeight,
  trackingHierarchy,
} from "../../../provider/local-cluster/native/control-groups";

const v1 = `25 30 0:22 / /sys/fs/cgroup ro,nosuid - tmpfs tmpfs ro,mode=755
26 25 0:23 / /sys/fs/cgroup/cpu,cpuacct rw,nosuid shared:9 - cgroup cgroup rw,cpu,cpuacct
27 25 0:24 / /sys/fs/cgroup/systemd rw,nosuid shared:10 - cgroup cgroup rw,xattr,name=systemd
28 25 0:25 / /sys/fs/cgroup/pids rw shared:11 - cgroup cgroup rw,pids`;
const v2 = "30 23 0:26 / /sys/fs/cgroup rw,nosuid shared:4 - cgroup2 cgroup2 rw,nsdelegate";
const hybrid = `${v1}\n29 25 0:26 / /sys/fs/cgroup/unified rw shared:12 - cgroup2 cgroup2 rw`;

describe("control group hierarchies", () => {
  it("are read with their controllers", () => {
    assert.deepEqual(parseHierarchies(v1), [
      { mountPoint: "/sys/fs/cgroup/cpu,cpuacct", version: 1, controllers: ["cpu", "cpuacct"] },
      { mountPoint: "/sys/fs/cgroup/systemd", version: 1, controllers: ["name=systemd"] },
      { mountPoint: "/sys/fs/cgroup/pids", version: 1, controllers: ["pids"] },
    ]);
  });

  it("weigh as much as the processors of their nodes, within what kernels take", () => {
    assert.deepEqual(podGroupWeight(1, 1), { shares: 1024, weight: 100 });
    assert.deepEqual(podGroupWeight(3, 2), { shares: 6144, weight: 600 });
    assert.deepEqual(podGroupWeight(0, 4), { shares: 1024, weight: 100 });
    assert.deepEqual(podGroupWeight(5, 128), { shares: 262_144, weight: 10_000 });
  });

  it("track processes in version 2 where it is mounted", () => {
    assert.equal(trackingHierarchy(parseHierarchies(v2)).mountPoint, "/sys/fs/cgroup");
    assert.equal(trackingHierarchy(parseHierarchies(hybrid)).mountPoint, "/sys/fs/cgroup/unified");
    assert.equal(trackingHierarchy(parseHierarchies(v1)).mountPoint, "/sys/fs/cgroup/systemd");
    assert.throws(() => trackingHierarchy([]), /no control group hierarchy is mounted/);
  });
});
