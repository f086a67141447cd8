#!/usr/bin/env node
import type { ComponentRegistry } from "./component/component";
import { terminationSignal } from "./component/termination";

// Taken before anything else is loaded: the first process of a container gets no signal that it does not handle.
const signal = terminationSignal();

/** Everything that a process of the runtime can run; a component's code is loaded only where it is asked for. */
const components: ComponentRegistry = {
  "controller-manager": async () => (await import("./controller-manager/component.js")).controllerManager,
  fabric: async () => (await import("./fabric/component.js")).fabric,
  gateway: async () => (await import("./gateway/component.js")).gateway,
  "metric-agent": async () => (await import("./metric-agent/component.js")).metricAgent,
  proxy: async () => (await import("./proxy/component.js")).proxy,
  "virtual-kubelet": async () => (await import("./virtual-kubelet/component.js")).virtualKubelet,
  webhook: async () => (await import("./webhooks/component.js")).webhook,
};

run().then(
  // Servers, watches and connections that are still being made would keep a process that could not start.
  (status) => process.exit(status),
  (error: unknown) => {
    process.stderr.write(`${error instanceof Error ? (error.stack ?? error.message) : String(error)}\n`);
    process.exit(1);
  },
);

async function run(): Promise<number> {
  const { runProcess } = await import("./component/component.js");
  return await runProcess(process.argv.slice(2), components, signal);
}
