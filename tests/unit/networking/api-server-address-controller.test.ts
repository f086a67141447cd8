import assert from "node:assert/strict";
import type { EndpointSlice, Service } from "../../../runtime/api";
import { coalesced } from "../../../runtime/kube";
import {
  apiServerEndpointIPs,
  apiServerIP,
  apiServerProxyIP,
} from "../../../runtime/networking/addresses/api-server-address-controller";
import { TestClock } from "../../support/test-clock";

const service = (spec: Service["spec"]): Service => ({
  apiVersion: "v1",
  kind: "Service",
  metadata: { name: "kubernetes", namespace: "default" },
  spec,
});
const slice = (name: string, ...addresses: string[]): EndpointSlice => ({
  apiVersion: "discovery.k8s.io/v1",
  kind: "EndpointSlice",
  metadata: { name, namespace: "default" },
  addressType: "IPv4",
  endpoints: [{ addresses }],
});
const summary = (ips: ReturnType<typeof apiServerIP>) =>
  ips.map(
    ({ metadata, spec }) =>
      `${metadata.namespace}/${metadata.name} ${metadata.labels?.["ipam.liqo.io/ip-type"]} ${spec.ip} ${spec.masquerade ?? false}`,
  );

describe("the addresses of the API server", () => {
  it("are those of its Services, where they have one of IPv4", () => {
    assert.deepEqual(summary(apiServerIP(service({ clusterIP: "10.95.0.1" }), "liqo")), [
      "liqo/api-server api-server 10.95.0.1 false",
    ]);
    assert.deepEqual(summary(apiServerProxyIP(service({ clusterIP: "10.95.7.7" }), "liqo-system")), [
      "liqo-system/api-server-proxy api-server-proxy 10.95.7.7 false",
    ]);
    assert.deepEqual(
      summary(apiServerIP(service({ clusterIP: "fd00::1", clusterIPs: ["fd00::1", "10.95.0.1"] }), "liqo")),
      ["liqo/api-server api-server 10.95.0.1 false"],
    );
    for (const none of [undefined, service({}), service({ clusterIP: "None" })]) {
      assert.deepEqual(apiServerIP(none, "liqo"), []);
    }
  });

  it("are those of its endpoints, each once", () => {
    const ips = apiServerEndpointIPs(
      [
        slice("kubernetes-b", "172.18.0.3", "172.18.0.2"),
        slice("kubernetes-a", "172.18.0.2"),
        slice("v6", "fd00::7"),
      ],
      "liqo",
    );
    assert.deepEqual(summary(ips), [
      "liqo/kubernetes-a-172-18-0-2 api-server 172.18.0.2 true",
      "liqo/kubernetes-b-172-18-0-3 api-server 172.18.0.3 true",
    ]);
    assert.deepEqual(ips[0]?.metadata.annotations, { "liqo.io/preinstalled": "true" });
    assert.equal(ips[0]?.metadata.labels?.["ipam.liqo.io/endpointslice"], "kubernetes-a");
  });
});

describe("a coalesced source", () => {
  const source = () => {
    let enqueue: (key: string) => void = () => assert.fail("not started");
    let ended = false;
    return {
      source: {
        start: (to: (key: string) => void) => {
          enqueue = to;
          return () => (ended = true);
        },
        whenSynced: () => Promise.resolve(),
      },
      emit: (...keys: string[]) => keys.forEach((key) => enqueue(key)),
      ended: () => ended,
    };
  };

  it("tells each key once within the time, counted from the first", async () => {
    const clock = new TestClock();
    const { source: inner, emit } = source();
    const told: string[] = [];
    coalesced(inner, clock, 100).start((key) => told.push(`${key} ${clock.monotonic()}`));
    emit("a", "a", "b");
    await clock.advance(60);
    emit("a", "c");
    await clock.advance(100);
    emit("a");
    await clock.advance(100);
    assert.deepEqual(told, ["a 100", "b 100", "c 160", "a 260"]);
  });

  it("tells nothing after its end", async () => {
    const clock = new TestClock();
    const { source: inner, emit, ended } = source();
    const told: string[] = [];
    const end = coalesced(inner, clock, 100).start((key) => told.push(key));
    emit("a");
    end();
    await clock.advance(200);
    assert.deepEqual([told, ended(), clock.waiting], [[], true, 0]);
  });
});
