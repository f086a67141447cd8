import assert from "node:assert/strict";

import type { VirtualNode } from "../../../runtime/api";
import { readFlags, splitCommandLine } from "../../../runtime/component/command-line";
import { nodeFlags, processFlags } from "../../../runtime/virtual-kubelet/settings/flags";
import { nodeSettings } from "../../../runtime/virtual-kubelet/settings/node-settings";

const defaults = readFlags(splitCommandLine(["virtual-kubelet"]), nodeFlags);
const virtualNode = (spec: Partial<VirtualNode["spec"]>, args?: string[]): VirtualNode => ({
  apiVersion: "offloading.liqo.io/v1beta1",
  kind: "VirtualNode",
  metadata: { name: "milan-pool", namespace: "liqo-tenant-milan" },
  spec: {
    clusterID: "milan",
    kubeconfigSecretRef: { name: "kubeconfig-pool" },
    ...(args === undefined
      ? {}
      : {
          template: {
            spec: {
              selector: {},
              template: { spec: { containers: [{ name: "virtual-kubelet", args }] } },
            },
          },
        }),
    ...spec,
  },
});

describe("nodeSettings", () => {
  it("has the defaults of a VirtualNode that says little", () => {
    const settings = nodeSettings(virtualNode({}), defaults);
    assert.equal(settings.createNode, true);
    assert.equal(settings.checkNetwork, true);
    assert.deepEqual(settings.resources, {});
    assert.deepEqual(settings.notReflected, { labels: [], annotations: [] });
    assert.equal(settings.flags.configmapReflectionType, "DenyList");
    assert.equal(settings.flags.enableApiserverSupport, true);
  });

  it("takes of several classes the default, else the first", () => {
    const settings = nodeSettings(
      virtualNode({
        storageClasses: [{ storageClassName: "slow" }, { storageClassName: "fast", default: true }],
        ingressClasses: [{ ingressClassName: "nginx" }, { ingressClassName: "other" }],
      }),
      defaults,
    );
    assert.equal(settings.storageClass, "fast");
    assert.equal(settings.ingressClass, "nginx");
    assert.equal(settings.loadBalancerClass, undefined);
  });

  it("reads the arguments that upstream's webhook writes, and passes over what it does not know", () => {
    const settings = nodeSettings(
      virtualNode({ labels: { own: "spec" } }, [
        "--foreign-cluster-id=milan",
        "--node-ip=$(POD_IP)",
        "--pod-reflection-workers=10",
        "--event-reflection-workers=0",
        "--secret-reflection-type=AllowList",
        "--ingress-reflection-type=Nonsense",
        "--node-extra-labels=extra=e,own=args",
        "--enable-apiserver-support=false",
        "--metrics-enabled=true",
        "nonsense",
      ]),
      defaults,
    );
    assert.equal(settings.flags.podReflectionWorkers, defaults.podReflectionWorkers);
    assert.equal(settings.flags.eventReflectionWorkers, 0);
    assert.equal(settings.flags.secretReflectionType, "AllowList");
    assert.equal(settings.flags.ingressReflectionType, "DenyList");
    assert.equal(settings.flags.enableApiserverSupport, false);
    assert.deepEqual(settings.labels, { extra: "e", own: "spec" });
  });
});

describe("flags of the process", () => {
  const read = (...words: string[]) =>
    readFlags(splitCommandLine(["virtual-kubelet", ...words]), processFlags);

  it("renew leases well before they run out", () => {
    const flags = read("--cluster-id=rome");
    assert.ok(flags.vkLeaseRetryPeriod < flags.vkLeaseRenewInterval);
    assert.ok(flags.vkLeaseRenewInterval < flags.vkLeaseDuration);
    // A replica may look just before the holder's last renewal, and take its time to look again.
    assert.ok(flags.vkLeaseDuration + 2 * 1.2 * flags.vkLeaseRetryPeriod <= 15_000);
  });

  it("demand the cluster's ID", () => assert.throws(() => read(), /--cluster-id is missing/));
});
