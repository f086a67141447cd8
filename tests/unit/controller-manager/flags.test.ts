import assert from "node:assert/strict";
import { readFlags, splitCommandLine } from "../../../runtime/component/command-line";
import {
  authenticationOptions,
  controllerManagerFlags,
  foreignClusterOptions,
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
