/** `npm run dev`: on each change of the runtime's sources, builds its image and restarts it in the clusters of the quick start. */
import { spawn } from "node:child_process";
import { watch } from "node:fs";
import { join } from "node:path";

import { localImages } from "../provider/local-cluster/local-images";
import { getCluster, importImages } from "../provider/local-cluster/local-clusters";
import { Deployment, packageRoot } from "../runtime/api";
import { KubeClient } from "../runtime/kube";
import { DeploymentName } from "../runtime/plan/deployments";

/** The clusters of examples/quick-start and the namespaces of their control planes. */
const INSTALLATIONS = [
  { cluster: "rome", namespace: "liqo" },
  { cluster: "milan", namespace: "liqo-system" },
];
/** An editor writes several files for one change. */
const QUIET_MS = 300;

const root = packageRoot();
const say = (line: string) => console.log(`${new Date().toTimeString().slice(0, 8)}  ${line}`);

async function roll(): Promise<void> {
  const from = performance.now();
  if (!(await compile())) return say("not rolled out: the sources do not compile");
  const { runtime } = await localImages(say);
  await Promise.all(INSTALLATIONS.map((installation) => restart(installation, runtime)));
  say(`${runtime.name} runs in both clusters after ${((performance.now() - from) / 1000).toFixed(1)} s`);
}

function compile(): Promise<boolean> {
  return new Promise((resolve, reject) => {
    const compiler = join(root, "node_modules", "typescript7", "bin", "tsc");
    const child = spawn(process.execPath, [compiler, "-p", join(root, "tsconfig.json")], {
      stdio: "inherit",
    });
    child.on("error", reject);
    child.on("close", (code) => resolve(code === 0));
  });
}

async function restart(
  { cluster, namespace }: (typeof INSTALLATIONS)[number],
  image: { name: string; file: string },
): Promise<void> {
  const running = await getCluster(cluster);
  if (running === undefined) throw new Error(`the cluster ${cluster} does not run; begin with npm start`);
  await importImages(cluster, [image.file]);
  const client = KubeClient.fromKubeconfig(running.kubeconfig);
  try {
    for (const name of Object.values(DeploymentName)) {
      const container = name.replace(/^liqo-/, "");
      const body = { spec: { template: { spec: { containers: [{ name: container, image: image.name }] } } } };
      await client.patch(Deployment, { name, namespace }, body, { type: "strategic" });
    }
    await Promise.all(Object.values(DeploymentName).map((name) => rolledOut(client, { name, namespace })));
  } finally {
    client.close();
  }
}

async function rolledOut(client: KubeClient, ref: { name: string; namespace: string }): Promise<void> {
  for (const deadline = Date.now() + 60_000; Date.now() < deadline;) {
    const deployment = await client.get(Deployment, ref);
    const { replicas = 1 } = deployment?.spec ?? {};
    const { status } = deployment ?? {};
    const current = status?.observedGeneration === deployment?.metadata.generation;
    if (current && status?.updatedReplicas === replicas && status.readyReplicas === replicas) return;
    await new Promise((resolve) => setTimeout(resolve, 500));
  }
  say(
    `${ref.name} in ${ref.namespace} is not ready after 60 s; look with: npm run -s kubectl -- <cluster> logs`,
  );
}

async function watchSources(): Promise<void> {
  let changed = true;
  let wake = () => {};
  watch(join(root, "runtime"), { recursive: true }, (_event, file) => {
    if (file?.endsWith(".ts") !== true) return;
    changed = true;
    wake();
  });
  for (;;) {
    if (changed) {
      changed = false;
      await new Promise((resolve) => setTimeout(resolve, QUIET_MS));
      await roll().catch((error: unknown) => say(error instanceof Error ? error.message : String(error)));
    } else {
      await new Promise<void>((resolve) => (wake = resolve));
    }
  }
}

say("watching runtime/; Ctrl-C ends it");
watchSources().catch((error: unknown) => {
  console.error(error);
  process.exitCode = 1;
});
