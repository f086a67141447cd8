import { z } from "zod";

import type { Kind, KubeObject } from "../../runtime/api";
import { checkEnvelope } from "../../runtime/api/invalid-object";
import { ApiError, type CallOptions, type KubeClient } from "../../runtime/kube";

const resourceList = z.object({
  resources: z.array(z.object({ name: z.string(), kind: z.string(), namespaced: z.boolean() })),
});

/** Asks an API server how it serves a kind; undefined when it does not (yet). */
export async function discoverKind(
  client: KubeClient,
  apiVersion: string,
  kind: string,
  call: CallOptions,
): Promise<Kind<KubeObject> | undefined> {
  const path = apiVersion.includes("/") ? `/apis/${apiVersion}` : `/api/${apiVersion}`;
  const answer = await client.raw({ path, ...call });
  if (answer.status === 404) return undefined;
  const body = answer.body.toString("utf8");
  if (answer.status !== 200) throw ApiError.fromBody(`list the kinds of ${apiVersion}`, answer.status, body);
  const { resources } = resourceList.parse(JSON.parse(body));
  const found = resources.find((resource) => resource.kind === kind && !resource.name.includes("/"));
  return found && servedKind(apiVersion, kind, found.name, found.namespaced);
}

/** A kind whose objects are known by their envelope only. */
function servedKind(apiVersion: string, kind: string, plural: string, namespaced: boolean): Kind<KubeObject> {
  const slash = apiVersion.indexOf("/");
  const read = (value: unknown): KubeObject => envelope.parse(checkEnvelope({ apiVersion, kind }, value));
  return {
    group: slash < 0 ? "" : apiVersion.slice(0, slash),
    version: apiVersion.slice(slash + 1),
    apiVersion,
    kind,
    plural,
    namespaced,
    parse: read,
    fromApiServer: read,
  };
}

/** Everything beside the envelope stays, for the paths that look into it. */
const envelope = z.looseObject({
  apiVersion: z.string(),
  kind: z.string(),
  metadata: z.looseObject({
    name: z.string(),
    namespace: z.string().optional(),
    uid: z.string().optional(),
    resourceVersion: z.string().optional(),
    generation: z.number().optional(),
    deletionTimestamp: z.string().optional(),
    finalizers: z.array(z.string()).optional(),
  }),
});
