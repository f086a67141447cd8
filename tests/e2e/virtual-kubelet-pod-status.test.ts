/** What offloaded pods show at home: API servers, real controllers and a virtual kubelet. */
import assert from "node:assert/strict";

import { Configuration, EndpointSlice, Namespace, Pod, Service } from "../../runtime/api";
import { installRoles } from "../support/install-roles";
import { ManagedAdmission } from "../support/managed-admission";
import { LIQO, TENANT } from "../support/offloading-pair";
import { until } from "../support/until";
import { HERE, podOf, THERE, withVirtualKubelet } from "../support/virtual-kubelet-lab";

const GATE = "www.example.com/checked";

describe("what offloaded pods show at home", function () {
  this.timeout(60_000);
  const lab = withVirtualKubelet();

  it("is that they are not ready while their node is said to be unavailable", async () => {
    await lab.rome.create(Pod, podOf("cut-off"));
    await lab.running("cut-off");
    const label = (value: string | null) =>
      lab.rome.patch(
        Pod,
        { name: "cut-off", namespace: HERE },
        { metadata: { labels: { "liqo.io/remote-unavailable": value } } },
        { type: "merge" },
      );
    const ready = async () =>
      (await lab.local("cut-off"))?.status?.conditions?.find(({ type }) => type === "Ready")?.status;
    await label("true");
    await until("the pod is not ready", async () => (await ready()) === "False");
    assert.equal((await lab.local("cut-off"))?.status?.phase, "Running");
    assert.equal((await lab.shadow("cut-off"))?.metadata.labels?.["liqo.io/remote-unavailable"], undefined);
    await label(null);
    await until("the pod is ready again", async () => (await ready()) === "True");
  });

  it("is an address of their provider's networks, and none that the provider makes up", async () => {
    await lab.rome.create(Pod, podOf("addressed"));
    const reported = (await lab.running("addressed")).status?.podIP ?? "";
    assert.match(reported, /^10\.201\./);
    const configuration = { name: "milan", namespace: TENANT };
    await lab.rome.create(Configuration, {
      apiVersion: "networking.liqo.io/v1beta1",
      kind: "Configuration",
      metadata: { ...configuration, labels: { "liqo.io/remote-cluster-id": "milan" } },
      spec: { remote: { cidr: { pod: ["10.201.0.0/16"], external: ["10.70.0.0/16"] } } },
    });
    const shows = (what: string, address: string | undefined) =>
      until(what, async () => {
        const pod = await lab.local("addressed");
        return pod !== undefined && pod.status?.podIP === address && pod.status?.conditions;
      });
    await shows("no address while the networks have no place", undefined);
    const status = { remote: { cidr: { pod: ["10.99.0.0/16"], external: ["10.98.0.0/16"] } } };
    const asStatus = { type: "merge", subresource: "status" } as const;
    await lab.rome.patch(Configuration, configuration, { status }, asStatus);
    await shows("the address as it is reached from here", reported.replace("10.201.", "10.99."));
    const report = (podIP: string) =>
      lab.milan.patch(
        Pod,
        { name: "addressed", namespace: THERE },
        { status: { podIP, podIPs: [{ ip: podIP }] } },
        asStatus,
      );
    for (const stolen of ["172.18.0.2", "10.97.0.1"]) {
      await report(stolen);
      const conditions = await until(`${stolen} is withheld`, async () => {
        const found = await shows("no address", undefined);
        return found.some(({ message = "" }) => message.includes(stolen)) && found;
      });
      assert.ok(conditions.some(({ type }) => type === "liqo.io/AddressReflected"));
    }
    await report(reported);
    const after = await shows("the address again", reported.replace("10.201.", "10.99."));
    assert.equal(
      after.some(({ type }) => type === "liqo.io/AddressReflected"),
      false,
    );
    const told = (await lab.eventsOf("addressed")).filter(({ reason }) => reason === "AddressWithheld");
    assert.ok(told.some(({ message = "" }) => message.includes("172.18.0.2")));
    await lab.rome.delete(Configuration, configuration);
    await shows("the address as it is reported", reported);
  });

  describe("of a pod with a readiness gate", () => {
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

  describe("of a pod that the provider refuses", () => {
    let admission: ManagedAdmission | undefined;
    after(() => admission?.stop());

    /** Waits until the pod at home says why, and so does an event. */
    const refused = async (name: string, why: RegExp) => {
      const { phase, message } = await until(`${name} is refused`, async () => {
        const { status } = (await lab.local(name)) ?? {};
        return status?.reason === "OffloadingRefused" && status;
      });
      assert.equal(phase, "Pending");
      assert.match(message ?? "", why);
      await until("an event says so too", async () =>
        (await lab.eventsOf(name)).some(
          ({ reason, message: told = "" }) => reason === "FailedReflection" && why.test(told),
        ),
      );
      assert.equal(await lab.remote(name), undefined);
    };
    const asDeployer = {
      "liqo.io/api-server-support": "remote",
      "liqo.io/remote-service-account-name": "deployer",
    };
    const account =
      /spec\.pod\.serviceAccountName is "deployer", and the provider allows .* \(allowed: default\); leave it out, or ask the provider's administrator to allow it/;

    it("is that it waits, and which field, which value and what to do", async () => {
      // As the provider's controllers label the namespaces that they make.
      const baseline = { "pod-security.kubernetes.io/enforce": "baseline" };
      await lab.milan.patch(
        Namespace,
        { name: THERE },
        { metadata: { labels: baseline } },
        { type: "merge" },
      );
      await lab.rome.create(
        Pod,
        podOf("files", { spec: { volumes: [{ name: "root", hostPath: { path: "/" } }] } }),
      );
      await lab.rome.create(Pod, podOf("deployer", { metadata: { annotations: asDeployer } }));
      await Promise.all([
        refused(
          "files",
          /violates PodSecurity "baseline:latest": hostPath volumes \(volume "root"\); take that out of the pod, or ask the provider's administrator/,
        ),
        refused("deployer", account),
      ]);
    });

    it("is the same where the provider's webhooks refuse it", async () => {
      await lab.pair.namespace(lab.milan, LIQO);
      await installRoles(lab.milan, LIQO);
      admission = await ManagedAdmission.start({
        admin: lab.milan,
        controlPlane: lab.controlPlane("milan"),
        clusterId: "milan",
        liqoNamespace: LIQO,
      });
      await lab.rome.create(Pod, podOf("by-webhook", { metadata: { annotations: asDeployer } }));
      await refused("by-webhook", account);
      assert.equal(await lab.shadow("by-webhook"), undefined);
    });
  });
});
