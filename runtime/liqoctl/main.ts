#!/usr/bin/env node
import { homedir } from "node:os";

import { nodeVersionFault, runLiqoctl } from "./program";
import { processTerminal } from "./terminal";

const fault = nodeVersionFault(process.versions.node);
if (fault !== undefined) {
  process.stderr.write(`${fault}\n`);
  process.exit(1);
}

const interrupt = new AbortController();
for (const signal of ["SIGINT", "SIGTERM"] as const) {
  process.on(signal, () => {
    // The second time somebody means it.
    if (interrupt.signal.aborted) process.exit(1);
    interrupt.abort();
  });
}

runLiqoctl(process.argv.slice(2), processTerminal(homedir()), interrupt.signal).then(
  (status) => {
    process.exitCode = status;
  },
  (error: unknown) => {
    process.stderr.write(`${error instanceof Error ? (error.stack ?? error.message) : String(error)}\n`);
    process.exitCode = 1;
  },
);
