import assert from "node:assert/strict";
import { readFlags, refuseUnknownFlags, splitCommandLine } from "../../../runtime/component/command-line";
import {
  authenticationOptions,
  controllerManagerFlags,
  foreignClusterOptions,
  networkingOptions,
} from "../../../runtime/controller-manager/flags";
import { systemClock } from "../../../runtime/kube";

const read = (...words: string[]) =>
  readFlags(splitCommandLine(["controller-manager", "--cluster-id=milan", ...words]), controllerManagerFlags);

describe("the flags of the controller manager", () => {
  it("grant by default what upstream grants", () => {
    const options = authenticationOptions(read(), systemClock);
    assert.deepEqual(options.defaultClass, {
      enabled: true,
      defaultResources: { cpu: "4", memory: "8Gi", pods: "110", "ephemeral-storage": "20Gi" },
      clusterLabels: {},
      ingressClasses: [],
      loadBalancerClasses: [],
      storageEnabled: false,
      realStorageClassName: "",
    });
    assert.equal(options.limitsEnforcement, "None");
    assert.equal(options.liqoNamespace, "liqo");
  });

  it("of the network are upstream's, each with its default (networking reference 19.2)", () => {
    const defaults = read();
    for (const flag of [
      "--networking-enabled=true",
      "--ipam-server=liqo-ipam:6000",
      "--gateway-server-resources=networking.liqo.io/v1beta1/wggatewayservers",
      "--gateway-client-resources=networking.liqo.io/v1beta1/wggatewayclients",
      "--wg-gateway-server-cluster-role-name=liqo-gateway",
      "--wg-gateway-client-cluster-role-name=liqo-gateway",
      "--fabric-full-masquerade-enabled=false",
      "--gateway-masquerade-bypass-enabled=false",
      "--gateway-template-watch-enabled=true",
      "--network-ctrl-workers=1",
      "--ip-ctrl-workers=1",
      "--geneve-port=6091",
      "--fabric-route-rule-priority=0",
      "--enable-api-server-proxy-ip-remapping=true",
      "--api-server-ip-use-endpointslices=false",
      "--deny-direct-connections=false",
    ]) {
      const line = splitCommandLine(["controller-manager", "--cluster-id=milan", flag]);
      assert.doesNotThrow(() => refuseUnknownFlags(line, [controllerManagerFlags]), flag);
      assert.deepEqual(readFlags(line, controllerManagerFlags), defaults, flag);
    }
    const options = networkingOptions(
      read(
        "--fabric-full-masquerade-enabled",
        "--fabric-route-rule-priority=101",
        "--gateway-masquerade-bypass-enabled",
        "--geneve-port=6092",
        "--api-server-ip-use-endpointslices",
      ),
    );
    const { fullMasquerade, fabricRulePriority, gatewayMasqueradeBypass, genevePort, apiServerBy } = options;
    assert.deepEqual(
      [fullMasquerade, fabricRulePriority, gatewayMasqueradeBypass, genevePort, apiServerBy],
      [true, 101, true, 6092, "endpoints"],
    );
  });

  it("reach the controllers", () => {
    const options = authenticationOptions(
      read(
        "--default-node-resources=cpu=2,memory=1Gi",
        "--cluster-labels=region=eu",
        "--ingress-classes=nginx;default,traefik",
        "--default-limits-enforcement=Hard",
        "--api-server-address-override=api.milan:6443",
        "--trusted-ca",
        "--tls-compatibility-mode=true",
        "--default-resource-slice-class-enabled=false",
        "--global-labels=liqo.io/managed=true",
        "--offloading-enabled=false",
      ),
      systemClock,
    );
    assert.deepEqual(options.defaultClass.defaultResources, { cpu: "2", memory: "1Gi" });
    assert.deepEqual(options.defaultClass.ingressClasses, [
      { name: "nginx", default: true },
      { name: "traefik", default: false },
    ]);
    assert.equal(options.defaultClass.enabled, false);
    assert.deepEqual(options.defaultClass.clusterLabels, { region: "eu" });
    assert.equal(options.limitsEnforcement, "Hard");
    assert.deepEqual(options.endpoint, {
      addressOverride: "api.milan:6443",
      caOverride: "",
      trustedCa: true,
    });
    assert.equal(options.tlsCompatibilityMode, true);
    assert.deepEqual(options.global, { labels: { "liqo.io/managed": "true" }, annotations: {} });
    assert.equal(options.offloadingEnabled, false);
  });

  it("make consumers IAM users where all that takes is given", () => {
    const all = [
      "--aws-access-key-id=AKIDEXAMPLE",
      "--aws-secret-access-key=secret",
      "--aws-region=eu-south-1",
      "--aws-cluster-name=milan-eks",
    ];
    const { aws } = authenticationOptions(read(...all), systemClock);
    assert.deepEqual([aws?.region, aws?.clusterName], ["eu-south-1", "milan-eks"]);
    assert.equal(authenticationOptions(read(), systemClock).aws, undefined);
    for (const left of all) {
      const some = all.filter((flag) => flag !== left);
      assert.throws(() => authenticationOptions(read(...some), systemClock), /give all four or none/);
    }
  });

  it("check peers every 15 s for 5 s, unless told otherwise", () => {
    const { pingIntervalMs, pingTimeoutMs } = foreignClusterOptions(read());
    assert.deepEqual([pingIntervalMs, pingTimeoutMs], [15_000, 5_000]);
    assert.equal(foreignClusterOptions(read("--foreign-cluster-ping-interval=0")).pingIntervalMs, 0);
  });

  it("take upstream's default of the limits' enforcement, in lower case", () => {
    assert.equal(
      authenticationOptions(read("--default-limits-enforcement=none"), systemClock).limitsEnforcement,
      "None",
    );
    assert.throws(() => read("--default-limits-enforcement=strict"), /write None, Soft or Hard/);
  });

  it("refuse a cluster ID that is no label", () => {
    for (const id of ["Rome", "-rome", "a".repeat(64)]) {
      assert.throws(
        () => readFlags(splitCommandLine(["x", `--cluster-id=${id}`]), controllerManagerFlags),
        /give this cluster's ID/,
      );
    }
  });
});
