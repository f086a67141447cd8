/** `npm start`: everything up to a running application at the peer, then what came of it. */
import { appendFileSync, mkdirSync, writeFileSync } from "node:fs";
import { dirname } from "node:path";

import { z } from "zod";

import { clusterArgs } from "../examples/quick-start/clusters";
import { KubeClient } from "../runtime/kube";
import { announcement, errorText } from "./quick-start/announcements";
import { PartsClock } from "./quick-start/parts";
import { logFile } from "./quick-start/log-file";
import { prepare, quickStartSteps } from "./quick-start/preparation";
import { missingPrerequisites, NEEDS } from "./quick-start/prerequisites";
import { describeResult } from "./quick-start/result";
import { quickStartStack, up } from "./quick-start/stack";
import { table } from "./quick-start/table";

const outputsSchema = z.object({
  romeKubeconfig: z.string(),
  milanKubeconfig: z.string(),
  namespace: z.string(),
  remoteNamespace: z.string(),
  visitors: z.string(),
});

const begin = performance.now();
const say = (line: string) => console.log(`${elapsed().padStart(6)}  ${line}`);

async function start(signal: AbortSignal): Promise<void> {
  console.log(`${NEEDS}\n`);
  const specs = Object.values(clusterArgs);
  const faults = await missingPrerequisites(specs);
  if (faults.length > 0) throw new Error(`Cannot begin:\n${faults.map((fault) => `  ${fault}`).join("\n")}`);

  const times: [string, number][] = [];
  const part = async <T>(name: string, work: () => Promise<T>): Promise<T> => {
    const from = performance.now();
    const result = await work();
    times.push([name, (performance.now() - from) / 1000]);
    return result;
  };

  const steps = await quickStartSteps(specs, { progress: say, part }, signal);
  const engine = await prepare(steps, signal);

  say("pulumi up of examples/quick-start");
  const clock = new PartsClock();
  const log = newLog();
  const errors: string[] = [];
  const stack = await quickStartStack(engine);
  const outputs = await part("pulumi up", () =>
    up(stack, {
      signal,
      onOutput: (text) => appendFileSync(log, text),
      onEvent: (event) => {
        clock.observe(event);
        const line = announcement(event);
        if (line !== undefined) say(line);
        const error = errorText(event);
        if (error !== undefined) errors.push(error);
      },
    }).catch((cause: unknown) => {
      if (signal.aborted) throw signal.reason;
      const told = errors.length > 0 ? errors.join("\n\n") : messageOf(cause);
      throw new Error(
        `pulumi up failed; all that it said is in ${log}\n\n${told}\n\nAfter the cause is mended, npm start goes on from here.`,
        {
          cause,
        },
      );
    }),
  );

  const known = outputsSchema.parse(
    Object.fromEntries(Object.entries(outputs).map(([name, { value }]) => [name, value as unknown])),
  );
  const rome = KubeClient.fromKubeconfig(known.romeKubeconfig);
  const milan = KubeClient.fromKubeconfig(known.milanKubeconfig);
  try {
    const { namespace, remoteNamespace, visitors } = known;
    console.log(`\n${await describeResult({ rome, milan, namespace, remoteNamespace, visitors })}\n`);
  } finally {
    rome.close();
    milan.close();
  }
  const parts = clock
    .durations()
    .map(({ name, seconds, resources }) => [
      `  of it: ${name}`,
      `${seconds.toFixed(1)} s`,
      `${resources} resources`,
    ]);
  const rows = times.map(([name, seconds]) => [name, `${seconds.toFixed(1)} s`]);
  console.log(`Time:\n${table([...rows, ...parts]).replace(/^/gm, "  ")}\n\n${NEXT}`);
}

const NEXT = `Try next:
  npm run -s kubectl -- rome get pods -n shop -o wide
  npm run -s kubectl -- rome logs -n visitors deployment/visitor
  npm run -s kubectl -- rome scale deployment shop -n shop --replicas 6
  npm run -s kubectl -- milan get pods -A
  npm run pulumi -- preview -C examples/quick-start -s local    (no change; then edit examples/quick-start/shop.ts)
  npm run dev                                                   (rebuilds the runtime and restarts it on each change)
  npm stop                                                      (removes all of it)`;

function newLog(): string {
  const file = logFile();
  mkdirSync(dirname(file), { recursive: true });
  writeFileSync(file, "");
  return file;
}

function elapsed(): string {
  return `${Math.round((performance.now() - begin) / 1000)} s`;
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}

const interrupted = new AbortController();
for (const name of ["SIGINT", "SIGTERM"] as const) {
  process.once(name, () => {
    say("stopping; npm stop removes what was made");
    interrupted.abort(new Error(`stopped by ${name}`));
  });
}

start(interrupted.signal).then(
  () => process.exit(0),
  (error: unknown) => {
    console.error(`\n${messageOf(error)}`);
    process.exit(1);
  },
);
