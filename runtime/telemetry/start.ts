import { type RuntimeContext, serverVersion, sleep } from "../kube";
import { packageVersion } from "../api/package-root";
import { observeForTelemetry, type TelemetryModules } from "./observe";
import { telemetryReport } from "./report";

export interface TelemetryOptions {
  /** Where reports go. */
  endpoint: string;
  /** A random UUID by which the receiver tells clusters apart. */
  identity: string;
  /** Milliseconds between two reports. */
  intervalMs: number;
  provider: string;
  modules: TelemetryModules;
}

/** The first report waits this long at most, in milliseconds: a process that keeps ending sends none. */
const FIRST_MS = 600_000;
const SEND_TIMEOUT_MS = 30_000;

/** Sends a report now and then. One that can't be sent is told in the log, and the next one is sent all the same. */
export async function runTelemetry(runtime: RuntimeContext, options: TelemetryOptions): Promise<void> {
  const { clock, log, signal } = runtime;
  await sleep(clock, Math.min(FIRST_MS, options.intervalMs), signal);
  while (!signal.aborted) {
    try {
      await report(runtime, options);
    } catch (error) {
      if (!signal.aborted) log.warn("telemetry not sent", { endpoint: options.endpoint, error });
    }
    await sleep(clock, options.intervalMs, signal);
  }
}

async function report({ client, log, signal }: RuntimeContext, options: TelemetryOptions): Promise<void> {
  const { endpoint, identity, provider, modules } = options;
  const [observed, kubernetesVersion] = await Promise.all([
    observeForTelemetry(client, modules),
    serverVersion(client, signal),
  ]);
  const report = telemetryReport({
    clusterID: identity,
    liqoVersion: packageVersion(),
    kubernetesVersion,
    provider,
    ...observed,
  });
  const answer = await fetch(endpoint, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify(report),
    redirect: "error",
    signal: AbortSignal.any([signal, AbortSignal.timeout(SEND_TIMEOUT_MS)]),
  });
  await answer.body?.cancel();
  if (answer.status !== 200) throw new Error(`the receiver answered ${answer.status}, not 200`);
  log.info("telemetry sent", { endpoint });
}
