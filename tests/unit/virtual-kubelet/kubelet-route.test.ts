import assert from "node:assert/strict";

import {
  kubeletRoute,
  remotePath,
  requiredAccess,
} from "../../../runtime/virtual-kubelet/kubelet/kubelet-route";

describe("kubeletRoute", () => {
  const paths: [here: string, there: string][] = [
    [
      "/containerLogs/shop/web-0/app?follow=true&tailLines=0&pretty=x&sinceTime=2026-03-04T05%3A06%3A07Z",
      "/api/v1/namespaces/shop-rome/pods/web-0/log?container=app&follow=true&sinceTime=2026-03-04T05%3A06%3A07Z&tailLines=0",
    ],
    [
      "/exec/shop/web-0/app?command=sh&command=-c&command=echo+%24HOME&input=1&output=1&error=1",
      "/api/v1/namespaces/shop-rome/pods/web-0/exec?container=app&command=sh&command=-c&command=echo+%24HOME&stdin=true&stdout=true&stderr=true",
    ],
    [
      "/exec/shop/web-0/4a8e-11/app?command=id&output=1&tty=1",
      "/api/v1/namespaces/shop-rome/pods/web-0/exec?container=app&command=id&stdout=true&tty=true",
    ],
    [
      "/attach/shop/web-0/app?output=true&error=0",
      "/api/v1/namespaces/shop-rome/pods/web-0/attach?container=app&stdout=true",
    ],
    ["/portForward/shop/web-0", "/api/v1/namespaces/shop-rome/pods/web-0/portforward"],
    [
      "/portForward/shop/web-0/4a8e-11?port=80",
      "/api/v1/namespaces/shop-rome/pods/web-0/portforward?ports=80",
    ],
  ];
  for (const [here, there] of paths) {
    it(`maps ${here}`, () => {
      const route = kubeletRoute(here);
      assert.equal(route?.about, "pod");
      assert.equal(route.namespace, "shop");
      assert.equal(remotePath(route, "shop-rome"), there);
    });
  }

  for (const path of [
    "/",
    "/logs/kubelet.log",
    "/exec/shop/web-0",
    "/containerLogs/shop/web-0",
    "/debug/pprof",
    "/%zz",
    "//",
  ]) {
    it(`knows no ${path}`, () => assert.equal(kubeletRoute(path), undefined));
  }

  for (const path of [
    "/exec/shop/..%2F..%2Fsecrets/app",
    "/exec/shop/web-0/app%3Fx",
    "/exec/Shop/web-0/app",
    "/portForward/../web-0",
  ]) {
    it(`refuses ${path}`, () => assert.equal(kubeletRoute(path), undefined));
  }

  const accesses: [path: string, verb?: string, subresource?: string][] = [
    ["/containerLogs/shop/web-0/app", "get", "proxy"],
    ["/exec/shop/web-0/app", "create", "proxy"],
    ["/portForward/shop/web-0", "create", "proxy"],
    ["/pods", "get", "proxy"],
    ["/runningpods/", "get", "proxy"],
    ["/stats/summary", "get", "stats"],
    ["/metrics", "get", "metrics"],
    ["/metrics/resource", "get", "metrics"],
    ["/healthz"],
  ];
  for (const [path, verb, subresource] of accesses) {
    it(`asks for ${verb ?? "nothing"} ${subresource ?? ""} on ${path}`, () => {
      const route = kubeletRoute(path);
      assert.ok(route);
      assert.deepEqual(requiredAccess(route), verb === undefined ? undefined : { verb, subresource });
    });
  }
});
