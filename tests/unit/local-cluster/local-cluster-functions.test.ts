import assert from "node:assert/strict";

import { localCluster } from "../../../provider/local-cluster/functions";

const unknown = "04da6b54-80e4-46f7-96ec-b56ff0331ba9";

describe("the LocalCluster resource", () => {
  it("fills defaults and names what is wrong with an input", () => {
    const { inputs, failures } = localCluster.check({}, { name: "rome", podCidr: "10.64.0.0/16" });
    assert.deepEqual(failures, []);
    assert.equal(inputs["nodes"], 1);
    assert.equal(inputs["backend"], "auto");
    const wrong = localCluster.check({}, { name: "rome", nodes: 7, serviceCidr: "10.0.0.0", size: 1 });
    assert.deepEqual(wrong.failures.map(({ property }) => property).sort(), ["nodes", "serviceCidr", "size"]);
    assert.match(
      localCluster.check({}, { name: "rome", podCidr: "10.96.0.0/16" }).failures[0]?.reason ?? "",
      /10\.96\.0\.0\/16 overlaps the pod range/,
    );
  });

  it("leaves an input that is not known yet for later", () => {
    assert.deepEqual(localCluster.check({}, { name: "rome", podCidr: unknown }).failures, []);
  });

  it("makes another cluster only for what a running one cannot change", () => {
    const { inputs } = localCluster.check({}, { name: "rome", images: ["a.tar"] });
    const diff = (change: object) => localCluster.diff("rome", inputs, { ...inputs, ...change });
    assert.deepEqual(diff({}), { changes: false, replaces: [], deleteBeforeReplace: false });
    assert.deepEqual(diff({ images: ["b.tar"] }), {
      changes: true,
      replaces: [],
      deleteBeforeReplace: false,
    });
    assert.deepEqual(diff({ serviceCidr: "10.97.0.0/16", nodes: 2 }), {
      changes: true,
      replaces: ["nodes", "serviceCidr"],
      deleteBeforeReplace: true,
    });
  });

  it("keeps its kubeconfig secret", () => assert.deepEqual(localCluster.definition.secrets, ["kubeconfig"]));
});
