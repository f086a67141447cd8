/** `npm run bench -- <suite> [options]`: measures on this machine and prints what it measured; see each suite's file for its options. */
import { admission } from "./admission";
import { footprint } from "./footprint";
import { limit } from "./limit";
import { network } from "./network";
import { offload } from "./offload";
import { peers } from "./peers";
import { reflection } from "./reflection";
import { virtualNodes } from "./virtual-nodes";

const suites: Record<string, (args: string[]) => Promise<void>> = {
  admission,
  offload,
  limit,
  footprint,
  peers,
  network,
  reflection,
  "virtual-nodes": virtualNodes,
};

async function main(): Promise<void> {
  const [name = "", ...args] = process.argv.slice(2);
  const suite = suites[name];
  if (suite === undefined) {
    process.stderr.write(`unknown suite "${name}"; give one of ${Object.keys(suites).join(", ")}\n`);
    process.exit(2);
  }
  await suite(args);
  process.exit(0);
}

main().catch((error: unknown) => {
  process.stderr.write(`${error instanceof Error ? (error.stack ?? error.message) : String(error)}\n`);
  process.exit(1);
});
