import assert from "node:assert/strict";

import fc from "fast-check";
import type { NodeSelectorRequirement } from "kubernetes-types/core/v1";

import * as api from "../../../runtime/api";
import { type Identity, InvalidObjectError, ResourceSlice, type Tenant } from "../../../runtime/api";
import { addAmounts, formatQuantity, isQuantity, parseQuantity } from "../../../runtime/api/quantity";
import { verifyHandshake } from "../../../runtime/authentication/handshake";
import { kubeconfigSecret } from "../../../runtime/authentication/identity-controller";
import { invalidNodeSelector, matchesAnyTerm } from "../../../runtime/offloading/node-selector";
import { creatorUserLabel } from "../../../runtime/plan/peer-objects";
import { MalformedReview, parseReview } from "../../../runtime/webhooks/admission-review";
import { podDemand, UnreadableDemand } from "../../../runtime/webhooks/quota-check";
import { validateTenant } from "../../../runtime/webhooks/tenant";
import { validateIdentity } from "../../../runtime/webhooks/identity";
import { validateQuota } from "../../../runtime/webhooks/quota";
import { validateResourceSlice } from "../../../runtime/webhooks/resource-slice";
import { anyText, runs, timed } from "./mutation";

/** Kubernetes' own grammar of quantities (apimachinery), in the words of its documentation. */
const GRAMMAR = /^[+-]?(\d+|\d+\.\d+|\d+\.|\.\d+)(([KMGTPE]i)|[numkMGTPE]|[eE][+-]?\d+)?$/;
const quantityParts = fc.constantFrom(
  "0",
  "1",
  "7",
  "12",
  ".",
  "-",
  "+",
  "e",
  "E",
  "3",
  "m",
  "k",
  "K",
  "Ki",
  "M",
  "Mi",
  "Gi",
  "n",
  "u",
  "i",
  " ",
  "１",
  "_",
  "x",
  "∞",
);
const quantityText = fc.oneof(
  fc.array(quantityParts, { maxLength: 6 }).map((parts) => parts.join("")),
  anyText,
);

describe("quantities, given anything", () => {
  it("are what Kubernetes takes for quantities, and nothing else", () => {
    fc.assert(
      fc.property(quantityText, (text) => {
        // Longer ones, and exponents of ten digits, are nobody's quantities.
        const expected = text.length <= 128 && GRAMMAR.test(text) && !/[eE][+-]?\d{10}/.test(text);
        assert.equal(isQuantity(text), expected, JSON.stringify(text));
        if (expected) assert.equal(typeof parseQuantity(text), "bigint");
        else assert.throws(() => parseQuantity(text), /is not a quantity/);
      }),
      runs(2_000),
    );
  });

  it("are written as they are read", () => {
    fc.assert(
      fc.property(fc.bigInt({ min: -(10n ** 24n), max: 10n ** 24n }), fc.boolean(), (amount, binary) => {
        const text = formatQuantity(amount, binary ? "binary" : "decimal");
        assert.equal(parseQuantity(text), amount);
        const sum = new Map([["cpu", amount]]);
        addAmounts(sum, new Map([["cpu", -amount]]));
        assert.equal(sum.get("cpu"), 0n);
      }),
      runs(300),
    );
  });

  it("cost no time, however great", () => {
    for (const text of ["1e999999999", "1e-999999999", `${"9".repeat(120)}Ei`, `0.${"0".repeat(110)}1n`])
      assert.ok(timed(() => parseQuantity(text)) < 100, text);
  });
});

describe("labels and selectors, given anything", () => {
  const operator = fc.constantFrom("In", "NotIn", "Exists", "DoesNotExist", "Gt", "Lt", "in", "");
  const requirement: fc.Arbitrary<NodeSelectorRequirement> = fc.record({
    key: fc.oneof(
      fc.constantFrom("zone", "liqo.io/provider", "a/b/c", "", "-x", "__proto__", "constructor"),
      anyText,
    ),
    operator,
    values: fc.array(fc.oneof(fc.constantFrom("kind", "1", "-7", "", "1.5", "a b"), anyText), {
      maxLength: 3,
    }),
  });

  it("are judged in one sentence, and satisfied only by what is there", () => {
    fc.assert(
      fc.property(fc.array(requirement, { maxLength: 3 }), fc.dictionary(anyText, anyText), (all, labels) => {
        const fault = invalidNodeSelector({ nodeSelectorTerms: [{ matchExpressions: all }] });
        if (fault !== undefined) assert.match(fault, /^nodeSelectorTerms\[0\]\.matchExpressions\[\d+\]\./);
        const matched = matchesAnyTerm([{ matchExpressions: all }], { name: "milan", labels });
        if (matched) {
          assert.ok(all.length > 0);
          for (const { key, operator: how } of all)
            if (how === "In" || how === "Exists") assert.ok(Object.hasOwn(labels, key), key);
        }
      }),
      runs(500),
    );
  });

  it("a user's name becomes a label's value, or the hash of it", () => {
    fc.assert(
      fc.property(anyText, (name) => {
        const label = creatorUserLabel(name) ?? "";
        assert.equal(label === "", name === "");
        assert.match(label, /^([A-Za-z0-9]([-A-Za-z0-9_.]{0,61}[A-Za-z0-9])?)?$/, JSON.stringify(name));
      }),
      runs(300),
    );
  });
});

describe("objects of peers, given anything", function () {
  this.timeout(180_000);
  const kinds = Object.values(api as Record<string, unknown>).flatMap((member) =>
    isKind(member) ? [member] : [],
  );
  const bytes = fc.oneof(fc.base64String({ maxLength: 200 }), anyText);
  const authParams = fc.record(
    { ca: bytes, signedCRT: bytes, apiServer: anyText, proxyURL: anyText },
    { requiredKeys: [] },
  );

  it("every kind refuses what is none of it, naming the field", () => {
    fc.assert(
      fc.property(fc.constantFrom(...kinds), fc.jsonValue({ maxDepth: 4 }), (kind, spec) => {
        const value = {
          apiVersion: kind.apiVersion,
          kind: kind.kind,
          metadata: { name: "x", ...(kind.namespaced ? { namespace: "to-milan" } : {}) },
          spec,
        };
        try {
          kind.parse(value);
        } catch (error) {
          assert.ok(error instanceof InvalidObjectError, String(error));
        }
      }),
      runs(500),
    );
  });

  it("a Tenant's proof is verified, awaited or refused", () => {
    fc.assert(
      fc.property(bytes, bytes, bytes, bytes, (publicKey, csr, signature, nonce) => {
        const tenant: Tenant = {
          apiVersion: "authentication.liqo.io/v1beta1",
          kind: "Tenant",
          metadata: { name: "rome", namespace: "guests-from-rome" },
          spec: {
            clusterID: "rome",
            authzPolicy: "KeysExchange",
            tenantCondition: "Active",
            publicKey,
            csr,
            signature,
          },
        };
        const secret = {
          apiVersion: "v1" as const,
          kind: "Secret" as const,
          metadata: { name: "liqo-nonce", namespace: "guests-from-rome" },
          data: { nonce },
        };
        const { outcome } = verifyHandshake(tenant, [secret]);
        assert.ok(outcome === "refused" || outcome === "waiting", outcome);
      }),
      runs(300),
    );
  });

  it("an Identity becomes a Secret, or the name of the field that is missing", () => {
    fc.assert(
      fc.property(authParams, fc.option(anyText, { nil: undefined }), (given, namespace) => {
        const identity: Identity = {
          apiVersion: "authentication.liqo.io/v1beta1",
          kind: "Identity",
          metadata: { name: "controlplane-milan", namespace: "to-milan", uid: "7" },
          spec: {
            clusterID: "milan",
            type: "ControlPlane",
            authParams: given,
            ...(namespace === undefined ? {} : { namespace }),
          },
        };
        try {
          const { data } = kubeconfigSecret(identity, "KEY");
          assert.ok(data?.["kubeconfig"]);
        } catch (error) {
          assert.match(String(error), /spec\.[A-Za-z.]+ is missing; /);
        }
      }),
      runs(300),
    );
  });

  it("admission answers every review, or says that it is none", () => {
    const review = (request: unknown) =>
      JSON.stringify({ apiVersion: "admission.k8s.io/v1", kind: "AdmissionReview", request });
    const object = fc.record(
      { metadata: fc.jsonValue({ maxDepth: 2 }), spec: fc.jsonValue({ maxDepth: 3 }) },
      { requiredKeys: [] },
    );
    fc.assert(
      fc.property(
        fc.oneof(
          anyText,
          fc.json(),
          fc
            .record(
              {
                uid: fc.constant("7"),
                operation: fc.constantFrom("CREATE", "UPDATE", "DELETE", "create", ""),
                name: fc.string(),
                namespace: fc.string(),
                userInfo: fc.jsonValue({ maxDepth: 2 }),
                object,
                oldObject: object,
              },
              { requiredKeys: ["uid"] },
            )
            .map(review),
        ),
        (body) => {
          let request;
          try {
            ({ request } = parseReview(body));
          } catch (error) {
            assert.ok(error instanceof MalformedReview, String(error));
            return;
          }
          for (const verdict of [
            () =>
              validateResourceSlice(request, { ownClusterID: "rome", namespaceLabels: {}, localSlices: [] }),
            () => validateIdentity(request, { ownClusterID: "rome", namespaceLabels: {} }),
            () => validateQuota(request, {}),
            () => validateTenant(request, { namespaceLabels: {}, tenants: [] }),
          ]) {
            try {
              assert.equal(typeof verdict().allowed, "boolean");
            } catch (error) {
              // The server makes a 400 of it.
              assert.ok(error instanceof InvalidObjectError, String(error));
            }
          }
        },
      ),
      runs(600),
    );
  });

  it("the demand of a pod is counted, or cannot be read", () => {
    const list = fc.dictionary(
      fc.constantFrom("cpu", "memory", "pods", "x"),
      fc.oneof(quantityText, fc.double(), fc.constant(null)),
    );
    const container = fc.record(
      { name: fc.string(), resources: fc.record({ requests: list, limits: list }, { requiredKeys: [] }) },
      { requiredKeys: [] },
    );
    fc.assert(
      fc.property(
        fc.jsonValue({ maxDepth: 2 }),
        fc.array(container, { maxLength: 3 }),
        (spec, containers) => {
          for (const pod of [{ containers }, { initContainers: containers, containers, overhead: spec }]) {
            try {
              const { total } = podDemand(pod);
              for (const amount of total.values()) assert.equal(typeof amount, "bigint");
            } catch (error) {
              assert.ok(error instanceof UnreadableDemand, String(error));
            }
          }
        },
      ),
      runs(500),
    );
  });

  it("a slice of a peer is its kind's, or refused", () => {
    fc.assert(
      fc.property(fc.dictionary(fc.string(), fc.jsonValue({ maxDepth: 2 })), (spec) => {
        try {
          ResourceSlice.parse({
            apiVersion: "authentication.liqo.io/v1beta1",
            kind: "ResourceSlice",
            metadata: { name: "pool", namespace: "to-milan" },
            spec: { resources: spec },
          });
          // Null means absent, as the API server has it.
          for (const amount of Object.values(spec))
            assert.ok(amount === null || isQuantity(amount), JSON.stringify(amount));
        } catch (error) {
          assert.ok(error instanceof InvalidObjectError, String(error));
        }
      }),
      runs(300),
    );
  });
});

function isKind(value: unknown): value is api.Kind<api.KubeObject> {
  return typeof value === "object" && value !== null && "definition" in value && "parse" in value;
}
