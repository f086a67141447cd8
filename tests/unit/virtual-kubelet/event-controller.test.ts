import assert from "node:assert/strict";

import type { Event } from "../../../runtime/api/kubernetes";
import {
  isExpired,
  localEventContent,
  subjectOf,
} from "../../../runtime/virtual-kubelet/objects/event-controller";

const event = (changes: Partial<Event> = {}): Event => ({
  apiVersion: "v1",
  kind: "Event",
  metadata: { name: "web-0.17a", namespace: "shop-rome", uid: "e1", resourceVersion: "9" },
  involvedObject: {
    apiVersion: "v1",
    kind: "Pod",
    name: "web-0",
    namespace: "shop-rome",
    uid: "remote",
    resourceVersion: "5",
    fieldPath: "spec.containers{app}",
  },
  type: "Normal",
  reason: "Pulled",
  message: "the image is there",
  source: { component: "kubelet", host: "milan-worker" },
  count: 3,
  ...changes,
});

const about = (apiVersion: string, kind: string, name = "x") =>
  event({ involvedObject: { apiVersion, kind, name } });

describe("events from the provider", () => {
  const subjects: [apiVersion: string, kind: string, local: string | undefined][] = [
    ["v1", "Pod", "Pod"],
    ["offloading.liqo.io/v1beta1", "ShadowPod", "Pod"],
    ["v1", "ConfigMap", "ConfigMap"],
    ["networking.k8s.io/v1", "Ingress", "Ingress"],
    ["discovery.k8s.io/v1", "EndpointSlice", "EndpointSlice"],
    ["apps/v1", "Deployment", undefined],
    ["v1", "Node", undefined],
  ];
  for (const [apiVersion, kind, local] of subjects) {
    it(`about ${kind} are ${local === undefined ? "left" : `shown on the ${local}`}`, () => {
      assert.equal(subjectOf(about(apiVersion, kind))?.kind.kind, local);
    });
  }

  it("tell when a pod could not be scheduled", () => {
    assert.equal(subjectOf(event({ type: "Warning", reason: "FailedScheduling" }))?.name, "web-0");
  });

  it("are about the local object, and say where they come from", () => {
    const subject = { apiVersion: "v1", kind: "Pod", name: "web-0", namespace: "shop", uid: "local" };
    const content = localEventContent(event(), subject);
    assert.deepEqual(content.involvedObject, { ...subject, fieldPath: "spec.containers{app}" });
    assert.deepEqual(content.source, { component: "kubelet (remote)", host: "milan-worker" });
    assert.equal(content.message, "the image is there");
    assert.ok(!("metadata" in content));
    const modern = localEventContent(event({ source: {}, reportingComponent: "default-scheduler" }), subject);
    assert.equal(modern.source?.component, "default-scheduler (remote)");
  });

  it("that expire are told from those that are deleted", () => {
    const now = Date.parse("2026-03-04T06:00:00Z");
    assert.ok(isExpired(event({ lastTimestamp: "2026-03-04T05:05:00Z" }), now));
    assert.ok(!isExpired(event({ lastTimestamp: "2026-03-04T05:55:00Z" }), now));
    assert.ok(!isExpired(event(), now));
  });
});
