import assert from "node:assert/strict";

import { Namespace, Pod } from "../../../runtime/api/kubernetes";
import { Tenant } from "../../../runtime/api";
import {
  collectionPath,
  describeRef,
  objectPath,
  withQuery,
} from "../../../runtime/kube/client/object-reference";
import { keyOfRef, refOfKey } from "../../../runtime/kube";

describe("resource paths", () => {
  it("lead to core and grouped kinds, in and across namespaces", () => {
    assert.equal(collectionPath(Pod), "/api/v1/pods");
    assert.equal(collectionPath(Pod, "rome"), "/api/v1/namespaces/rome/pods");
    assert.equal(collectionPath(Namespace, "ignored"), "/api/v1/namespaces");
    assert.equal(
      objectPath(Tenant, { name: "rome", namespace: "liqo-tenant-rome" }, "status"),
      "/apis/authentication.liqo.io/v1beta1/namespaces/liqo-tenant-rome/tenants/rome/status",
    );
  });

  it("let no name leave its place in the path", () => {
    assert.equal(
      objectPath(Pod, { name: "../secrets/x?y", namespace: "a/b" }),
      "/api/v1/namespaces/a%2Fb/pods/..%2Fsecrets%2Fx%3Fy",
    );
    assert.throws(() => objectPath(Pod, { name: "web-0" }), /Pod "web-0": namespace is missing/);
    assert.throws(() => objectPath(Pod, { name: "", namespace: "rome" }), /Pod: name is empty/);
  });

  it("encode queries and leave out what is undefined", () => {
    assert.equal(withQuery("/x", { a: undefined }), "/x");
    assert.equal(
      withQuery("/x", { labelSelector: "a in (b,c)", watch: true, limit: 5 }),
      "/x?labelSelector=a+in+%28b%2Cc%29&watch=true&limit=5",
    );
  });

  it("name objects for people and for maps", () => {
    assert.equal(describeRef(Pod, { name: "web-0", namespace: "rome" }), 'Pod "rome/web-0"');
    assert.equal(describeRef(Namespace, { name: "rome" }), 'Namespace "rome"');
    for (const ref of [{ name: "web-0", namespace: "rome" }, { name: "rome" }])
      assert.deepEqual(refOfKey(keyOfRef(ref)), ref);
  });
});
