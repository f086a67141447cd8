import assert from "node:assert/strict";
import {
  type Desired,
  Event,
  GatewayServer,
  type KubeObject,
  Label,
  OWN_KINDS,
  ResourceSlice,
  Tenant,
} from "../../runtime/api";
import { isRecord } from "../../runtime/api/invalid-object";
import { clientTemplate, serverTemplate } from "../../runtime/plan/networking/gateway-templates";
import { networkManifests } from "../../runtime/plan/networking/networks";
import { networkingSettingsSchema } from "../../runtime/plan/networking/settings";
import type { PeeringSides } from "../../runtime/plan/peering";
import { kindOf } from "../support/kind-of";
import type { ManagedCluster } from "../support/managed-cluster";
import { installPair } from "../support/managed-pair";
import { PeeringSteps } from "../support/peering-steps";
import { until } from "../support/until";
import { withControlPlanes } from "../support/with-control-planes";

const sides: PeeringSides = {
  consumer: { clusterId: "rome", tenantNamespace: "to-milan" },
  provider: { clusterId: "milan", tenantNamespace: "guests-from-rome" },
};
const OBSERVING = OWN_KINDS.map(({ definition: { group, version, kind } }) =>
  kindOf({ apiVersion: `${group}/${version}`, kind }),
).filter(({ observesGeneration }) => observesGeneration === true);
/** Their status is written beside running pods, of which there are none here. */
const OF_AGENTS = ["Connection", "InternalNode", "ShadowPod"];

describe("status.observedGeneration, on both sides of a peering of rome at milan", function () {
  this.timeout(120_000);
  let rome: ManagedCluster;
  let milan: ManagedCluster;
  after(async () => {
    await Promise.all([rome?.end(), milan?.end()]);
  });
  const controlPlane = withControlPlanes({
    rome: { controllerManager: true, serviceCidr: "10.97.0.0/16" },
    milan: { controllerManager: true, serviceCidr: "10.98.0.0/16" },
  });
  before(async () => {
    [rome, milan] = await installPair(controlPlane, { rome: { networking: true } });
    await Promise.all([rome.start(), milan.start()]);
    const steps = new PeeringSteps(rome, milan, sides, "pool");
    await steps.peer();
    for (const object of [...offloadedNamespace, ...networks()]) await rome.apply(object);
  });

  const offloadedNamespace: (Desired<KubeObject> & Record<string, unknown>)[] = [
    { apiVersion: "v1", kind: "Namespace", metadata: { name: "shop" } },
    {
      apiVersion: "offloading.liqo.io/v1beta1",
      kind: "NamespaceOffloading",
      metadata: { name: "offloading", namespace: "shop" },
      spec: { podOffloadingStrategy: "LocalAndRemote" },
    },
  ];

  function networks(): (Desired<KubeObject> & Record<string, unknown>)[] {
    const networking = networkingSettingsSchema.parse({
      podCidrs: ["10.243.0.0/16"],
      serviceCidr: "10.97.0.0/16",
    });
    const images = {
      image: "runtime:1",
      imagePullPolicy: "IfNotPresent" as const,
      imagePullSecrets: [],
      networking,
    };
    const ofMilan = { name: "milan", namespace: "to-milan", labels: { [Label.remoteClusterID]: "milan" } };
    const apiVersion = "networking.liqo.io/v1beta1";
    return [
      ...networkManifests("liqo", networking),
      serverTemplate("liqo", images),
      clientTemplate("liqo", images),
      {
        apiVersion,
        kind: "Configuration",
        metadata: ofMilan,
        spec: { remote: { cidr: { pod: ["10.244.0.0/16"], external: ["10.71.0.0/16"] } } },
      },
      {
        apiVersion,
        kind: "GatewayServer",
        metadata: ofMilan,
        spec: {
          mtu: 1340,
          serverTemplateRef: { kind: "WgGatewayServerTemplate", name: "wireguard-server", namespace: "liqo" },
          endpoint: { port: 51_840, serviceType: "NodePort" },
        },
      },
      {
        apiVersion,
        kind: "GatewayClient",
        metadata: ofMilan,
        spec: {
          mtu: 1340,
          clientTemplateRef: { kind: "WgGatewayClientTemplate", name: "wireguard-client", namespace: "liqo" },
          endpoint: { addresses: ["10.0.0.2"], port: 51_840, protocol: "UDP" },
        },
      },
      {
        apiVersion: "ipam.liqo.io/v1alpha1",
        kind: "IP",
        metadata: { name: "printer", namespace: "shop" },
        spec: { ip: "192.168.1.9" },
      },
    ];
  }

  /** What is there of each kind, and what of it has no answer to its present spec. */
  async function look(): Promise<{ kinds: Set<string>; pending: string[] }> {
    const kinds = new Set<string>();
    const pending: string[] = [];
    for (const cluster of [rome, milan]) {
      for (const kind of OBSERVING) {
        for (const object of await cluster.admin.list(kind)) {
          kinds.add(kind.kind);
          const status: unknown = "status" in object ? object.status : undefined;
          const observed = isRecord(status) ? status.observedGeneration : undefined;
          const { name, generation } = object.metadata;
          if (observed !== generation)
            pending.push(`${cluster.clusterId}: ${kind.kind} ${name} ${generation} ${String(observed)}`);
        }
      }
    }
    return { kinds, pending };
  }

  async function answered(): Promise<void> {
    let last: string[] = [];
    await until("every generation is answered", async () => {
      last = (await look()).pending;
      return last.length === 0;
    }).catch((error: unknown) => {
      assert.deepEqual(last, []);
      throw error;
    });
  }

  it("is that of the spec, on each kind that a controller answers", async () => {
    const expected = OBSERVING.map(({ kind }) => kind)
      .filter((kind) => !OF_AGENTS.includes(kind))
      .sort();
    await until("an object of each kind", async () => {
      const { kinds } = await look();
      return expected.every((kind) => kinds.has(kind));
    }).catch(async (error: unknown) => {
      assert.deepEqual([...(await look()).kinds].sort(), expected);
      throw error;
    });
    await answered();
  });

  it("follows changes of specs, across clusters too", async () => {
    const slice = { name: "pool", namespace: "to-milan" };
    for (const [cpu, gpu] of [
      ["6", "2"],
      ["5", null],
    ] as const) {
      const changed = await rome.admin.patch(
        ResourceSlice,
        slice,
        { spec: { resources: { cpu, "example.org/gpu": gpu } } },
        { type: "merge" },
      );
      await until(`${cpu} CPUs are granted`, async () => {
        const { metadata, status } = (await rome.admin.get(ResourceSlice, slice)) ?? {};
        if (status?.observedGeneration !== metadata?.generation) return false;
        assert.ok((status?.observedGeneration ?? 0) >= (changed.metadata.generation ?? 0));
        // Waiting for the generation is enough: what the status says is about this spec.
        assert.equal(status?.resources?.cpu, cpu);
        // What is asked for no more is granted no more.
        assert.equal(status.resources["example.org/gpu"], gpu ?? undefined);
        return true;
      });
    }
    await rome.admin.patch(
      GatewayServer,
      { name: "milan", namespace: "to-milan" },
      { spec: { mtu: 1400 } },
      { type: "merge" },
    );
    await answered();
  });

  it("says when a Tenant is cordoned, drained and active again", async () => {
    const tenant = { name: "rome", namespace: "guests-from-rome" };
    for (const tenantCondition of ["Cordoned", "Drained", "Active"]) {
      const { metadata } = await milan.admin.patch(
        Tenant,
        tenant,
        { spec: { tenantCondition } },
        { type: "merge" },
      );
      await until(`it is ${tenantCondition}`, async () => {
        const { status } = (await milan.admin.get(Tenant, tenant)) ?? {};
        return status?.observedGeneration === metadata.generation;
      });
      const copies = await milan.admin.list(ResourceSlice, { namespace: "guests-from-rome" });
      if (tenantCondition === "Drained") assert.ok(copies.every((copy) => copy.metadata.deletionTimestamp));
    }
    await until("the copy is back", () =>
      milan.admin.get(ResourceSlice, { name: "pool", namespace: "guests-from-rome" }),
    );
    await answered();
  });

  it("is not all: a GatewayServer says why its Service is refused", async () => {
    const server = { name: "milan", namespace: "to-milan" };
    const nodePort = (port: number | null) =>
      rome.admin.patch(GatewayServer, server, { spec: { endpoint: { nodePort: port } } }, { type: "merge" });
    await nodePort(80);
    await until("the API server's answer", async () => {
      const events = await rome.admin.list(Event, { namespace: "to-milan" });
      return events.some(
        ({ involvedObject, reason, message }) =>
          involvedObject.kind === "GatewayServer" &&
          reason === "ServiceRefused" &&
          message?.includes("Invalid value: 80: provided port is not in the valid range"),
      );
    });
    await nodePort(null);
    await answered();
  });
});
