import { ResourceSlice } from "../../api/authentication";
import { Annotation, Label, LabelValue } from "../../api/keys";
import type { ManifestOf } from "../../plan/manifest";
import { parseQuantity } from "../../api/quantity";
import { resourceSlice, type PeeringSide } from "../../plan/peering";
import { sliceRequestSchema } from "../../plan/offloading";
import { parseArguments } from "../../plan/arguments";
import type { Cluster } from "../cluster/cluster";
import type { Run } from "../run";
import { waitUntil } from "../wait";

export function sliceManifest(options: {
  name: string;
  namespace: string;
  providerId: string;
  class: string;
  resources: Record<string, string> | undefined;
  createVirtualNode: boolean;
}): ManifestOf<ResourceSlice> {
  const request = parseArguments(sliceRequestSchema, `ResourceSlice "${options.name}"`, {
    providerClusterId: options.providerId,
    tenantNamespace: options.namespace,
    sliceName: options.name,
    class: options.class,
    ...(options.resources === undefined ? {} : { resources: options.resources }),
  });
  const manifest = resourceSlice(request, options.createVirtualNode);
  // A slice that has a virtual node keeps it: taking the annotation away is nothing that the absence of a flag says.
  if (!options.createVirtualNode) delete manifest.metadata.annotations?.[Annotation.createVirtualNode];
  return manifest;
}

/** What came of a slice. */
export type Answer =
  { granted: true; resources: Record<string, string> } | { granted: false; reason: string };

/** Asks for resources, and waits until the provider has answered. */
export async function requestSlice(
  run: Run,
  consumer: Cluster,
  manifest: ManifestOf<ResourceSlice>,
): Promise<Answer> {
  const { name, namespace } = manifest.metadata;
  const next = `see the events of the slice: kubectl describe rslice ${name} -n ${namespace}, and "liqoctl info peer"`;
  return await run.progress.step(
    consumer.scope,
    `ask for the resources of slice ${name}`,
    async (waiting) => {
      const { change } = await consumer.ensure(run, ResourceSlice, manifest);
      if (change !== "none")
        run.progress.info(consumer.scope, `slice ${name} ${change === "created" ? "made" : "changed"}`);
      return await waitUntil(run, { waiting, next }, async () => {
        const slice = await consumer.client.get(ResourceSlice, manifest.metadata, run.call);
        const answer = judge(slice);
        return typeof answer === "string" ? { is: "open", seen: answer } : { is: "met", value: answer };
      });
    },
    (answer) => `slice ${name} is ${answer.granted ? `granted: ${listed(answer.resources)}` : "denied"}`,
  );
}

/** The answer, or what is still missing. */
export function judge(slice: ResourceSlice | undefined): Answer | string {
  if (slice === undefined) return "the slice does not exist";
  const of = (type: "Authentication" | "Resources") =>
    slice.status?.conditions?.find((condition) => condition.type === type);
  const authentication = of("Authentication");
  const resources = of("Resources");
  const denied = [authentication, resources].find((condition) => condition?.status === "Denied");
  if (denied !== undefined)
    return {
      granted: false,
      reason: `${denied.type} is Denied (${denied.reason ?? ""}): ${denied.message ?? ""}`,
    };
  if (authentication === undefined || resources === undefined)
    return "the provider has not answered yet (status.conditions)";
  const granted = slice.status?.resources ?? {};
  const asked = slice.spec.resources ?? {};
  // The answer to an earlier request stands there until the new one is answered. Classes of others may grant what they like.
  const builtIn = (slice.spec.class ?? "") === "" || slice.spec.class === "default";
  const open = Object.entries(builtIn ? asked : {}).find(([key, value]) => !sameAmount(granted[key], value));
  if (open !== undefined) return `the provider still grants ${open[0]} ${String(granted[open[0]] ?? "0")}`;
  return {
    granted: true,
    resources: Object.fromEntries(Object.entries(granted).map(([key, value]) => [key, String(value)])),
  };
}

function sameAmount(granted: string | number | undefined, asked: string | number): boolean {
  return granted !== undefined && parseQuantity(granted) === parseQuantity(asked);
}

export function listed(resources: Record<string, string>): string {
  return Object.entries(resources)
    .map(([key, value]) => `${key}=${value}`)
    .join(", ");
}

/** Removes every slice toward a provider; returns when their finalizers are through, unless it is not to wait. */
export async function removeSlices(
  run: Run,
  consumer: Cluster,
  { side, providerId, wait }: { side: PeeringSide; providerId: string; wait: boolean },
): Promise<void> {
  const mine = async () =>
    (await consumer.client.list(ResourceSlice, { namespace: side.tenantNamespace }, run.call)).filter(
      (slice) => isTowards(slice, providerId),
    );
  await run.progress.step(
    consumer.scope,
    "remove the slices",
    async (waiting) => {
      const slices = await mine();
      for (const { metadata } of slices)
        await consumer.client.delete(ResourceSlice, metadata, { ...run.call, uid: metadata.uid ?? "" });
      if (wait) {
        await waitUntil(
          run,
          {
            waiting,
            next: 'a slice goes when its pods are evicted and its copy at the provider is gone; see its events, and that the provider can be reached. For a provider that is gone for good there is "liqoctl force unpeer"',
          },
          async () => {
            const left = await mine();
            return left.length === 0
              ? { is: "met", value: undefined }
              : { is: "open", seen: `${left.map(({ metadata }) => metadata.name).join(", ")} still there` };
          },
        );
      }
      return slices;
    },
    (slices) =>
      slices.length === 0
        ? "no slices are there"
        : `slices removed: ${slices.map(({ metadata }) => metadata.name).join(", ")}`,
  );
}

/** Whether a slice is this cluster's own request to a provider, rather than the copy of a consumer's. */
export function isTowards({ metadata: { labels = {} } }: ResourceSlice, providerId: string): boolean {
  return labels[Label.replication] === LabelValue.true && labels[Label.replicationDestination] === providerId;
}
