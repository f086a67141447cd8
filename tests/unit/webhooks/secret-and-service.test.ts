import assert from "node:assert/strict";
import type { Verdict } from "../../../runtime/webhooks/admission-review";
import {
  validateConsumerSecret,
  validateConsumerService,
  validatePeerSecret,
} from "../../../runtime/webhooks/secret-and-service";
import { admissionRequest } from "./requests";

const cluster = "liqo.io/remote-cluster-id";
const said = (verdict: Verdict) => (verdict.allowed ? "allowed" : verdict.message);

describe("a Secret that a peering user makes", () => {
  const secret = (labels: object, type?: string) => ({
    kind: "Secret",
    metadata: { name: "own", labels, annotations: { "kubernetes.io/service-account.name": "gw" } },
    type,
  });
  const peeringUser = { username: "liqo-peer-user-rome-0a1b", groups: ["liqo.io"] };
  const rows: [labels: object, refusal: RegExp | undefined, type?: string][] = [
    [{}, undefined],
    [{}, undefined, "Opaque"],
    [
      {},
      /^Secret "guests\/own": the type kubernetes\.io\/service-account-token makes it a token of service account "gw", by which its reader would be that account; user "liqo-peer-user-rome-0a1b"/,
      "kubernetes.io/service-account-token",
    ],
    [{ "liqo.io/nonce": "true", [cluster]: "rome" }, undefined],
    [
      { "liqo.io/identity-type": "ControlPlane", [cluster]: "rome" },
      /^Secret "guests\/own": the label liqo\.io\/identity-type makes it an identity/,
    ],
    [
      { "liqo.io/signed-nonce": "true" },
      /the label liqo\.io\/signed-nonce makes it a challenge of a provider, which this cluster would sign/,
    ],
  ];
  for (const [labels, refusal, type] of rows) {
    it(`${refusal === undefined ? "passes" : "is refused"} with ${JSON.stringify(labels)} and the type ${type}`, () => {
      const request = admissionRequest({ namespace: "guests", object: secret(labels, type), ...peeringUser });
      const verdict = validatePeerSecret(request);
      assert.deepEqual(validatePeerSecret({ ...request, groups: ["system:masters"] }), { allowed: true });
      if (refusal === undefined) return assert.deepEqual(verdict, { allowed: true });
      assert.equal(verdict.allowed, false);
      assert.match(verdict.message, refusal);
    });
  }
});

describe("a Secret that a consumer's virtual kubelet makes", () => {
  const secret = (type?: string) => ({
    kind: "Secret",
    metadata: { name: "own", annotations: { "kubernetes.io/service-account.name": "deployer" } },
    type,
  });
  const token = "kubernetes.io/service-account-token";
  const rows: [
    what: string,
    type: string | undefined,
    groups: string[],
    consumer: string | undefined,
    refused: boolean,
  ][] = [
    ["a token in its namespace", token, ["rome", "system:authenticated"], "rome", true],
    ["anything else there", "Opaque", ["rome"], "rome", false],
    ["no type there", undefined, ["rome"], "rome", false],
    ["a token by somebody else", token, ["developers"], "rome", false],
    ["a token by another consumer, who has no rights there", token, ["turin"], "rome", false],
    ["a token in a namespace of nobody's", token, ["rome"], undefined, false],
  ];
  for (const [what, type, groups, consumer, refused] of rows) {
    it(`${refused ? "is refused" : "passes"}: ${what}`, () => {
      const request = admissionRequest({
        namespace: "shop-rome",
        object: secret(type),
        username: "pool-a8a4c692b93b",
        groups,
      });
      const verdict = validateConsumerSecret(request, consumer === undefined ? {} : { [cluster]: consumer });
      if (!refused) return assert.deepEqual(verdict, { allowed: true });
      assert.equal(verdict.allowed, false);
      assert.match(
        verdict.message,
        /^Secret "shop-rome\/own": the type .* makes it a token of service account "deployer".*ask this cluster's administrator$/,
      );
    });
  }
});

describe("traffic of others", () => {
  it("is not taken by the external addresses of a consumer's Service", () => {
    const judge = (
      spec: object,
      groups: string[],
      labels: Record<string, string> = { [cluster]: "rome" },
    ) => {
      const object = { kind: "Service", metadata: { name: "trap", namespace: "shop-rome" }, spec };
      const request = admissionRequest({ namespace: "shop-rome", name: "trap", groups, object });
      return said(validateConsumerService(request, labels));
    };
    const externalIPs = ["10.98.0.1"];
    assert.match(
      judge({ externalIPs }, ["rome"]),
      /"shop-rome\/trap": spec\.externalIPs is \["10\.98\.0\.1"\]/,
    );
    for (const spec of [{}, { externalIPs: [] }, { type: "LoadBalancer" }])
      assert.equal(judge(spec, ["rome"]), "allowed");
    assert.equal(judge({ externalIPs }, ["admins"]), "allowed");
    assert.equal(judge({ externalIPs }, ["rome"], {}), "allowed");
  });
});
