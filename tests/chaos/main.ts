/**
 * `npm run chaos [-- --seconds 120] [--seed N]`
 *
 * The runtime's processes of both sides are killed with SIGKILL at random while pods come and go. Afterwards each pod that should exist must
 * exist once on each side, with the UID that it had; those that should not must be gone; and nobody may write while nothing changes.
 */
import { parseArgs } from "node:util";

import { Pod } from "../../runtime/api/kubernetes";
import { ShadowPod } from "../../runtime/api/offloading";
import { InformerSet } from "../../runtime/kube";
import { type PeeredPair, peeredPair } from "../bench/fake-fleet";
import { offloadNamespace } from "../bench/offload";
import { singlePod } from "../bench/workload";
import { auditEvents, countRequests, describeRequest } from "../support/audit-log";
import { randomFrom } from "../support/random-sequence";
import { until } from "../support/until";

const NAMESPACE = "bench";
const REMOTE_NAMESPACE = "bench-rome";
const QUIET_MS = 20_000;

async function main(): Promise<void> {
  const { values } = parseArgs({
    options: {
      seconds: { type: "string", default: "120" },
      seed: { type: "string", default: String(Date.now() % 100_000) },
    },
  });
  process.stdout.write(`seed ${values.seed}\n`);
  const random = randomFrom(Number(values.seed));
  const pair = await peeredPair(2_000);
  try {
    await offloadNamespace(pair);
    const remote = await firstUids(pair);
    const expected = await storm(pair, Number(values.seconds), random);
    await verify(pair, expected, remote.uids);
    await remote.stop();
    await quiet(pair);
    process.stdout.write("1 passed, 0 failed\n");
  } finally {
    await pair.stop();
  }
}

/** The first UID that each pod had at the provider. */
async function firstUids({
  provider,
}: PeeredPair): Promise<{ uids: Map<string, string>; stop(): Promise<void> }> {
  const uids = new Map<string, string>();
  const informers = new InformerSet(provider.client);
  const informer = informers.informer(Pod, { namespace: REMOTE_NAMESPACE });
  informer.on({
    added: (pod) => {
      if (!uids.has(pod.metadata.name)) uids.set(pod.metadata.name, pod.metadata.uid ?? "");
    },
  });
  await informer.whenSynced();
  return { uids, stop: () => informers.stop() };
}

/** Creates and deletes pods while processes die; returns the pods that should exist, by name, with their UIDs. */
async function storm(pair: PeeredPair, seconds: number, random: () => number): Promise<Map<string, string>> {
  const expected = new Map<string, string>();
  const deadline = Date.now() + seconds * 1000;
  let created = 0;
  let deleted = 0;
  let killed = 0;

  const churn = async (): Promise<void> => {
    while (Date.now() < deadline) {
      if (random() < 0.65 || expected.size < 5) {
        const name = `pod-${created++}`;
        const pod = await persist(
          () => pair.consumer.client.create(Pod, singlePod(NAMESPACE, name)),
          deadline + 30_000,
        );
        expected.set(name, pod.metadata.uid ?? "");
      } else {
        const name = [...expected.keys()][Math.floor(random() * expected.size)] ?? "";
        await pair.consumer.client.delete(Pod, { name, namespace: NAMESPACE }, { uid: expected.get(name) });
        expected.delete(name);
        deleted++;
      }
      await pause(100 + random() * 300);
    }
  };
  const kill = async (): Promise<void> => {
    while (Date.now() < deadline) {
      await pause(500 + random() * 3_000);
      const runtime = random() < 0.5 ? pair.consumerRuntime : pair.providerRuntime;
      const components = runtime.components();
      const victim = components[Math.floor(random() * components.length)];
      if (victim === undefined) continue;
      await runtime.kill(victim);
      killed++;
      await pause(random() * 1_500);
      await runtime.startComponent(victim);
    }
  };
  await Promise.all([churn(), kill()]);
  process.stdout.write(`${created} pods created, ${deleted} deleted, ${killed} processes killed\n`);
  return expected;
}

/** Admission fails while a webhook is down; whoever creates pods tries again. */
async function persist<T>(attempt: () => Promise<T>, deadline: number): Promise<T> {
  for (;;) {
    try {
      return await attempt();
    } catch (error) {
      if (Date.now() > deadline) throw error;
      await pause(200);
    }
  }
}

async function verify(
  pair: PeeredPair,
  expected: Map<string, string>,
  remoteUids: Map<string, string>,
): Promise<void> {
  const names = [...expected.keys()].sort();
  const problems = async (): Promise<string[]> => {
    const [local, remote, shadows] = await Promise.all([
      pair.consumer.client.list(Pod, { namespace: NAMESPACE }),
      pair.provider.client.list(Pod, { namespace: REMOTE_NAMESPACE }),
      pair.provider.client.list(ShadowPod, { namespace: REMOTE_NAMESPACE }),
    ]);
    return [
      ...differences("pods of the consumer", names, local),
      ...differences("pods of the provider", names, remote),
      ...differences("shadow pods", names, shadows),
      ...local
        .filter((pod) => pod.status?.phase !== "Running")
        .map((pod) => `${pod.metadata.name} is ${pod.status?.phase ?? "without phase"} at the consumer`),
      ...local
        .filter(
          (pod) => expected.has(pod.metadata.name) && expected.get(pod.metadata.name) !== pod.metadata.uid,
        )
        .map((pod) => `${pod.metadata.name} has another UID at the consumer`),
      ...remote
        .filter((pod) => remoteUids.get(pod.metadata.name) !== pod.metadata.uid)
        .map((pod) => `${pod.metadata.name} has another UID at the provider`),
    ];
  };
  let last: string[] = [];
  await until("both sides as they should be", async () => (last = await problems()).length === 0, {
    timeoutMs: 90_000,
    everyMs: 1_000,
  }).catch((error: unknown) => {
    throw new Error(`after the storm:\n  ${last.slice(0, 30).join("\n  ")}`, { cause: error });
  });
  process.stdout.write(`${names.length} pods exist once on each side, with the UIDs that they had\n`);
}

function differences(
  what: string,
  names: string[],
  objects: Array<{ metadata: { name: string } }>,
): string[] {
  const present = new Set(objects.map((object) => object.metadata.name));
  return [
    ...names.filter((name) => !present.has(name)).map((name) => `${name} is missing among the ${what}`),
    ...[...present]
      .filter((name) => !names.includes(name))
      .map((name) => `${name} is left among the ${what}`),
  ];
}

/** While nothing changes, the runtime renews leases and writes nothing else. */
async function quiet({ consumer, provider }: PeeredPair): Promise<void> {
  await pause(5_000);
  const from = Date.now();
  await pause(QUIET_MS);
  const writes = [consumer, provider].flatMap(({ controlPlane }) =>
    auditEvents(controlPlane.auditLogPath ?? "", from).filter(
      (event) =>
        ["create", "update", "patch", "delete"].includes(event.verb) &&
        event.objectRef?.resource !== "leases" &&
        !describeRequest(event).endsWith("accessreviews") &&
        /^(system:serviceaccount:liqo|rome$|milan-)/.test(event.user.username),
    ),
  );
  if (writes.length > 0) {
    const list = countRequests(writes, (event) => `${describeRequest(event)} by ${event.user.username}`);
    throw new Error(
      `written while nothing changed:\n  ${list.map(([what, count]) => `${count} ${what}`).join("\n  ")}`,
    );
  }
  process.stdout.write(`nothing written in ${QUIET_MS / 1000} s of quiet\n`);
}

function pause(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms));
}

main().then(
  () => process.exit(0),
  (error: unknown) => {
    process.stderr.write(`${error instanceof Error ? error.message : String(error)}\n`);
    process.stdout.write("0 passed, 1 failed\n");
    process.exit(1);
  },
);
