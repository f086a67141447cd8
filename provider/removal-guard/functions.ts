import { z } from "zod";

import { ForeignCluster } from "../../runtime/api";
import type { KubeClient } from "../../runtime/kube";
import { clusterInputs, inCluster, lookMs, nameInput, timeoutInput } from "../cluster-inputs";
import { identityFaults } from "../preflight/installed-identity";
import type { ProviderContext } from "../resource-definition";
import { resourceFunctions } from "../resource-functions";
import { waitForObject } from "../waiting/object-wait";
import { BLOCKERS, inTheWay, listIfServed } from "./blockers";

const inputs = z.object({
  ...clusterInputs,
  namespace: nameInput.describe("The Liqo namespace."),
  timeoutSeconds: timeoutInput(60),
});

/**
 * Holds the order of a removal: objects first, while the controllers that own their finalizers still run, then the controllers, then the
 * definitions. It makes nothing; its deletion refuses while peerings or offloaded namespaces exist, and takes away what the controllers
 * made and never remove, the ForeignClusters.
 */
export const removalGuard = resourceFunctions({
  type: "RemovalGuard",
  summary:
    "Refuses the removal of an installation that has peerings or offloaded namespaces, and removes what its controllers leave behind while they still run.",
  inputs,
  computed: z.object({}),
  secrets: [],
  secretInputs: ["kubeconfig"],
  replaceOn: ["namespace"],
  // States of before the Preflight knew it have it here.
  validateChange: ({ namespace: had }, { namespace }) => identityFaults({ namespace: had }, { namespace }),

  create: (news) => Promise.resolve({ id: news.namespace, computed: {} }),
  read: () => Promise.resolve({}),
  update: () => Promise.resolve({}),
  delete: (_id, state, context) =>
    inCluster(state, context, async (client) => {
      const found = await inTheWay(client, BLOCKERS, context);
      if (found !== undefined) {
        throw new Error(
          `the installation in namespace ${state.namespace} at ${client.server} is still in use: ${found}; then remove it`,
        );
      }
      await removeForeignClusters(client, state.timeoutSeconds, context);
    }),
});

async function removeForeignClusters(
  client: KubeClient,
  timeoutSeconds: number,
  context: ProviderContext,
): Promise<void> {
  const foreignClusters = await listIfServed(client, ForeignCluster, context);
  await Promise.all(
    foreignClusters.map(async ({ metadata: { name, uid } }) => {
      const limits = { signal: context.signal, deadlineMs: lookMs };
      await client.delete(ForeignCluster, { name }, { ...limits, ...(uid !== undefined && { uid }) });
      await waitForObject(
        {
          client,
          kind: ForeignCluster,
          kindName: "ForeignCluster",
          ref: { name },
          timeoutSeconds,
          what: "its absence",
          nextStep: "see that the controller manager runs, which removes its finalizer",
          judge: (object) =>
            object === undefined
              ? { is: "met", value: undefined }
              : { is: "open", seen: `held by ${object.metadata.finalizers?.join(", ") || "no finalizer"}` },
        },
        context,
      );
    }),
  );
}
