import assert from "node:assert/strict";

import { Namespace } from "../../../runtime/api";
import { maySpeakOf } from "../../../runtime/plan/peer-objects";
import type { Verdict } from "../../../runtime/webhooks/admission-review";
import { validateConsumerService, validatePeerGateway } from "../../../runtime/webhooks/peer-traffic";
import { admissionRequest } from "./requests";

const peer = "liqo.io/remote-cluster-id";
const tenant = "liqo.io/tenant-namespace";
const said = (verdict: Verdict) => (verdict.allowed ? "allowed" : verdict.message);

describe("traffic of others", () => {
  it("is led to no gateway and by no key that a peering user labels for another cluster", () => {
    const judge = (labels: object, groups: string[]) => {
      const object = { kind: "GatewayServer", metadata: { name: "vpn", namespace: "guests", labels } };
      const request = admissionRequest({ namespace: "guests", name: "vpn", groups, object });
      return said(validatePeerGateway(request, { [tenant]: "true", [peer]: "rome" }));
    };
    assert.match(
      judge({ [peer]: "turin" }, ["liqo.io"]),
      /^GatewayServer "guests\/vpn": the label .* is "turin", and the namespace is that of cluster "rome"/,
    );
    for (const labels of [{ [peer]: "rome" }, {}]) assert.equal(judge(labels, ["liqo.io"]), "allowed");
    assert.equal(judge({ [peer]: "turin" }, ["admins"]), "allowed");
  });

  it("is not taken by the external addresses of a consumer's Service", () => {
    const judge = (spec: object, groups: string[], labels: Record<string, string> = { [peer]: "rome" }) => {
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

  it("is a matter of the own tenant namespace, and of namespaces that are no peer's", () => {
    const namespace = (labels: Record<string, string>): Namespace => ({
      apiVersion: Namespace.apiVersion,
      kind: Namespace.kind,
      metadata: { name: "guests", labels },
    });
    const rows: [ofNamespace: Namespace | undefined, expected: boolean][] = [
      [undefined, true],
      [namespace({}), true],
      [namespace({ [tenant]: "true", [peer]: "turin" }), true],
      [namespace({ [tenant]: "true", [peer]: "rome" }), false],
      [namespace({ [tenant]: "false", [peer]: "turin" }), false],
      // Made for a consumer, even of the cluster itself.
      [namespace({ [peer]: "rome" }), false],
      [namespace({ [peer]: "turin" }), false],
    ];
    assert.deepEqual(
      rows.map(([found]) => maySpeakOf(found, "turin")),
      rows.map(([, expected]) => expected),
    );
  });
});
