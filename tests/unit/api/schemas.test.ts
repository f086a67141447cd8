import assert from "node:assert/strict";

import type { z } from "zod";

import {
  controlPlaneIdentityName,
  InvalidObjectError,
  kubeconfigSecretName,
  OWN_KINDS,
  tenantNamespaceName,
} from "../../../runtime/api";
import { structuralSchema, type StructuralSchema } from "../../../runtime/api/schema/structural-schema";
import type { Manifest } from "../../support/api-samples/manifest";
import { REFUSALS } from "../../support/api-samples/refusals";
import { SAMPLES } from "../../support/api-samples/samples";
import { kindOf } from "../../support/kind-of";

describe("the schemas of our kinds", () => {
  it("are 28", () => {
    assert.equal(OWN_KINDS.length, 28);
    assert.equal(new Set(OWN_KINDS.map(({ definition }) => definition.plural)).size, 28);
  });

  for (const sample of SAMPLES) {
    it(`take a ${sample.kind} with every field as it is`, () => {
      assert.deepEqual(kindOf(sample).parse(sample), sample);
    });
  }

  for (const { definition } of OWN_KINDS) {
    it(`have no field of ${definition.kind} that its sample leaves out`, () => {
      const sample = SAMPLES.find(({ kind }) => kind === definition.kind);
      assert.ok(sample);
      const schemaOf = (make: () => z.ZodType) => structuralSchema(make(), () => ({}));
      const left = [
        ...leftOut(schemaOf(definition.spec), [sample.spec], "spec"),
        ...(definition.status ? leftOut(schemaOf(definition.status), [sample.status], "status") : []),
      ];
      // These exclude each other, so that no object has all of them.
      assert.deepEqual(
        left.filter((field) => !/endpoint\.(port|ports|nodePort)$/.test(field)),
        [],
      );
    });
  }

  for (const { what, object, message } of REFUSALS) {
    it(`refuse ${object.kind}: ${what}`, () => {
      assert.throws(
        () => kindOf(object).parse(object),
        (error) => {
          assert.ok(error instanceof InvalidObjectError);
          assert.match(error.message, message);
          assert.ok(error.message.startsWith(`${object.kind} "`), error.message);
          return true;
        },
      );
    });
  }

  const defaulted: [
    kind: string,
    spec: unknown,
    status: unknown,
    expected: Pick<Manifest, "spec" | "status">,
  ][] = [
    [
      "Tenant",
      { clusterID: "rome" },
      undefined,
      { spec: { clusterID: "rome", authzPolicy: "KeysExchange", tenantCondition: "Active" } },
    ],
    ["Tenant", undefined, undefined, { spec: { authzPolicy: "KeysExchange", tenantCondition: "Active" } }],
    [
      "ForeignCluster",
      { clusterID: "milan" },
      {},
      { spec: { clusterID: "milan" }, status: { role: "Unknown" } },
    ],
    [
      "NamespaceOffloading",
      {},
      undefined,
      { spec: { namespaceMappingStrategy: "DefaultName", podOffloadingStrategy: "LocalAndRemote" } },
    ],
    ["ShadowPod", {}, {}, { spec: {}, status: { phase: "Unknown" } }],
    [
      "Identity",
      {},
      { kubeconfigSecretRef: {} },
      { spec: {}, status: { kubeconfigSecretRef: { name: "" } } },
    ],
    [
      "GatewayServer",
      { endpoint: { port: 51840 } },
      undefined,
      { spec: { endpoint: { port: 51840, serviceType: "ClusterIP" } } },
    ],
    [
      "Configuration",
      { remote: { cidr: { pod: "10.201.0.0/16", external: ["10.71.0.0/16"] } } },
      undefined,
      { spec: { remote: { cidr: { pod: ["10.201.0.0/16"], external: ["10.71.0.0/16"] } } } },
    ],
    [
      "FirewallConfiguration",
      {
        table: {
          name: "t",
          family: "INET",
          chains: [
            {
              name: "c",
              type: "filter",
              policy: "accept",
              hook: "input",
              rules: { filterRules: [{ match: [], action: "drop" }] },
            },
          ],
        },
      },
      undefined,
      {
        spec: {
          table: {
            name: "t",
            family: "INET",
            chains: [
              {
                name: "c",
                type: "filter",
                policy: "accept",
                hook: "input",
                priority: 0,
                rules: { filterRules: [{ counter: true, match: [], action: "drop" }] },
              },
            ],
          },
        },
      },
    ],
  ];
  for (const [kind, spec, status, expected] of defaulted) {
    it(`fill the defaults of a ${kind} with ${JSON.stringify({ spec, status })}`, () => {
      const sample = SAMPLES.find((candidate) => candidate.kind === kind);
      assert.ok(sample);
      const { apiVersion, metadata } = sample;
      const parsed = kindOf(sample).parse({ apiVersion, kind, metadata, spec, status }) as Manifest;
      assert.deepEqual(
        { spec: parsed.spec, ...(status !== undefined && { status: parsed.status }) },
        expected,
      );
    });
  }

  it("count null as absent", () => {
    const object = {
      apiVersion: "networking.liqo.io/v1beta1",
      kind: "Connection",
      metadata: { name: "gw-milan", creationTimestamp: null },
      spec: { type: "Client", gatewayRef: { name: "milan", uid: null } },
      status: { latency: { value: "N/A", timestamp: null } },
    };
    const parsed = kindOf(object).parse(object) as Manifest;
    assert.deepEqual(parsed.status, { latency: { value: "N/A" } });
    assert.deepEqual(parsed.spec, { type: "Client", gatewayRef: { name: "milan" } });
  });
});

/** The fields of a schema that none of the values has. */
function leftOut(schema: StructuralSchema, values: unknown[], path: string): string[] {
  if (schema.items) return leftOut(schema.items, values.flat(), path);
  const objects = values.filter((value) => typeof value === "object" && value !== null);
  if (schema.additionalProperties) {
    return leftOut(
      schema.additionalProperties,
      objects.flatMap((map) => Object.values(map) as unknown[]),
      path,
    );
  }
  return Object.entries(schema.properties ?? {}).flatMap(([name, field]) => {
    const found = objects.flatMap((object): unknown[] =>
      name in object ? [object[name as keyof object]] : [],
    );
    return found.length === 0 ? [`${path}.${name}`] : leftOut(field, found, `${path}.${name}`);
  });
}

/** The vectors of control plane reference 21.1. */
describe("names that are made from cluster IDs", () => {
  it("of a tenant namespace", () => {
    assert.equal(tenantNamespaceName("cool-firefly"), "liqo-tenant-cool-firefly");
  });

  it("of a control plane's Identity and its Secret", () => {
    const identity = controlPlaneIdentityName("cl-provider");
    assert.equal(identity, "controlplane-cl-provider");
    assert.equal(kubeconfigSecretName(identity), "kubeconfig-controlplane-cl-provider");
  });
});
