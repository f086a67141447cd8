/**
 * `npm run bench -- footprint [--pods 1000] [--idle 30]`
 *
 * Memory and CPU of the control plane's processes on both sides: idle with one peering, and with many offloaded pods.
 */
import { parseArgs } from "node:util";

import { usageOf } from "../support/process-usage";
import { auditEvents, countRequests } from "../support/audit-log";
import { type PeeredPair, peeredPair } from "./fake-fleet";
import { offloadNamespace } from "./offload";
import { deployAndWait } from "./workload";

export async function footprint(args: string[]): Promise<void> {
  const { values } = parseArgs({
    args,
    options: { pods: { type: "string", default: "1000" }, idle: { type: "string", default: "30" } },
  });
  const pair = await peeredPair(Number(values.pods));
  try {
    await offloadNamespace(pair);
    process.stdout.write("idle with one peering\n");
    await observe(pair, Number(values.idle));
    await deployAndWait(pair.consumer.client, "bench", "app", Number(values.pods));
    process.stdout.write(`with ${values.pods} offloaded pods\n`);
    await observe(pair, Number(values.idle));
  } finally {
    await pair.stop();
  }
}

async function observe(
  { consumer, provider, consumerRuntime, providerRuntime }: PeeredPair,
  seconds: number,
): Promise<void> {
  await new Promise((resolve) => setTimeout(resolve, 10_000)); // what came before settles
  const sides = [
    { name: "rome (consumer)", runtime: consumerRuntime, cluster: consumer },
    { name: "milan (provider)", runtime: providerRuntime, cluster: provider },
  ];
  const before = sides.map(({ runtime }) =>
    runtime.components().map((c) => usageOf(runtime.pid(c))?.cpuSeconds ?? 0),
  );
  const from = Date.now();
  await new Promise((resolve) => setTimeout(resolve, seconds * 1000));
  for (const [i, { name, runtime, cluster }] of sides.entries()) {
    let totalMb = 0;
    let totalCores = 0;
    for (const [j, component] of runtime.components().entries()) {
      const usage = usageOf(runtime.pid(component));
      const cores = ((usage?.cpuSeconds ?? 0) - (before[i]?.[j] ?? 0)) / seconds;
      totalMb += usage?.pssMb ?? 0;
      totalCores += cores;
      process.stdout.write(
        `  ${name} ${component}: ${usage?.pssMb.toFixed(0)} MB PSS, ${usage?.rssMb.toFixed(0)} MB RSS, ${cores.toFixed(4)} core\n`,
      );
    }
    const requests = auditEvents(cluster.controlPlane.auditLogPath ?? "", from).filter((event) =>
      event.user.username.startsWith("system:serviceaccount:liqo"),
    );
    process.stdout.write(
      `  ${name} together: ${totalMb.toFixed(0)} MB, ${totalCores.toFixed(4)} core, ${(requests.length / seconds).toFixed(2)} requests/s` +
        ` (${countRequests(requests)
          .slice(0, 4)
          .map(([what, count]) => `${what} ${count}`)
          .join(", ")})\n`,
    );
  }
}
