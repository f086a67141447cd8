import assert from "node:assert/strict";

import type { Configuration, Network } from "../../../runtime/api";
import { parseCidr } from "../../../runtime/ipam/cidr";
import { decideConfiguration } from "../../../runtime/networking/configuration/configuration-decision";
import { network } from "../ipam/objects";
import { configuration } from "./objects";

const installed = [
  network({ name: "pod-cidr", type: "pod-cidr", cidr: "10.42.0.0/16", given: "10.42.0.0/16" }),
  network({ name: "pod-cidr-2", type: "pod-cidr", cidr: "10.44.0.0/20", given: "10.44.0.0/20" }),
  network({ name: "external-cidr", type: "external-cidr", cidr: "10.70.0.0/16", given: "10.60.0.0/16" }),
];
const milan = configuration();

/** A Network that a Configuration has made. */
const made = (
  type: string,
  cidr: string,
  given?: string,
  over: Partial<Network["metadata"]> = {},
  owner = milan,
): Network => {
  const name = `milan-${type}-${cidr.replace(/[./]/g, "-")}`;
  const object = network({
    name,
    cidr,
    namespace: "liqo-tenant-milan",
    ...(given !== undefined && { given }),
  });
  return {
    ...object,
    metadata: {
      ...object.metadata,
      labels: { "liqo.io/remote-cluster-id": "milan", "configuration.liqo.io/cidr-type": type },
      ownerReferences: [
        {
          apiVersion: owner.apiVersion,
          kind: "Configuration",
          name: "milan",
          uid: owner.metadata.uid ?? "",
          controller: true,
        },
      ],
      ...over,
    },
  };
};
const answered = [
  made("pod", "10.243.0.0/16", "10.71.0.0/16"),
  made("external", "10.70.0.0/16", "10.68.0.0/16"),
];
const names = (objects: { metadata: { name: string } }[]) => objects.map(({ metadata }) => metadata.name);
const withRemote = (remote: NonNullable<Configuration["spec"]["remote"]>): Configuration => ({
  ...milan,
  spec: { ...milan.spec, remote },
});

describe("what a Configuration leads to", () => {
  it("is a Network for each of the peer's, and an answer when all have their ranges", () => {
    const waiting = decideConfiguration(milan, installed, []);
    assert.deepEqual(names(waiting.networks), ["milan-pod-10-243-0-0-16", "milan-external-10-70-0-0-16"]);
    assert.deepEqual(waiting.networks[0], {
      apiVersion: "ipam.liqo.io/v1alpha1",
      kind: "Network",
      metadata: {
        name: "milan-pod-10-243-0-0-16",
        namespace: "liqo-tenant-milan",
        labels: { "liqo.io/remote-cluster-id": "milan", "configuration.liqo.io/cidr-type": "pod" },
        ownerReferences: [
          {
            apiVersion: "networking.liqo.io/v1beta1",
            kind: "Configuration",
            name: "milan",
            uid: "uid of milan",
            controller: true,
            blockOwnerDeletion: true,
          },
        ],
      },
      spec: { cidr: "10.243.0.0/16" },
    });
    assert.deepEqual(waiting.remote, { pod: [""], external: [""] });
    assert.deepEqual(waiting.condition, {
      type: "NetworkCIDRsConfigured",
      status: "False",
      reason: "WaitingForNetworks",
      message:
        "Network milan-pod-10-243-0-0-16 has no range yet; Network milan-external-10-70-0-0-16 has no range yet",
      observedGeneration: 3,
    });

    const done = decideConfiguration(milan, [...installed, ...answered], []);
    assert.deepEqual(done.remote, { pod: ["10.71.0.0/16"], external: ["10.68.0.0/16"] });
    assert.deepEqual([done.condition.status, done.condition.reason], ["True", "NetworkCIDRsConfigured"]);
    assert.deepEqual(done.obsolete, []);
  });

  it("keeps the order of the spec, whatever is asked for twice", () => {
    const several = configuration({ pod: [["10.5.0.0/16"], ["10.243.0.0/16"], ["10.5.7.0/16"]] });
    const decision = decideConfiguration(
      several,
      [...answered, made("pod", "10.5.0.0/16", "10.5.0.0/16")],
      [],
    );
    assert.deepEqual(decision.remote.pod, ["10.5.0.0/16", "10.71.0.0/16", "10.5.0.0/16"]);
    assert.deepEqual(names(decision.networks), [
      "milan-pod-10-5-0-0-16",
      "milan-pod-10-243-0-0-16",
      "milan-external-10-70-0-0-16",
    ]);
    assert.equal(decision.condition.status, "True");
  });

  it("removes what is not asked for before it asks for more, and has no answer meanwhile", () => {
    const changed = configuration({ pod: [["10.9.0.0/16"]] });
    const stays = made("external", "10.70.0.0/16", "10.68.0.0/16");
    const leaves = made("pod", "10.243.0.0/16", "10.71.0.0/16");
    for (const deletionTimestamp of [undefined, "2026-05-04T12:00:00Z"]) {
      const leaving = {
        ...leaves,
        metadata: { ...leaves.metadata, ...(deletionTimestamp && { deletionTimestamp }) },
      };
      const decision = decideConfiguration(changed, [leaving, stays], []);
      assert.deepEqual(names(decision.obsolete), ["milan-pod-10-243-0-0-16"]);
      assert.deepEqual(names(decision.networks), ["milan-external-10-70-0-0-16"]);
      assert.deepEqual(decision.remote, { pod: [""], external: ["10.68.0.0/16"] });
      assert.equal(decision.condition.status, "False");
      assert.equal(
        decision.condition.message,
        "Network liqo-tenant-milan/milan-pod-10-243-0-0-16 must go first",
      );
    }
  });

  it("does not touch the Networks of others", () => {
    const other = configuration({ name: "turin" });
    const foreign = made("pod", "10.3.0.0/16", "10.3.0.0/16", {}, other);
    assert.deepEqual(decideConfiguration(milan, [...answered, foreign], []).obsolete, []);
  });

  it("says this cluster's networks where the spec does not", () => {
    const unsaid: Configuration = { ...milan, spec: { remote: milan.spec.remote } };
    assert.deepEqual(decideConfiguration(unsaid, [...installed, ...answered], []).local, {
      pod: ["10.42.0.0/16", "10.44.0.0/20"],
      external: ["10.60.0.0/16"],
    });
    const [first, second, external] = installed;
    assert.ok(first && second && external);
    for (const networks of [[first, second], [external], [first, { ...second, status: {} }, external]]) {
      const decision = decideConfiguration(unsaid, [...networks, ...answered], []);
      assert.equal(decision.local, undefined);
      assert.equal(decision.condition.message, "this cluster's own networks have no ranges yet");
    }
    assert.equal(decideConfiguration(milan, [...installed, ...answered], []).local, undefined);
  });

  const refused: [string, Configuration, string][] = [
    [
      "no external network",
      withRemote({ cidr: { pod: ["10.243.0.0/16"] } }),
      "spec.remote.cidr.external is empty; give the peer's networks",
    ],
    [
      "link-local pods",
      withRemote({ cidr: { pod: ["169.254.0.0/16"], external: ["10.70.0.0/16"] } }),
      "spec.remote.cidr.pod: 169.254.0.0/16 overlaps 169.254.0.0/16 (link-local addresses, among them those of the tunnels); pods there cannot be reached",
    ],
    [
      "IPv6",
      withRemote({ cidr: { pod: ["fd00::/48"], external: ["10.70.0.0/16"] } }),
      'spec.remote.cidr.pod: "fd00::/48" is an IPv6 network; the networks between clusters carry IPv4 only',
    ],
  ];
  for (const [what, object, message] of refused) {
    it(`is no answer to ${what}`, () => {
      const decision = decideConfiguration(object, answered, []);
      assert.equal(decision.condition.status, "False");
      assert.equal(decision.condition.message, message);
      assert.equal(
        decision.networks.some(({ spec }) => !spec.cidr.startsWith("10.")),
        false,
      );
    });
  }

  it("is no answer where another Configuration for the peer was there first", () => {
    const elder = configuration({ namespace: "liqo-tenant-old" });
    assert.equal(
      decideConfiguration(milan, answered, [elder]).condition.message,
      "Configuration liqo-tenant-old/milan is for milan already; delete one of the two",
    );
  });

  describe("where this cluster's own addresses are in a place of the peer's", () => {
    const own = [{ cidr: parseCidr("10.71.200.7/32"), what: "the InternalIP of Node rome-3" }];
    const decision = decideConfiguration(milan, answered, [], own);

    it("is a conflict that is named, with the way out", () => {
      const { status, reason, message } = decision.condition;
      assert.deepEqual([status, reason], ["False", "RangeConflict"]);
      assert.equal(
        message,
        "10.71.0.0/16 holds 10.71.200.7, the InternalIP of Node rome-3, so nothing is sent there; " +
          "delete Network liqo-tenant-milan/milan-pod-10-243-0-0-16, which comes back with another range",
      );
    });

    it("is no place there, and the others stay", () => {
      assert.deepEqual(decision.remote, { pod: [""], external: ["10.68.0.0/16"] });
      assert.deepEqual(names(decision.networks), ["milan-pod-10-243-0-0-16", "milan-external-10-70-0-0-16"]);
    });

    it("is nothing of what the peer calls its networks at home", () => {
      const asked = [{ cidr: parseCidr("10.243.0.9/32"), what: "the InternalIP of Node rome-3" }];
      assert.equal(decideConfiguration(milan, answered, [], asked).condition.status, "True");
    });
  });
});
