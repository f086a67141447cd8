import { z } from "zod";

import * as flag from "../component/flags";
import {
  EndpointSlice,
  Finalizer,
  FirewallConfiguration,
  InternalNode,
  Label,
  RouteConfiguration,
} from "../api";
import { UsageError } from "../component/command-line";
import { defineComponent } from "../component/component";
import { type RuntimeContext, watches } from "../kube";
import { type AgentContext, agentFlags } from "../networking/agent/agent";
import { RefusedNamespaces } from "../networking/agent/applied-condition";
import { HostGuard } from "../networking/agent/host-guard";
import { OverlayCaches } from "../networking/agent/overlay-links";
import { runRoutesPass } from "../networking/agent/routes-pass";
import { runTablesPass } from "../networking/agent/tables-pass";
import { kernelFault } from "../networking/kernel/host-settings";
import { Kernel } from "../networking/kernel/kernel";
import { monitorLinksAndRoutes, monitorTables } from "../networking/kernel/monitor";
import { categorySelector, isFirewallOfNode, isRouteOfNode, labelValue } from "../networking/labels";
import { runInternalNodeController } from "./internal-node-controller";
import { nodeOverlay } from "./overlay";
import { cleanUp, freeHost, goesForGood } from "./removal";

/** Flags of the agent on each node, by upstream's names (networking reference 19.2). */
export const fabricFlags = z.object({
  nodename: flag.text(process.env.NODE_NAME ?? ""),
  /** With its namespace, tells whether the agent goes for good when it ends. */
  podname: flag.text(process.env.POD_NAME ?? ""),
  podNamespace: flag.text(process.env.POD_NAMESPACE ?? ""),
  /** Removes what agents have put on this node, and ends. */
  cleanUp: flag.boolean(false),
  ...agentFlags,
  /** Off by default: nft would read all tables of the host after every change, whoever makes it. The next periodic look finds the change, too. */
  enableNftMonitor: flag.boolean(false),
});
type FabricFlags = z.output<typeof fabricFlags>;

/** The agent on each node. */
export const fabric = defineComponent({ name: "fabric", flags: fabricFlags, start: startFabric });

/**
 * Starts the agent of a node: the overlay to the gateways, the routes to peers through them, and the tables that keep addresses right on the
 * way (networking reference 11). It touches only what agents have set: what has their protocol number, their mark, or their prefix.
 */
async function startFabric(runtime: RuntimeContext, flags: FabricFlags): Promise<void> {
  const kernel = new Kernel(runtime.metrics);
  if (flags.cleanUp) {
    await cleanUp(kernel);
    runtime.log.info("cleaned up");
    process.kill(process.pid, "SIGTERM");
    return;
  }
  if (flags.nodename === "") throw new UsageError("--nodename is missing; give the name of the node");
  const fault = flags.disableKernelVersionCheck ? undefined : kernelFault(flags.minimumKernelVersion);
  if (fault !== undefined) throw new Error(fault);

  const { informers, signal } = runtime;
  const agent: AgentContext = {
    runtime,
    kernel,
    host: flags.nodename,
    reports: () => true,
    reported: new Map(),
    refused: new RefusedNamespaces(() => runtime.clock.monotonic()),
    resyncMs: flags.resyncInterval,
  };
  const nodes = informers.informer(InternalNode);
  const apiServer = informers.informer(EndpointSlice, {
    namespace: "default",
    fieldSelector: "metadata.name=kubernetes",
  });
  const guard = new HostGuard(
    kernel,
    () => [
      process.env.KUBERNETES_SERVICE_HOST ?? "",
      ...apiServer.list().flatMap(({ endpoints }) => (endpoints ?? []).flatMap(({ addresses }) => addresses)),
    ],
    () => {
      tables.again();
      internalNode.again();
    },
  );
  await freeHost(kernel, guard, runtime.log, () => cleanUp(kernel));
  const internalNode = runInternalNodeController(
    runtime,
    kernel,
    nodes,
    flags.nodename,
    () => guard.defaultGateways,
  );
  const tables = runTablesPass(agent, {
    guard,
    guardSources: (key) => [watches(apiServer, { keys: () => [key] })],
    firewalls: informers.informer(FirewallConfiguration, {
      labelSelector: categorySelector.firewall("fabric"),
    }),
    isOurs: (object) => isFirewallOfNode(object, flags.nodename),
    finalizer: Finalizer.firewallConfiguration,
    alone: false,
  });
  const overlay = new OverlayCaches(informers, {
    tunnels: { labelSelector: `${Label.internalNodeName}=${labelValue(flags.nodename)}` },
  });
  const overlayOptions = { node: flags.nodename, port: flags.genevePort, arp: !flags.disableArp };
  const routes = runRoutesPass(agent, {
    routes: informers.informer(RouteConfiguration, { labelSelector: categorySelector.route("fabric") }),
    isOurs: isRouteOfNode,
    finalizer: Finalizer.routeConfiguration,
    overlay: () => nodeOverlay(overlay, overlayOptions),
    overlaySources: (key) => [...overlay.sources(key), watches(apiServer, { keys: () => [key] })],
    guard,
    after: tables.first,
  });
  if (flags.enableRouteMonitor) {
    monitorLinksAndRoutes(runtime, () => {
      routes.again();
      internalNode.again();
    });
  }
  if (flags.enableNftMonitor) monitorTables(runtime, () => tables.again());

  runtime.shutdown.add(
    new Promise<void>((resolve) => {
      signal.addEventListener("abort", () => resolve(), { once: true });
    }).then(async () => {
      await Promise.all([routes.controller.stop(), tables.controller.stop()]);
      const pod = { name: flags.podname, namespace: flags.podNamespace };
      if (await goesForGood(runtime, pod)) await cleanUp(kernel);
    }),
  );
}
