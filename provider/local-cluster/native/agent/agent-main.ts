/** What runs beside a native cluster as long as it does: `agent-main <cluster>`. Started again when it ends. */
import { readFile } from "node:fs/promises";
import { join } from "node:path";

import { Registry } from "prom-client";

import { createLogger, EventRecorder, InformerSet, KubeClient, systemClock } from "../../../../runtime/kube";
import { readClusterState } from "../cluster-state";
import { findFabric, loadBalancerAddresses } from "../fabric";
import { nativeLayout } from "../layout";
import { AddressAnnouncer } from "./address-announcer";
import { runLoadBalancerController } from "./load-balancer-controller";
import { pullProxyPort } from "./pull-proxy-port";
import { startPullProxy } from "./pull-proxy";
import { runVolumeControllers } from "./volume-controllers";

async function main(name: string): Promise<void> {
  const log = createLogger({ fields: { component: "local-cluster-agent", cluster: name } });
  const layout = nativeLayout();
  const cluster = layout.cluster(name);
  const state = await readClusterState(cluster);
  const fabric = await findFabric(layout);
  if (state === undefined || fabric === undefined) throw new Error(`the cluster ${name} does not run`);

  await startPullProxy(fabric.hostAddress, pullProxyPort(state.slot)).catch((error: unknown) =>
    log.warn("no proxy for pulling images", { error }),
  );
  const client = KubeClient.fromKubeconfig(await readFile(join(cluster.pki, "agent.kubeconfig"), "utf8"), {
    userAgent: "pulumi-liqo-local-cluster",
  });
  const metrics = new Registry();
  const informers = new InformerSet(client, { log, metrics });
  const events = new EventRecorder({ client, component: "local-cluster", log });
  const context = { log, clock: systemClock, signal: new AbortController().signal, metrics, events };
  const pool = loadBalancerAddresses(fabric.range, state.slot);
  const nodes = state.nodes.flatMap(({ name: node, init }) =>
    init === undefined ? [] : [{ name: node, init }],
  );
  const nodeNames = nodes.map((node) => node.name);
  const announcer = await AddressAnnouncer.create(nodes, pool);
  runLoadBalancerController({ client, informers, announcer, pool, nodeNames }, context);
  runVolumeControllers({ client, informers, nodeNames, volumesFolder: cluster.volumes }, context);
  log.info("started", { addresses: `${pool[0]} to ${pool.at(-1)}` });
}

main(process.argv[2] ?? "").catch((error: unknown) => {
  console.error(error);
  process.exit(1);
});
