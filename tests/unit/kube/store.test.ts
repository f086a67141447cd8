import assert from "node:assert/strict";

import fc from "fast-check";

import type { KubeObject } from "../../../runtime/api/meta";
import { keyOf } from "../../../runtime/kube";
import { type Change, Store } from "../../../runtime/kube/cache/store";

interface Thing extends KubeObject {
  color: string;
}

function thing(name: string, version: number, { uid = `uid-${name}`, color = "red" } = {}): Thing {
  return {
    apiVersion: "v1",
    kind: "Thing",
    metadata: { name, namespace: "rome", uid, resourceVersion: String(version) },
    color,
  };
}

const brief = (changes: Change<Thing>[]) =>
  changes.map((change) => `${change.type} ${change.object.metadata.name} ${change.object.metadata.uid}`);

describe("store", () => {
  const byColor = ({ color }: Thing) => color.split("+");

  it("tells what changed, and nothing for a version it has", () => {
    const store = new Store<Thing>();
    assert.deepEqual(brief(store.set(thing("a", 1))), ["added a uid-a"]);
    assert.deepEqual(brief(store.set(thing("a", 1))), []);
    assert.deepEqual(brief(store.set(thing("a", 2))), ["updated a uid-a"]);
    assert.deepEqual(brief(store.delete("rome/a")), ["deleted a uid-a"]);
    assert.deepEqual(brief(store.delete("rome/a")), []);
  });

  it("tells of the deletion that it missed when another object has the name", () => {
    const store = new Store<Thing>();
    store.set(thing("a", 1));
    const changes = store.set(thing("a", 7, { uid: "uid-2" }));
    assert.deepEqual(brief(changes), ["deleted a uid-a", "added a uid-2"]);
  });

  it("tells a deletion with its final state, unless that is another object's", () => {
    const store = new Store<Thing>();
    store.set(thing("a", 1));
    const final = thing("a", 9, { color: "grey" });
    assert.deepEqual(store.delete("rome/a", final), [{ type: "deleted", object: final }]);
    const known = thing("a", 10);
    store.set(known);
    assert.deepEqual(store.delete("rome/a", thing("a", 12, { uid: "uid-3" })), [
      { type: "deleted", object: known },
    ]);
  });

  it("keeps its indexes", () => {
    const store = new Store<Thing>();
    store.set(thing("a", 1, { color: "red+blue" }));
    store.addIndex(byColor);
    store.set(thing("b", 1, { color: "blue" }));
    const names = (color: string) =>
      store
        .byIndex(byColor, color)
        .map(({ metadata }) => metadata.name)
        .sort();
    assert.deepEqual([names("red"), names("blue"), names("green")], [["a"], ["a", "b"], []]);
    store.set(thing("a", 2, { color: "green" }));
    assert.deepEqual([names("red"), names("blue"), names("green")], [[], ["b"], ["a"]]);
    store.delete("rome/b");
    assert.deepEqual(names("blue"), []);
  });

  it("replaced by any list, it holds that list, its indexes too, and its changes lead there", () => {
    const name = fc.constantFrom("a", "b", "c", "d");
    const item = fc
      .record({
        name,
        version: fc.integer({ min: 1, max: 3 }),
        uid: fc.constantFrom("u1", "u2"),
        color: fc.constantFrom("red", "blue", "red+blue"),
      })
      .map(({ name: is, version, uid, color }) => thing(is, version, { uid, color: `${color}` }));
    const list = fc.array(item).map((items) => new Map(items.map((each) => [keyOf(each), each])));
    fc.assert(
      fc.property(list, list, (first, second) => {
        const store = new Store<Thing>();
        store.addIndex(byColor);
        const shadow = new Map<string, Thing>();
        for (const present of [first, second]) {
          for (const change of store.replace(present)) {
            if (change.type === "deleted") assert.ok(shadow.delete(keyOf(change.object)));
            else {
              assert.equal(shadow.has(keyOf(change.object)), change.type === "updated");
              shadow.set(keyOf(change.object), change.object);
            }
          }
        }
        assert.deepEqual([...shadow.keys()].sort(), [...second.keys()].sort());
        assert.deepEqual(store.list().map(keyOf).sort(), [...second.keys()].sort());
        for (const color of ["red", "blue"]) {
          const expected = [...shadow.values()].filter((each) => byColor(each).includes(color)).map(keyOf);
          assert.deepEqual(store.byIndex(byColor, color).map(keyOf).sort(), expected.sort());
        }
      }),
    );
  });
});
