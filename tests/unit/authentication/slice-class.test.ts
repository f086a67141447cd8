import assert from "node:assert/strict";
import type { ResourceSlice, StorageClass } from "../../../runtime/api";
import {
  type DefaultClassOptions,
  grantDefaultClass,
  parseClassList,
  tellUnservedClass,
} from "../../../runtime/authentication/slice-class";
import { type EventRecorder, systemClock } from "../../../runtime/kube";

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

const CREATED = "2026-03-01T10:00:00Z";
const ACCEPTED_AT = "2026-03-01T10:00:04Z";
const afterAcceptance = (seconds: number) => Date.parse(ACCEPTED_AT) + seconds * 1_000;
const authentication = {
  type: "Authentication" as const,
  status: "Accepted" as const,
  lastTransitionTime: ACCEPTED_AT,
};

function slice(name: string | undefined, status: ResourceSlice["status"]): ResourceSlice {
  return {
    apiVersion: "authentication.liqo.io/v1beta1",
    kind: "ResourceSlice",
    metadata: { name: "pool", namespace: "guests-from-rome", creationTimestamp: CREATED },
    spec: name === undefined ? {} : { class: name },
    status,
  };
}

/** What is told at a moment, and when to look again. */
function tell(one: ResourceSlice, now: number): { told: string[]; again: number | undefined } {
  const told: string[] = [];
  const events: Pick<EventRecorder, "normal" | "warning"> = {
    normal: (_about, reason) => told.push(`Normal ${reason}`),
    warning: (_about, reason, message) => told.push(`${reason}: ${message}`),
  };
  const clock = { ...systemClock, now: () => now };
  return { again: tellUnservedClass(one, { clock, events }, "run its controller"), told };
}

describe("a slice of a class that is not ours", () => {
  const waiting = slice("gold", { conditions: [authentication] });

  it("is waited for, and told of when nobody answers", () => {
    assert.deepEqual(tell(waiting, afterAcceptance(1)), { again: 4_000, told: [] });
    assert.deepEqual(tell(waiting, afterAcceptance(5)), {
      again: undefined,
      told: ['ClassNotServed: spec.class: nobody has answered class "gold": run its controller'],
    });
  });

  it("is waited for no longer than that by a clock that is behind", () => {
    assert.equal(tell(waiting, afterAcceptance(-3_600)).again, 5_000);
  });

  const silent: [title: string, one: ResourceSlice][] = [
    ["of the built-in class", slice("default", { conditions: [authentication] })],
    ["of no class", slice(undefined, { conditions: [authentication] })],
    ["without credentials", slice("gold", {})],
    [
      "whose credentials were denied",
      slice("gold", { conditions: [{ ...authentication, status: "Denied" }] }),
    ],
    [
      "that its controller has refused",
      slice("gold", { conditions: [authentication, { type: "Resources", status: "Denied" }] }),
    ],
    [
      "that its controller is at work on",
      slice("gold", { conditions: [authentication], resources: { cpu: "1" } }),
    ],
  ];
  for (const [title, one] of silent)
    it(`is no matter of ours where it is one ${title}`, () =>
      assert.deepEqual(tell(one, afterAcceptance(600)), { again: undefined, told: [] }));
});
