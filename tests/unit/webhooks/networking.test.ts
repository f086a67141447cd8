import assert from "node:assert/strict";
import { Namespace } from "../../../runtime/api";
import { parseCidr } from "../../../runtime/ipam/cidr";
import { maySpeakOf } from "../../../runtime/plan/peer-objects";
import type { Verdict } from "../../../runtime/webhooks/admission-review";
import {
  validateConfiguration,
  validatePeerGateway,
  validatePeerIP,
} from "../../../runtime/webhooks/networking";
import { admissionRequest } from "./requests";

const peer = { username: "liqo-peer-user-rome-1", groups: ["liqo.io", "system:authenticated"] };
const guests = { "liqo.io/tenant-namespace": "true", "liqo.io/remote-cluster-id": "rome" };

type Request = Parameters<typeof admissionRequest>[0];
const verdictOf = ({ allowed, ...rest }: { allowed: boolean; message?: string }) =>
  allowed ? "allowed" : (rest.message ?? "");

describe("a Configuration", () => {
  const configuration = (cidr: object, over: { label?: string; local?: object } = {}) => ({
    apiVersion: "networking.liqo.io/v1beta1",
    kind: "Configuration",
    metadata: { name: "rome", labels: { "liqo.io/remote-cluster-id": over.label ?? "rome" } },
    spec: { remote: { cidr }, ...(over.local !== undefined && { local: { cidr: over.local } }) },
  });
  const good = { pod: ["10.244.0.0/16"], external: ["10.70.0.0/16"] };
  const local = { pod: ["0.0.0.0/0"], external: ["172.18.0.2/32"] };
  const judge = (request: Request) =>
    verdictOf(validateConfiguration(admissionRequest({ namespace: "guests", ...request }), guests));

  it("may have networks that are taken here, which get another place", () => {
    for (const who of [{}, peer]) assert.equal(judge({ ...who, object: configuration(good) }), "allowed");
    const nodes = configuration({ pod: ["172.18.0.0/16"], external: ["192.168.0.0/16"] });
    assert.equal(judge({ ...peer, object: nodes }), "allowed");
  });

  const unusable: [cidr: string, why: RegExp][] = [
    ["0.0.0.0/0", /overlaps 0\.0\.0\.0\/8 \(unspecified addresses\)/],
    ["127.0.0.0/8", /loopback/],
    ["169.254.0.0/16", /link-local/],
    ["169.254.169.254/32", /link-local/],
    ["160.0.0.0/4", /link-local/],
    ["224.0.0.0/24", /multicast/],
    ["240.0.0.0/4", /reserved/],
    ["fd00::/64", /is an IPv6 network/],
  ];
  for (const [cidr, why] of unusable) {
    it(`may not have ${cidr}, whoever writes it`, () => {
      for (const who of [{}, peer])
        for (const [type, cidrs] of [
          ["pod", { ...good, pod: ["10.244.0.0/16", cidr] }],
          ["external", { ...good, external: [cidr] }],
        ] as const) {
          const answer = judge({ ...who, object: configuration(cidrs) });
          assert.match(answer, new RegExp(`^Configuration "guests/rome": spec\\.remote\\.cidr\\.${type}: `));
          assert.match(answer, why);
          assert.match(answer, /; give the networks that the peer's pods and IPs have$/);
        }
    });
  }

  it("of a peer is for that peer", () => {
    const foreign = configuration(good, { label: "turin" });
    assert.match(
      judge({ ...peer, object: foreign }),
      /the label liqo\.io\/remote-cluster-id is "turin", and namespace "guests" is that of cluster "rome"; write that one/,
    );
    assert.equal(judge({ object: foreign }), "allowed");
  });

  it("of a peer says nothing of this cluster's networks, and keeps what its controllers said", () => {
    const claimed = configuration(good, { local });
    assert.match(judge({ ...peer, object: claimed }), /spec\.local: .*leave it as it is, or out/);
    assert.equal(judge({ object: claimed }), "allowed");
    const update = { operation: "UPDATE" as const, ...peer };
    const own = configuration(good, { local: { pod: ["10.72.0.0/16"], external: ["10.71.0.0/16"] } });
    const more = configuration(
      { ...good, pod: [...good.pod, "10.9.0.0/16"] },
      { local: own.spec.local?.cidr },
    );
    assert.equal(judge({ ...update, oldObject: own, object: more }), "allowed");
    assert.equal(judge({ ...update, oldObject: own, object: configuration(good) }), "allowed");
    assert.match(judge({ ...update, oldObject: own, object: claimed }), /spec\.local/);
  });

  it("that was let in once can be repaired step by step", () => {
    const bad = configuration({ pod: ["0.0.0.0/0"], external: ["127.0.0.0/8"] });
    const better = configuration({ pod: ["10.244.0.0/16"], external: ["127.0.0.0/8"] });
    assert.equal(judge({ operation: "UPDATE", oldObject: bad, object: better }), "allowed");
  });
});

describe("an IP", () => {
  const ip = (address: string) => ({
    apiVersion: "ipam.liqo.io/v1alpha1",
    kind: "IP",
    metadata: { name: "api" },
    spec: { ip: address },
  });
  const judge = async (request: Request) =>
    verdictOf(
      await validatePeerIP(admissionRequest({ namespace: "guests", ...request }), () =>
        Promise.resolve({
          peer: "rome",
          own: [{ cidr: parseCidr("172.18.0.2/32"), what: "the InternalIP of Node rome-1" }],
          networks: [],
          configurations: [],
        }),
      ),
    );

  it("of a peering user leads to no node", async () => {
    assert.match(
      await judge({ ...peer, object: ip("172.18.0.2") }),
      /^IP "guests\/api": spec\.ip: 172\.18\.0\.2 is the InternalIP of Node rome-1; give another address/,
    );
    assert.equal(await judge({ ...peer, object: ip("172.18.0.3") }), "allowed");
  });

  it("of this cluster's administrators leads where they want", async () =>
    assert.equal(await judge({ object: ip("172.18.0.2") }), "allowed"));
});

const cluster = "liqo.io/remote-cluster-id";
const tenant = "liqo.io/tenant-namespace";
const said = (verdict: Verdict) => (verdict.allowed ? "allowed" : verdict.message);

describe("traffic of others", () => {
  it("is led to no gateway and by no key that a peering user labels for another cluster", () => {
    const judge = (labels: object, groups: string[]) => {
      const object = { kind: "GatewayServer", metadata: { name: "vpn", namespace: "guests", labels } };
      const request = admissionRequest({ namespace: "guests", name: "vpn", groups, object });
      return said(validatePeerGateway(request, { [tenant]: "true", [cluster]: "rome" }));
    };
    assert.match(
      judge({ [cluster]: "turin" }, ["liqo.io"]),
      /^GatewayServer "guests\/vpn": the label .* is "turin", and the namespace is that of cluster "rome"/,
    );
    for (const labels of [{ [cluster]: "rome" }, {}]) assert.equal(judge(labels, ["liqo.io"]), "allowed");
    assert.equal(judge({ [cluster]: "turin" }, ["admins"]), "allowed");
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
      [namespace({ [tenant]: "true", [cluster]: "turin" }), true],
      [namespace({ [tenant]: "true", [cluster]: "rome" }), false],
      [namespace({ [tenant]: "false", [cluster]: "turin" }), false],
      // Made for a consumer, even of the cluster itself.
      [namespace({ [cluster]: "rome" }), false],
      [namespace({ [cluster]: "turin" }), false],
    ];
    assert.deepEqual(
      rows.map(([found]) => maySpeakOf(found, "turin")),
      rows.map(([, expected]) => expected),
    );
  });
});
