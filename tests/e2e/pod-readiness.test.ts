/** Readiness gates of offloaded pods: API servers, real controllers and a virtual kubelet. */
import assert from "node:assert/strict";

import { EndpointSlice, Pod, Service } from "../../runtime/api";
import { until } from "../support/until";
import { HERE, podOf, THERE, withVirtualKubelet } from "../support/virtual-kubelet-lab";

const GATE = "www.example.com/checked";

describe("an offloaded pod with a readiness gate", function () {
  this.timeout(60_000);
  const lab = withVirtualKubelet();
  const ref = { name: "gated", namespace: HERE };

  const readyOf = async () =>
    (await lab.local("gated"))?.status?.conditions?.find(({ type }) => type === "Ready");
  const setGate = (status: "True" | "False") =>
    lab.rome.patch(
      Pod,
      ref,
      { status: { conditions: [{ type: GATE, status }] } },
      { type: "strategic", subresource: "status" },
    );
  /** Whether the Service sends traffic to it, by the endpoints that Kubernetes' own controller made of the pod. */
  const isServed = async () => {
    const slices = await lab.rome.list(EndpointSlice, { namespace: HERE });
    const endpoints = slices.flatMap((slice) => slice.endpoints ?? []);
    return endpoints.find(({ targetRef }) => targetRef?.name === "gated")?.conditions?.ready;
  };

  before(() =>
    lab.rome.create(Service, {
      apiVersion: "v1",
      kind: "Service",
      metadata: { name: "gated", namespace: HERE },
      spec: { selector: { app: "gated" }, ports: [{ port: 80 }] },
    }),
  );

  it("runs, and is not ready before somebody at home says so; the remote pod has no gate", async () => {
    await lab.rome.create(Pod, podOf("gated", { spec: { readinessGates: [{ conditionType: GATE }] } }));
    await lab.running("gated");
    const ready = await until("it is not ready", async () => {
      const found = await readyOf();
      return found?.status === "False" ? found : undefined;
    });
    assert.equal(ready.reason, "ReadinessGatesNotReady");
    assert.match(ready.message ?? "", /readiness gate "www\.example\.com\/checked" does not exist/);
    const remote = await lab.milan.get(Pod, { name: "gated", namespace: THERE });
    assert.equal(remote?.spec.readinessGates, undefined);
    await until("the Service knows it as not ready", async () => (await isServed()) === false);
  });

  it("is ready once the gate is met, stays so over a report of the provider, and is not when the gate closes", async () => {
    await setGate("True");
    await until("it is ready", async () => (await readyOf())?.status === "True");
    await until("the Service sends traffic to it", async () => (await isServed()) === true);
    const remote = await lab.milan.get(Pod, { name: "gated", namespace: THERE });
    assert.ok(remote);
    await lab.player.report(remote, { phase: "Running", restartCount: 2 });
    await until("the report is here", async () => {
      const [container] = (await lab.local("gated"))?.status?.containerStatuses ?? [];
      return container?.restartCount === 2;
    });
    const conditions = (await lab.local("gated"))?.status?.conditions ?? [];
    assert.equal(conditions.find(({ type }) => type === GATE)?.status, "True");
    assert.equal(conditions.find(({ type }) => type === "Ready")?.status, "True");
    await setGate("False");
    const closed = await until("it is not ready", async () => {
      const found = await readyOf();
      return found?.status === "False" ? found : undefined;
    });
    assert.match(closed.message ?? "", /is not "True", but False/);
  });
});
