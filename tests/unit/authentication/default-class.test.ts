import assert from "node:assert/strict";
import type { StorageClass } from "../../../runtime/api";
import { parseClassList } from "../../../runtime/authentication/class-list";
import { type DefaultClassOptions, grantDefaultClass } from "../../../runtime/authentication/default-class";

const options: DefaultClassOptions = {
  enabled: true,
  defaultResources: { cpu: "4", memory: "8Gi", pods: "110", "ephemeral-storage": "20Gi" },
  clusterLabels: { "topology.kubernetes.io/region": "eu-south" },
  ingressClasses: [],
  loadBalancerClasses: [],
  storageEnabled: true,
  realStorageClassName: "",
};

const storageClass = (name: string, isDefault = false): StorageClass => ({
  apiVersion: "storage.k8s.io/v1",
  kind: "StorageClass",
  metadata: {
    name,
    ...(isDefault ? { annotations: { "storageclass.kubernetes.io/is-default-class": "true" } } : {}),
  },
  provisioner: "example.org/disk",
});

describe("the default class", () => {
  it("grants what is asked for and the defaults for the rest", () => {
    assert.deepEqual(grantDefaultClass({ cpu: 8, "nvidia.com/gpu": "2" }, options, []).resources, {
      cpu: "8",
      memory: "8Gi",
      pods: "110",
      "ephemeral-storage": "20Gi",
      "nvidia.com/gpu": "2",
    });
  });

  it("grants no longer what is no longer asked for", () => {
    assert.deepEqual(grantDefaultClass(undefined, options, []).resources, options.defaultResources);
  });

  it("offers all storage classes by name, the cluster's default one as default", () => {
    const grant = grantDefaultClass({}, options, [storageClass("ssd"), storageClass("local-path", true)]);
    assert.deepEqual(grant.storageClasses, [
      { storageClassName: "local-path", default: true },
      { storageClassName: "ssd" },
    ]);
  });

  it("offers the configured storage class as default instead", () => {
    const grant = grantDefaultClass({}, { ...options, realStorageClassName: "ssd" }, [
      storageClass("ssd"),
      storageClass("local-path", true),
    ]);
    assert.deepEqual(grant.storageClasses, [
      { storageClassName: "local-path" },
      { storageClassName: "ssd", default: true },
    ]);
  });

  it("offers no storage when the storage fabric is off", () => {
    const grant = grantDefaultClass({}, { ...options, storageEnabled: false }, [storageClass("ssd")]);
    assert.deepEqual(grant.storageClasses, []);
  });

  it("offers the configured classes in their order, and the cluster's labels", () => {
    const grant = grantDefaultClass(
      {},
      {
        ...options,
        ingressClasses: parseClassList("nginx;default,traefik"),
        loadBalancerClasses: parseClassList("metallb, cloud;default"),
      },
      [],
    );
    assert.deepEqual(grant.ingressClasses, [
      { ingressClassName: "nginx", default: true },
      { ingressClassName: "traefik" },
    ]);
    assert.deepEqual(grant.loadBalancerClasses, [
      { loadBalancerClassName: "metallb" },
      { loadBalancerClassName: "cloud", default: true },
    ]);
    assert.deepEqual(grant.nodeLabels, { "topology.kubernetes.io/region": "eu-south" });
  });
});

describe("a list of classes", () => {
  it("may be empty", () => {
    assert.deepEqual(parseClassList(""), []);
  });
  for (const faulty of ["nginx;defualt", ";default", "a;default;x"]) {
    it(`refuses "${faulty}" by name`, () => {
      assert.throws(() => parseClassList(`good,${faulty}`), {
        message: `class "${faulty}" is not of the form NAME or NAME;default`,
      });
    });
  }
});
