/**
 * The webhooks for ShadowPods in a process of their own, for `bench admission`: told over IPC to admit pods, it says what CPU time it took until all
 * that the API server then told of them was read. Arguments: a folder with compiled code, a kubeconfig.
 */
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";

import { z } from "zod";

import type * as Api from "../../runtime/api";
import type * as Kube from "../../runtime/kube";
import type * as Creator from "../../runtime/plan/peer-objects";
import type * as Reviews from "../../runtime/webhooks/admission-review";
import type * as Routes from "../../runtime/webhooks/routes";
import { NAMESPACE, review, SLICE_USER } from "./admission-objects";

const command = z.object({ admit: z.array(z.string()) });

/** Since the last one; milliseconds and bytes. */
export const measured = z.object({
  admittedMs: z.number(),
  cpuMs: z.number(),
  heap: z.number(),
  rss: z.number(),
});

async function main([dist = "", kubeconfig = ""]: string[]): Promise<void> {
  // Another version has the same names here; what it is given beyond its needs does not matter to it.
  const load = async <T>(path: string) => (await import(join(dist, path))) as T;
  const kube = await load<typeof Kube>("runtime/kube/index.js");
  const { ConfigMap } = await load<typeof Api>("runtime/api/index.js");
  const { creatorUserLabel } = await load<typeof Creator>("runtime/plan/creator-user.js");
  const { parseReview } = await load<typeof Reviews>("runtime/webhooks/admission-review.js");
  const { admissionRoutes } = await load<typeof Routes>("runtime/webhooks/routes.js");

  const client = kube.KubeClient.fromKubeconfig(kubeconfig);
  const informers = new kube.InformerSet(client);
  const { signal } = new AbortController();
  const context = { client, informers, clock: kube.systemClock, log: kube.silentLogger, signal };
  const routes = admissionRoutes(context, {
    clusterID: "milan",
    liqoNamespace: "liqo",
    podCidrs: ["10.72.0.0/16"],
    runtimeClass: "liqo",
    vkOptionsTemplate: { namespace: "liqo", name: "virtual-kubelet-default" },
    enforceResources: true,
  });
  const creator = creatorUserLabel(SLICE_USER) ?? "";
  const ask = async (body: string) => {
    await routes["/mutate/shadowpods"]?.(parseReview(body).request);
    return await routes["/validate/shadowpods"]?.(parseReview(body).request);
  };

  let cpu = process.cpuUsage();
  let admittedMs = 0;
  const spent = () => {
    const { user, system } = process.cpuUsage(cpu);
    return (user + system) / 1000;
  };
  // The API server changes it after all else that it had to tell.
  const told = () => {
    const cpuMs = spent();
    globalThis.gc?.();
    const { heapUsed: heap, rss } = process.memoryUsage();
    process.send?.({ admittedMs, cpuMs, heap, rss });
    admittedMs = 0;
    cpu = process.cpuUsage();
  };
  informers.informer(ConfigMap, { namespace: NAMESPACE }).on({ updated: () => setImmediate(told) });
  await informers.whenSynced();
  while ((await ask(review("probe", creator)))?.allowed !== true) await sleep(20);

  process.on("message", (message) => {
    const bodies = command.parse(message).admit.map((name) => review(name, creator));
    void (async () => {
      globalThis.gc?.();
      cpu = process.cpuUsage();
      for (const body of bodies) {
        const verdict = await ask(body);
        if (verdict?.allowed !== true) throw new Error(`not admitted: ${JSON.stringify(verdict)}`);
      }
      admittedMs = spent();
      process.send?.("admitted");
    })();
  });
  process.send?.("ready");
}

if (require.main === module) void main(process.argv.slice(2));
