/** The endpoints of Services on their way from rome to milan: API servers only, no packets. */
import assert from "node:assert/strict";
import { join } from "node:path";

import { freePorts } from "../../provider/local-cluster/free-port";
import {
  Configuration,
  type Desired,
  EndpointSlice,
  Event,
  ForeignCluster,
  IP,
  Service,
  ShadowEndpointSlice,
} from "../../runtime/api";
import type { KubeClient } from "../../runtime/kube";
import { providerControllers } from "../../runtime/offloading";
import { installRoles, kubeconfigOf } from "../support/install-roles";
import { LIQO, OffloadingPair } from "../support/offloading-pair";
import { type TestContext, testContext } from "../support/runtime-context";
import { until } from "../support/until";
import { VirtualKubeletProcess } from "../support/virtual-kubelet-process";
import { withControlPlanes } from "../support/with-control-planes";

const NODE = "milan-pool";
const HERE = "shop";
const THERE = "shop-rome";
const SLICE = "web-7";

describe("endpoints of Services, from rome to milan", function () {
  this.timeout(90_000);
  const controlPlane = withControlPlanes({
    rome: { serviceCidr: "10.97.0.0/16" },
    milan: { serviceCidr: "10.98.0.0/16", controllerManager: true },
  });
  let pair: OffloadingPair;
  let rome: KubeClient;
  let milan: KubeClient;
  let provider: TestContext;
  let kubelet: VirtualKubeletProcess;

  before(async function () {
    this.timeout(120_000);
    pair = new OffloadingPair({ rome: controlPlane("rome"), milan: controlPlane("milan") });
    ({ rome, milan } = pair);
    await pair.prepare();
    await pair.namespace(milan, "liqo-system");
    await installRoles(milan, "liqo-system");
    await pair.offload(HERE, THERE);
    await peer(rome, "milan");
    await peer(milan, "rome");
    await networksOfRome();
    const account = await kubeconfigOf(controlPlane("milan"), "liqo-system", "liqo-controller-manager");
    provider = testContext(account, "controller-manager");
    providerControllers(provider, { clusterID: "milan", networking: true });
    const [port = 0] = await freePorts(1);
    kubelet = await VirtualKubeletProcess.start({
      kubeconfig: await pair.kubeconfigOfVirtualKubelet(),
      logFile: join(controlPlane("rome").folder, "virtual-kubelet.log"),
      flags: [
        "--cluster-id=rome",
        `--liqo-namespace=${LIQO}`,
        "--pod-name=vk-0",
        `--listen-port=${port}`,
        "--certificate-type=self-signed",
        "--local-podcidr=10.31.0.0/16",
      ],
    });
    await pair.virtualNode(NODE);
    await rome.create(Service, {
      apiVersion: "v1",
      kind: "Service",
      metadata: { name: "web", namespace: HERE },
      spec: { ports: [{ name: "http", port: 80 }] },
    });
  });

  after(async () => {
    await kubelet?.end("SIGKILL");
    await provider?.end();
    pair?.close();
  });

  /** What the controllers of a peering would say of a connected peer. */
  async function peer(client: KubeClient, clusterID: string): Promise<void> {
    await client.create(ForeignCluster, {
      apiVersion: "core.liqo.io/v1beta1",
      kind: "ForeignCluster",
      metadata: { name: clusterID, labels: { "liqo.io/remote-cluster-id": clusterID } },
      spec: { clusterID },
    });
    await connection(client, clusterID, "Established");
  }

  async function connection(client: KubeClient, name: string, status: string): Promise<void> {
    const condition = { type: "NetworkConnectionStatus", status, lastTransitionTime: "2026-05-04T12:00:00Z" };
    const modules = {
      networking: { enabled: true, conditions: [condition] },
      authentication: { enabled: true },
      offloading: { enabled: true },
    };
    const body = { status: { observedGeneration: 1, role: "Unknown", modules } };
    await client.patch(ForeignCluster, { name }, body, { type: "merge", subresource: "status" });
  }

  /** Rome's networks, and where milan has put them. */
  async function networksOfRome(): Promise<void> {
    const ref = { name: "rome", namespace: "liqo-system" };
    const { metadata } = await milan.create(Configuration, {
      apiVersion: "networking.liqo.io/v1beta1",
      kind: "Configuration",
      metadata: { ...ref, labels: { "liqo.io/remote-cluster-id": "rome" } },
      spec: { remote: { cidr: { pod: ["10.31.0.0/16"], external: ["10.70.0.0/16"] } } },
    });
    const condition = {
      type: "NetworkCIDRsConfigured",
      status: "True",
      reason: "NetworkCIDRsConfigured",
      message: "",
      lastTransitionTime: "2026-05-04T12:00:00Z",
      observedGeneration: metadata.generation ?? 1,
    };
    const remote = { cidr: { pod: ["10.71.0.0/16"], external: ["10.68.0.0/16"] } };
    const body = { status: { conditions: [condition], remote } };
    await milan.patch(Configuration, ref, body, { type: "merge", subresource: "status" });
  }

  async function writeSlice(endpoints: EndpointSlice["endpoints"], annotations = {}): Promise<void> {
    const desired: Desired<EndpointSlice> = {
      apiVersion: "discovery.k8s.io/v1",
      kind: "EndpointSlice",
      metadata: {
        name: SLICE,
        namespace: HERE,
        labels: { "kubernetes.io/service-name": "web" },
        annotations,
      },
      addressType: "IPv4",
      endpoints,
      ports: [{ name: "http", port: 8080, protocol: "TCP" }],
    };
    await rome.apply(EndpointSlice, desired, { fieldManager: "test", force: true });
  }

  const local = { addresses: ["10.31.4.7"], nodeName: "rome-1", conditions: { ready: true } };
  const offloaded = { addresses: ["10.62.3.3"], nodeName: NODE, conditions: { ready: true } };
  const exported = { addresses: ["172.18.0.9"], nodeName: "rome-2", conditions: { ready: true } };

  /** The endpoints of the Service's slice at milan, such as `10.71.4.7 true`. */
  async function atMilan(): Promise<string[] | undefined> {
    const slice = await milan.get(EndpointSlice, { name: SLICE, namespace: THERE });
    return (
      slice &&
      (slice.endpoints ?? []).map(({ addresses, conditions }) => `${addresses.join()} ${conditions?.ready}`)
    );
  }

  async function becomes(what: string, expected: string[]): Promise<void> {
    let seen: string[] | undefined;
    try {
      await until(what, async () => {
        seen = await atMilan();
        return JSON.stringify(seen) === JSON.stringify(expected);
      });
    } catch (error) {
      throw new Error(`${what}: ${JSON.stringify(seen)} in place of ${JSON.stringify(expected)}`, {
        cause: error,
      });
    }
  }

  it("are those that do not run at milan, at addresses that lead to them", async () => {
    await writeSlice([local, offloaded]);
    await becomes("the local pod's endpoint is at milan", ["10.71.4.7 true"]);
    const slice = await milan.get(EndpointSlice, { name: SLICE, namespace: THERE });
    assert.equal(slice?.metadata.labels?.["kubernetes.io/service-name"], "web");
    assert.equal(
      slice?.metadata.labels?.["endpointslice.kubernetes.io/managed-by"],
      "endpointslice.reflection.liqo.io",
    );
    assert.deepEqual(slice?.ports, [{ name: "http", port: 8080, protocol: "TCP" }]);
    assert.equal(slice?.endpoints?.[0]?.nodeName, "rome");
    const [owner] = slice?.metadata.ownerReferences ?? [];
    assert.equal(owner?.kind, "ShadowEndpointSlice");
  });

  it("are told without those that nothing leads to, until an IP stands for them", async () => {
    await writeSlice([local, exported]);
    const told = await until("an event tells of it", async () =>
      (await rome.list(Event, { namespace: HERE })).find(
        ({ involvedObject, message }) =>
          involvedObject.name === SLICE && (message ?? "").includes("172.18.0.9"),
      ),
    );
    assert.match(told.message ?? "", /no IP of the namespace stands for it/);
    await becomes("only the pod's endpoint is at milan", ["10.71.4.7 true"]);
    const ref = { name: "host-service", namespace: HERE };
    await rome.create(IP, {
      apiVersion: "ipam.liqo.io/v1alpha1",
      kind: "IP",
      metadata: ref,
      spec: { ip: "172.18.0.9" },
    });
    const body = { status: { ip: "10.70.0.5", cidr: "10.70.0.0/16" } };
    await rome.patch(IP, ref, body, { type: "merge", subresource: "status" });
    await becomes("both are at milan", ["10.71.4.7 true", "10.68.0.5 true"]);
  });

  it("are not ready while rome cannot be reached, and ready again after", async () => {
    await connection(milan, "rome", "Error");
    await becomes("not ready", ["10.71.4.7 false", "10.68.0.5 false"]);
    await connection(milan, "rome", "Established");
    await becomes("ready again", ["10.71.4.7 true", "10.68.0.5 true"]);
  });

  it("follow what changes at rome, and milan's own changes do not last", async () => {
    await writeSlice([{ ...local, conditions: { ready: false } }, exported]);
    await becomes("one is not ready", ["10.71.4.7 false", "10.68.0.5 true"]);
    const ref = { name: SLICE, namespace: THERE };
    await milan.patch(EndpointSlice, ref, { endpoints: [{ addresses: ["10.9.9.9"] }] }, { type: "merge" });
    await becomes("as before", ["10.71.4.7 false", "10.68.0.5 true"]);
  });

  it("stay at home with their Service; where none is outside of milan, the slice is there and empty", async () => {
    const shadowGone = () =>
      until(
        "the ShadowEndpointSlice is gone",
        async () => (await milan.get(ShadowEndpointSlice, { name: SLICE, namespace: THERE })) === undefined,
      );
    const annotate = (value: string | null) =>
      rome.patch(
        Service,
        { name: "web", namespace: HERE },
        { metadata: { annotations: { "liqo.io/skip-reflection": value } } },
        { type: "merge" },
      );
    await annotate("true");
    await shadowGone();
    await annotate(null);
    await until("it is back", () => milan.get(ShadowEndpointSlice, { name: SLICE, namespace: THERE }));
    await writeSlice([offloaded]);
    await becomes("no endpoint is left", []);
    await writeSlice([]);
    await until("the slice stays", async () => {
      const shadow = await milan.get(ShadowEndpointSlice, { name: SLICE, namespace: THERE });
      return shadow?.spec.template?.endpoints?.length === 0;
    });
    await writeSlice([local]);
    await becomes("an endpoint is there again", ["10.71.4.7 true"]);
  });
});
