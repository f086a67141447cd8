import { AsyncResource } from "node:async_hooks";

import * as pulumi from "@pulumi/pulumi";
import { z } from "zod";

import { clusterIdFault, existingObject, lookBeforehand } from "../../provider/existing-objects";
import { standingIn } from "../../provider/tenant-namespace";
import { Name } from "../../runtime/api/keys";
import type { KubeClient } from "../../runtime/kube";
import type { ClusterArgs } from "./cluster";
import { isMocked } from "./program-run";

/**
 * Looks at a cluster before something is made there, in the preview already: Kubernetes plugins of before 4.29 take over in silence what is there under
 * the same name, and later ones fail halfway. Both make nothing without this look, because the engine asks for it before each creation.
 *
 * What is not known yet, and a cluster that cannot be reached yet, is not looked at.
 */
export class ExistingObjects {
  private kubeconfig: string | undefined;
  private clusterId: string | undefined;
  private liqoNamespace: string | undefined;
  private readonly adopt: boolean;

  constructor({
    kubeconfig,
    clusterId,
    liqoNamespace,
    adoptExisting = false,
  }: Omit<ClusterArgs, "provider">) {
    this.adopt = adoptExisting;
    // The objects depend on these values too, so when the engine calls, they are known, or unknown for the whole preview.
    pulumi.output(kubeconfig).apply((text) => (this.kubeconfig = text));
    pulumi
      .output({ clusterId, liqoNamespace: liqoNamespace ?? Name.liqoNamespace })
      .apply((known) => Object.assign(this, known));
  }

  /** For an object of the Kubernetes plugin: it must not be there, unless the program says that it takes over what is there. */
  beforeObject(type: string, name: string): pulumi.ResourceHookBinding {
    return this.before(`${type}_${name}`, async (client, inputs, signal) => {
      const object = objectInputs.safeParse(inputs).data;
      if (object === undefined) return;
      await existingObject(client, object, { adopt: this.adopt, preview: isPreview(), signal, tell });
    });
  }

  /**
   * For a tenant namespace: one that is there is taken where its labels say that it is for this peer. All of a peering needs it, and so nothing is made
   * anew for a cluster ID that is not the peer's.
   */
  beforeTenantNamespace(name: string, peer: ExistingObjects): pulumi.ResourceHookBinding {
    return this.before(`TenantNamespace_${name}`, async (client, inputs, signal) => {
      await peer.checkClusterId();
      const wanted = namespaceInputs.safeParse(inputs).data;
      if (wanted === undefined) return;
      const { standing } = await standingIn(client, wanted, { signal });
      if (standing.is === "foreign") throw new Error(`${client.server}: ${standing.reason}`);
      if (standing.is === "present" && isPreview())
        tell(
          `namespace ${wanted.name} at ${client.server} is there, ${standing.whose}: it will be held as well`,
        );
    });
  }

  /** For the provider of an end of a peering: its cluster is that of the cluster ID. Objects of an ID that is not would be made in vain. */
  beforeProvider(name: string): pulumi.ResourceHookBinding {
    return hookBefore(`Provider_${name}`, () => this.checkClusterId());
  }

  private async checkClusterId(): Promise<void> {
    const { kubeconfig, clusterId, liqoNamespace } = this;
    if (kubeconfig === undefined || clusterId === undefined || liqoNamespace === undefined) return;
    await lookBeforehand(kubeconfig, async (client, signal) => {
      const fault = await clusterIdFault(client, { clusterId, namespace: liqoNamespace }, signal);
      if (fault !== undefined) throw new Error(fault);
    });
  }

  private before(what: string, look: Look): pulumi.ResourceHookBinding {
    return hookBefore(what, async (inputs) => {
      const { kubeconfig } = this;
      if (kubeconfig === undefined) return;
      await lookBeforehand(kubeconfig, (client, signal) => look(client, inputs, signal));
    });
  }
}

function hookBefore(
  what: string,
  check: (inputs: Record<string, unknown>) => Promise<void>,
): pulumi.ResourceHookBinding {
  if (isMocked()) return {};
  // The engine calls the hook outside the program's run, and a process may have several runs: bind it to this one.
  const hook = AsyncResource.bind(({ newInputs = {} }: pulumi.ResourceHookArgs) => check(newInputs));
  return { beforeCreate: [new pulumi.ResourceHook(`${what}_existing`, hook, { onDryRun: true })] };
}

type Look = (client: KubeClient, inputs: Record<string, unknown>, signal: AbortSignal) => Promise<void>;

const isPreview = () => pulumi.runtime.isDryRun();
const tell = (line: string) => void pulumi.log.info(line);

const objectInputs = z.object({
  apiVersion: z.string(),
  kind: z.string(),
  metadata: z.object({
    name: z.string(),
    namespace: z.string().optional(),
    labels: z.record(z.string(), z.string()).optional(),
  }),
});

const namespaceInputs = z.object({ name: z.string(), peer: z.string() });
