import assert from "node:assert/strict";
import { labelValue, objectName } from "../../../runtime/networking/labels";

describe("names of generated objects", () => {
  it("are cut where Kubernetes would not take them, and stay apart", () => {
    const long = "a".repeat(240);
    assert.equal(objectName("n1-gw-node"), "n1-gw-node");
    assert.equal(objectName(`${long}-service-nodeport-routing`).length, 253);
    assert.notEqual(
      objectName(`${long}-service-nodeport-routing`),
      objectName(`${long}-service-nodeport-routint`),
    );
    const label = labelValue(`${"b".repeat(51)}.${"c".repeat(30)}`);
    assert.match(label, /^b{51}-[0-9a-f]{10}$/);
    assert.equal(labelValue("b".repeat(63)), "b".repeat(63));
  });
});
