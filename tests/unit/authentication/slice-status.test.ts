import assert from "node:assert/strict";
import type { ResourceSlice } from "../../../runtime/api";
import {
  isAccepted,
  isCordoned,
  sliceStatus,
  type SliceFacts,
} from "../../../runtime/authentication/slice-status";

const t0 = "2026-03-01T10:00:00Z";
const t1 = "2026-03-01T10:05:00Z";

const slice = (over: Partial<ResourceSlice> = {}): ResourceSlice => ({
  apiVersion: "authentication.liqo.io/v1beta1",
  kind: "ResourceSlice",
  metadata: { name: "pool", namespace: "liqo-tenant-rome" },
  spec: { consumerClusterID: "rome", resources: { cpu: 8 } },
  ...over,
});

const resources: NonNullable<SliceFacts["resources"]> = {
  tenantCondition: "Active",
  storageClasses: [],
  defaultClass: {
    enabled: true,
    defaultResources: { cpu: "4", memory: "8Gi" },
    clusterLabels: {},
    ingressClasses: [],
    loadBalancerClasses: [],
    storageEnabled: false,
    realStorageClassName: "",
  },
};
const accepted: SliceFacts = {
  authentication: {
    outcome: "accepted",
    authParams: { apiServer: "https://10.0.0.2:6443", signedCRT: "Y3J0" },
  },
  resources,
};
const brief = (status: ResourceSlice["status"]) =>
  Object.fromEntries(
    (status?.conditions ?? []).map(({ type, status, reason }) => [type, `${status}/${reason}`]),
  );

describe("the status of a provider's copy of a slice", () => {
  it("accepts and grants with the default class", () => {
    const status = sliceStatus(slice(), accepted, t0);
    assert.deepEqual(status.resources, { cpu: "8", memory: "8Gi" });
    assert.deepEqual(status.authParams, { apiServer: "https://10.0.0.2:6443", signedCRT: "Y3J0" });
    assert.deepEqual(status.conditions, [
      {
        type: "Authentication",
        status: "Accepted",
        reason: "ResourceSliceAuthenticationAccepted",
        message: "ResourceSlice authentication accepted",
        lastTransitionTime: t0,
      },
      {
        type: "Resources",
        status: "Accepted",
        reason: "ResourceSliceResourcesAccepted",
        message: "ResourceSlice resources accepted",
        lastTransitionTime: t0,
      },
    ]);
  });

  it("is the same again, whatever the time", () => {
    const first = sliceStatus(slice(), accepted, t0);
    assert.deepEqual(sliceStatus(slice({ status: first }), accepted, t1), first);
  });

  it("denies the credentials and still looks at the resources", () => {
    const status = sliceStatus(slice(), { ...accepted, authentication: { outcome: "denied" } }, t0);
    assert.deepEqual(brief(status), {
      Authentication: "Denied/ResourceSliceAuthenticationDenied",
      Resources: "Accepted/ResourceSliceResourcesAccepted",
    });
    assert.equal(status.authParams, undefined);
  });

  it("keeps what stood there while a certificate is being signed", () => {
    const first = sliceStatus(slice(), accepted, t0);
    const second = sliceStatus(
      slice({ status: first }),
      { ...accepted, authentication: { outcome: "pending" } },
      t1,
    );
    assert.deepEqual(second, first);
    assert.deepEqual(
      brief(sliceStatus(slice(), { ...accepted, authentication: { outcome: "pending" } }, t0)),
      {
        Resources: "Accepted/ResourceSliceResourcesAccepted",
      },
    );
  });

  it("denies only the credentials of a slice in the wrong namespace", () => {
    assert.deepEqual(brief(sliceStatus(slice(), { authentication: { outcome: "denied" } }, t0)), {
      Authentication: "Denied/ResourceSliceAuthenticationDenied",
    });
  });

  const conditions: [
    string,
    Partial<typeof resources>,
    Partial<ResourceSlice["spec"]>,
    boolean,
    string | undefined,
  ][] = [
    [
      "drained after acceptance",
      { tenantCondition: "Drained" },
      {},
      true,
      "Denied/ResourceSliceResourcesDenied",
    ],
    ["drained at once", { tenantCondition: "Drained" }, {}, false, "Denied/ResourceSliceResourcesDenied"],
    [
      "cordoned after acceptance",
      { tenantCondition: "Cordoned" },
      {},
      true,
      "Accepted/ResourceSliceResourcesAccepted",
    ],
    ["cordoned at once", { tenantCondition: "Cordoned" }, {}, false, "Denied/ResourceSliceResourcesDenied"],
    [
      "cordoned at once, another class",
      { tenantCondition: "Cordoned" },
      { class: "gold" },
      false,
      "Denied/ResourceSliceResourcesDenied",
    ],
    ["another class", {}, { class: "gold" }, false, undefined],
    [
      "the class disabled",
      { defaultClass: { ...resources.defaultClass, enabled: false } },
      {},
      true,
      "Denied/DefaultResourceSliceClassDisabled",
    ],
  ];
  for (const [title, over, spec, before, expected] of conditions) {
    it(`resources: ${title}`, () => {
      const status = before ? sliceStatus(slice(), accepted, t0) : undefined;
      const seen = slice({ spec: { ...slice().spec, ...spec }, ...(status === undefined ? {} : { status }) });
      const after = sliceStatus(seen, { ...accepted, resources: { ...resources, ...over } }, t1);
      assert.equal(brief(after).Resources, expected);
      assert.deepEqual(after.resources, status?.resources, "an old grant is not touched");
    });
  }

  it("keeps what was granted while the tenant is cordoned, and says so of a slice that asks for another amount", () => {
    const cordoned: SliceFacts = { ...accepted, resources: { ...resources, tenantCondition: "Cordoned" } };
    const granted = sliceStatus(slice(), accepted, t0);
    const told = (asked: ResourceSlice["spec"], status: ResourceSlice["status"] = granted) =>
      sliceStatus(slice({ spec: { ...slice().spec, ...asked }, status }), cordoned, t1);
    const message = ({ conditions }: ReturnType<typeof told>) =>
      conditions?.find(({ type }) => type === "Resources")?.message ?? "";
    assert.deepEqual(told({}), granted);
    const grown = told({ resources: { cpu: 9 } });
    assert.match(
      message(grown),
      /^ResourceSlice resources accepted: as granted before; .* cordoned this tenant$/,
    );
    assert.deepEqual([brief(grown), grown.resources], [brief(granted), granted.resources]);
    assert.equal(message(told({}, grown)), "ResourceSlice resources accepted", "back to what was granted");
    assert.equal(message(told({ class: "gold", resources: { cpu: 9 } })), message(granted));
  });

  it("reads acceptance by type", () => {
    const status = sliceStatus(slice(), { ...accepted, authentication: { outcome: "denied" } }, t0);
    assert.equal(isAccepted(slice({ status }), "Resources"), true);
    assert.equal(isAccepted(slice({ status }), "Authentication"), false);
    assert.equal(isAccepted(slice(), "Resources"), false);
  });
});

describe("a slice is cordoned", () => {
  const cases: [Record<string, string>, boolean][] = [
    [{}, false],
    [{ "liqo.io/cordon": "true" }, true],
    [{ "liqo.io/cordon-tenant": "true" }, true],
    [{ "liqo.io/cordon": "" }, true],
    [{ "liqo.io/cordon": "false" }, false],
    [{ "liqo.io/cordon": "False" }, false],
    [{ "liqo.io/cordon": "0", "liqo.io/cordon-tenant": "0" }, false],
    [{ "liqo.io/cordon": "false", "liqo.io/cordon-tenant": "yes" }, true],
  ];
  for (const [annotations, expected] of cases) {
    it(`${JSON.stringify(annotations)}: ${expected}`, () => {
      assert.equal(isCordoned(slice({ metadata: { name: "pool", annotations } })), expected);
    });
  }
});
