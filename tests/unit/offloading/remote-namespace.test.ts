import assert from "node:assert/strict";

import { Namespace } from "../../../runtime/api";
import { NamespaceReservations } from "../../../runtime/offloading/remote-namespace";
import { namespaceLimitOf } from "../../../runtime/offloading/remote-namespace-policy";

const made = (name: string, consumer: string): Namespace => ({
  apiVersion: Namespace.apiVersion,
  kind: Namespace.kind,
  metadata: {
    name,
    labels: { "liqo.io/remote-cluster-id": consumer },
    annotations: { "liqo.io/managed-by-namespace-map": `guests-from-${consumer}/milan` },
  },
});
const tenant = (limit?: string): Namespace => ({
  apiVersion: Namespace.apiVersion,
  kind: Namespace.kind,
  metadata: {
    name: "guests-from-rome",
    labels: { "liqo.io/remote-cluster-id": "rome", "liqo.io/tenant-namespace": "true" },
    ...(limit === undefined ? {} : { annotations: { "liqo.io/namespace-limit": limit } }),
  },
});

describe("the limit of a consumer's namespaces", () => {
  const indexed = new Map<string, (namespace: Namespace) => string[]>();
  const cacheOf = (namespaces: Namespace[]) => ({
    addIndex: (name: string, keysOf: (namespace: Namespace) => string[]) => void indexed.set(name, keysOf),
    byIndex: (name: string, key: string) =>
      namespaces.filter((namespace) => indexed.get(name)?.(namespace).includes(key)),
    get: (name: string) => namespaces.find(({ metadata }) => metadata.name === name),
  });

  it("counts namespaces that the watch does not show yet", () => {
    const there = [tenant(), made("shop-rome", "rome"), made("shop-turin", "turin")];
    const reservations = new NamespaceReservations(cacheOf(there));
    assert.deepEqual(
      ["a", "b", "c", "b"].map((name) => reservations.reserve("rome", name, 3)),
      [true, true, false, true],
    );
    there.push(made("a", "rome"));
    assert.equal(reservations.reserve("rome", "c", 3), false);
    assert.equal(reservations.reserve("turin", "d", 3), true);
    reservations.release("rome", "b");
    assert.equal(reservations.reserve("rome", "c", 3), true);
  });

  it("is what the tenant namespace says, and a thousand where it says nothing of use", () => {
    assert.deepEqual(
      [undefined, tenant(), tenant("7"), tenant("0"), tenant("-1"), tenant("many")].map(namespaceLimitOf),
      [1000, 1000, 7, 0, 1000, 1000],
    );
  });
});
