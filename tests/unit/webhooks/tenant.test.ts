import assert from "node:assert/strict";

import { labelForeignCluster } from "../../../runtime/webhooks/foreign-cluster";
import { labelTenant, validateTenant } from "../../../runtime/webhooks/tenant";
import { admissionRequest } from "./requests";

const key = "liqo.io/remote-cluster-id";
const tenant = (labels: object = { [key]: "rome" }, name = "rome") => ({
  metadata: { name, labels },
  spec: { clusterID: "rome" },
});
const own = { "liqo.io/tenant-namespace": "true", [key]: "rome" };
const addLabel = {
  allowed: true,
  patch: [{ op: "add", path: "/metadata/labels/liqo.io~1remote-cluster-id", value: "rome" }],
};

describe("the label of a Tenant", () => {
  it("is added when it is missing, and never changed", () => {
    assert.deepEqual(labelTenant(admissionRequest({ object: tenant({ a: "b" }) })), addLabel);
    assert.deepEqual(labelTenant(admissionRequest({ object: tenant({ [key]: "turin" }) })), {
      allowed: true,
    });
  });
});

describe("the label of a ForeignCluster", () => {
  it("always says what the spec says", () => {
    assert.deepEqual(labelForeignCluster(admissionRequest({ object: tenant({ [key]: "turin" }) })), addLabel);
    assert.deepEqual(labelForeignCluster(admissionRequest({ object: tenant() })), { allowed: true });
  });
});

describe("the validation of a Tenant", () => {
  const namespace = "liqo-tenant-rome";
  type Row = [
    title: string,
    operation: "CREATE" | "UPDATE",
    object: object,
    labels: Record<string, string> | undefined,
    tenants: { name: string; namespace: string }[],
    refusal: [code: number, message: RegExp] | undefined,
  ];
  const table: Row[] = [
    ["takes the first one of its namespace", "CREATE", tenant(), own, [], undefined],
    [
      "needs the namespace",
      "CREATE",
      tenant(),
      undefined,
      [],
      [400, /must be created in a tenant namespace/],
    ],
    [
      "needs a tenant namespace",
      "CREATE",
      tenant(),
      { ...own, "liqo.io/tenant-namespace": "yes" },
      [],
      [400, /lacks the label liqo\.io\/tenant-namespace=true/],
    ],
    ["needs the label", "CREATE", tenant({}), own, [], [400, /is missing, and spec\.clusterID is "rome"/]],
    [
      "needs the right label",
      "UPDATE",
      tenant({ [key]: "turin" }),
      own,
      [],
      [400, /is "turin", and spec\.clusterID is "rome"/],
    ],
    [
      "needs the namespace of its cluster",
      "CREATE",
      tenant(),
      { ...own, [key]: "turin" },
      [],
      [403, /belongs to cluster "turin"/],
    ],
    [
      "refuses a second one",
      "CREATE",
      tenant(),
      own,
      [{ name: "first", namespace }],
      [
        403,
        /^a Tenant already exists in the tenant namespace: "first" in "liqo-tenant-rome", which has room for one; change that one in place of making "rome", or delete it first$/,
      ],
    ],
    [
      "refuses a name that is taken",
      "CREATE",
      tenant(),
      own,
      [{ name: "rome", namespace: "elsewhere" }],
      [403, /named "rome" already exists in namespace elsewhere/],
    ],
    ["takes an update of itself", "UPDATE", tenant(), own, [{ name: "rome", namespace }], undefined],
    [
      "refuses an update of a namesake",
      "UPDATE",
      tenant(),
      own,
      [
        { name: "rome", namespace },
        { name: "rome", namespace: "elsewhere" },
      ],
      [403, /already exists in namespace elsewhere/],
    ],
    [
      "takes anything that is being deleted",
      "UPDATE",
      { metadata: { name: "rome", deletionTimestamp: "2026-03-01T10:00:00Z" } },
      undefined,
      [],
      undefined,
    ],
  ];
  for (const [title, operation, object, namespaceLabels, tenants, refusal] of table) {
    it(title, () => {
      const verdict = validateTenant(admissionRequest({ operation, namespace, object }), {
        namespaceLabels,
        tenants,
      });
      if (refusal === undefined) return assert.deepEqual(verdict, { allowed: true });
      assert.equal(verdict.allowed, false);
      assert.equal(verdict.code, refusal[0]);
      assert.match(verdict.message, refusal[1]);
    });
  }
});
