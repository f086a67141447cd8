/** `npm run kubectl -- <cluster> <arguments of kubectl>`: kubectl with the administrator's kubeconfig of a local cluster. */
import { spawn } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

import { getCluster, listClusters } from "../provider/local-cluster/local-clusters";
import { findExecutable } from "../provider/local-cluster/find-executable";
import { ensureTools } from "../provider/local-cluster/toolchain";

async function kubectl([name = "", ...parameters]: string[]): Promise<number> {
  const cluster = await getCluster(name);
  if (cluster === undefined) {
    const running = (await listClusters()).filter((one) => one.running).map((one) => one.name);
    throw new Error(
      `no local cluster named ${JSON.stringify(name)} runs; ${running.length > 0 ? `there are ${running.join(", ")}` : "npm start makes some"}`,
    );
  }
  const program =
    findExecutable("kubectl") ??
    (await ensureTools(["kubernetes"], { progress: (line) => console.error(line) })).of("kubectl");
  const folder = mkdtempSync(join(tmpdir(), "pulumi-liqo-kubectl-"));
  try {
    const kubeconfig = join(folder, "kubeconfig");
    writeFileSync(kubeconfig, cluster.kubeconfig, { mode: 0o600 });
    return await new Promise((resolve, reject) => {
      const child = spawn(program, parameters, {
        stdio: "inherit",
        env: { ...process.env, KUBECONFIG: kubeconfig },
      });
      process.on("SIGINT", () => undefined); // kubectl gets it too, and ends by itself
      child.on("error", reject);
      child.on("close", (code) => resolve(code ?? 1));
    });
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

kubectl(process.argv.slice(2)).then(
  (code) => (process.exitCode = code),
  (error: unknown) => {
    console.error(error instanceof Error ? error.message : error);
    process.exitCode = 1;
  },
);
