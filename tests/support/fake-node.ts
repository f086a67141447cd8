/**
 * Fake nodes for load tests: they accept every pod that is bound to them and report it Running about 10 ms later, with no container behind it.
 * They stand in for kubelets where only the control plane is measured.
 *
 * usage: node fake-node.js --kubeconfig FILE --nodes N --pods-per-node M [--prefix NAME]
 */
import { readFileSync } from "node:fs";
import { parseArgs } from "node:util";

import { Lease, Node, Pod } from "../../runtime/api/kubernetes";
import { InformerSet, isNotFound, KubeClient } from "../../runtime/kube";

/** How long a pod takes to start here, in milliseconds. */
const START_DELAY_MS = 10;
const LEASE_RENEW_MS = 10_000;

async function main(): Promise<void> {
  const { values } = parseArgs({
    options: {
      kubeconfig: { type: "string" },
      nodes: { type: "string", default: "1" },
      "pods-per-node": { type: "string", default: "2000" },
      prefix: { type: "string", default: "fake" },
    },
  });
  if (values.kubeconfig === undefined)
    throw new Error("--kubeconfig is missing: give the kubeconfig file of the cluster");
  const client = KubeClient.fromKubeconfig(readFileSync(values.kubeconfig, "utf8"));
  const names = Array.from({ length: Number(values.nodes) }, (_, i) => `${values.prefix}-${i}`);
  for (const name of names) await register(client, name, Number(values["pods-per-node"]));
  setInterval(() => void Promise.all(names.map((name) => heartbeat(client, name))), LEASE_RENEW_MS);

  const ours = new Set(names);
  const started = new Set<string>();
  const informers = new InformerSet(client);
  const consider = (pod: Pod): void => {
    if (!ours.has(pod.spec?.nodeName ?? "")) return;
    const uid = pod.metadata.uid ?? "";
    if (pod.metadata.deletionTimestamp != null) {
      // Without a grace period it is gone already.
      if (pod.metadata.deletionGracePeriodSeconds !== 0) void remove(client, pod);
    } else if (!started.has(uid)) {
      started.add(uid);
      setTimeout(() => void run(client, pod), START_DELAY_MS);
    }
  };
  const pods = informers.informer(Pod, {});
  pods.on({
    added: consider,
    updated: (_before, after) => consider(after),
    deleted: (pod) => started.delete(pod.metadata.uid ?? ""),
  });
  await pods.whenSynced();
  process.stdout.write("ready\n");
}

async function register(client: KubeClient, name: string, pods: number): Promise<void> {
  const amounts = { cpu: "4000", memory: "8000Gi", pods: String(pods), "ephemeral-storage": "8000Gi" };
  await client.apply(
    Node,
    {
      apiVersion: "v1",
      kind: "Node",
      metadata: { name, labels: { "kubernetes.io/hostname": name, "kubernetes.io/os": "linux" } },
    },
    { fieldManager: "fake-node", force: true },
  );
  await client.patch(
    Node,
    { name },
    {
      status: {
        capacity: amounts,
        allocatable: amounts,
        conditions: [
          {
            type: "Ready",
            status: "True",
            reason: "FakeNodeReady",
            lastHeartbeatTime: now(),
            lastTransitionTime: now(),
          },
        ],
        addresses: [{ type: "InternalIP", address: "127.0.0.1" }],
      },
    },
    { type: "strategic", subresource: "status" },
  );
  await heartbeat(client, name);
}

async function heartbeat(client: KubeClient, name: string): Promise<void> {
  await client.apply(
    Lease,
    {
      apiVersion: "coordination.k8s.io/v1",
      kind: "Lease",
      metadata: { name, namespace: "kube-node-lease" },
      spec: {
        holderIdentity: name,
        leaseDurationSeconds: 40,
        renewTime: new Date().toISOString().replace("Z", "000Z"),
      },
    },
    { fieldManager: "fake-node", force: true },
  );
}

let nextAddress = 0;

async function run(client: KubeClient, pod: Pod): Promise<void> {
  const address = `10.201.${(nextAddress >> 8) & 255}.${nextAddress++ & 255}`;
  const containers = pod.spec?.containers ?? [];
  const status = {
    phase: "Running",
    hostIP: "127.0.0.1",
    podIP: address,
    podIPs: [{ ip: address }],
    startTime: now(),
    conditions: ["PodReadyToStartContainers", "Initialized", "Ready", "ContainersReady", "PodScheduled"].map(
      (type) => ({
        type,
        status: "True",
        lastTransitionTime: now(),
      }),
    ),
    containerStatuses: containers.map(({ name, image = "" }) => ({
      name,
      image,
      imageID: "",
      ready: true,
      started: true,
      restartCount: 0,
      state: { running: { startedAt: now() } },
    })),
  };
  await tolerateAbsence(
    client.patch(Pod, reference(pod), { status }, { type: "strategic", subresource: "status" }),
  );
}

async function remove(client: KubeClient, pod: Pod): Promise<void> {
  await tolerateAbsence(client.delete(Pod, reference(pod), { uid: pod.metadata.uid, gracePeriodSeconds: 0 }));
}

async function tolerateAbsence(write: Promise<unknown>): Promise<void> {
  try {
    await write;
  } catch (error) {
    if (!isNotFound(error)) process.stderr.write(`${String(error)}\n`);
  }
}

function reference(pod: Pod): { name: string; namespace?: string } {
  return { name: pod.metadata.name, namespace: pod.metadata.namespace };
}

function now(): string {
  return new Date().toISOString().replace(/\.\d+Z$/, "Z");
}

void main();
