import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

import { runCommand } from "../../provider/local-cluster/run-command";
import { ensureTools } from "../../provider/local-cluster/toolchain";

/** The real kubectl with a kubeconfig: arguments and standard input to standard output. Fails with what it wrote to standard error. */
export function kubectlWith(
  kubeconfig: string,
): (args: readonly string[], input?: string) => Promise<string> {
  return async (args, input) => {
    const program = (await ensureTools(["kubernetes"])).of("kubectl");
    const folder = mkdtempSync(join(tmpdir(), "pulumi-liqo-kubectl-"));
    try {
      const file = join(folder, "kubeconfig");
      writeFileSync(file, kubeconfig, { mode: 0o600 });
      const env = { ...process.env, KUBECONFIG: file };
      return await runCommand(program, args, { env, input, timeoutMs: 60_000 });
    } finally {
      rmSync(folder, { recursive: true, force: true });
    }
  };
}
