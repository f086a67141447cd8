import assert from "node:assert/strict";

import { RefusedMappings } from "../../../runtime/offloading/refused-mappings";

describe("refused mappings", () => {
  const MAP = "guests-from-rome/rome";
  const taken = { local: "shop", remote: "shop-rome", message: "shop-rome is of somebody else" };
  const other = { ...taken, message: "shop-rome was made for cellar" };
  const waiting = { shop: { remoteNamespace: "shop-rome", phase: "CreationLoopBackOff" } };

  it("are told when they begin, and not again", () => {
    const refused = new RefusedMappings();
    assert.deepEqual(refused.fresh(MAP, [taken], {}), [taken]);
    assert.deepEqual(refused.fresh(MAP, [taken], waiting), []);
    assert.deepEqual(refused.fresh(MAP, [taken], waiting), []);
  });

  it("are told again for another cause, and when they begin anew", () => {
    const refused = new RefusedMappings();
    refused.fresh(MAP, [taken], {});
    assert.deepEqual(refused.fresh(MAP, [other], waiting), [other]);
    assert.deepEqual(refused.fresh(MAP, [], waiting), []);
    assert.deepEqual(refused.fresh(MAP, [taken], {}), [taken]);
  });

  it("are told after a failure of another kind", () => {
    const refused = new RefusedMappings();
    refused.fresh(MAP, [], {});
    assert.deepEqual(refused.fresh(MAP, [taken], waiting), [taken]);
  });

  it("are not told by a process that finds them in the status, unless the name is another", () => {
    assert.deepEqual(new RefusedMappings().fresh(MAP, [taken], waiting), []);
    const renamed = { ...taken, remote: "boutique" };
    assert.deepEqual(new RefusedMappings().fresh(MAP, [renamed], waiting), [renamed]);
    const accepted = { shop: { remoteNamespace: "shop-rome", phase: "Accepted" } };
    assert.deepEqual(new RefusedMappings().fresh(MAP, [taken], accepted), [taken]);
  });

  it("of one map are not those of another, and are forgotten with it", () => {
    const refused = new RefusedMappings();
    refused.fresh(MAP, [taken], {});
    assert.deepEqual(refused.fresh("guests-from-turin/turin", [taken], {}), [taken]);
    refused.forget(MAP);
    assert.deepEqual(refused.fresh(MAP, [taken], {}), [taken]);
  });
});
