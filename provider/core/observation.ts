import { z } from "zod";

import type { Kind, KubeObject, ObjectRef } from "../../runtime/api";
import { checkEnvelope } from "../../runtime/api/invalid-object";
import { ApiError, type CallOptions, collectionPath, type KubeClient, withQuery } from "../../runtime/kube";

/** One object as it is at a moment. */
export interface Observation<T> {
  object: T | undefined;
  /** Resolves when the object may have changed since, at the latest after the time given; rejects when the watch fails. */
  change(withinMs: number): Promise<void>;
}

/**
 * Reads an object together with the point from which to watch it. The watch only wakes the caller, who reads again: what counts is the
 * present object, so no event can be missed or come in the wrong order.
 */
export async function observe<T extends KubeObject>(
  client: KubeClient,
  kind: Kind<T>,
  ref: ObjectRef,
  limits: { signal: AbortSignal; deadlineMs: number },
): Promise<Observation<T>> {
  const fieldSelector = `metadata.name=${ref.name}`;
  const namespace = kind.namespaced ? ref.namespace : undefined;
  const selection = { fieldSelector, ...(namespace !== undefined && { namespace }) };
  const pages = client.listPages(kind, selection, limits);
  const { value: page } = await pages.next();
  await pages.return(undefined);
  return {
    object: page?.items[0],
    change: (withinMs) =>
      firstEvent(
        client,
        withQuery(collectionPath(kind, namespace), {
          watch: "true",
          fieldSelector,
          resourceVersion: page?.resourceVersion,
          timeoutSeconds: Math.max(1, Math.ceil(withinMs / 1000)),
        }),
        { signal: limits.signal, withinMs },
      ),
  };
}

async function firstEvent(
  client: KubeClient,
  path: string,
  limits: { signal: AbortSignal; withinMs: number },
): Promise<void> {
  const { body, status } = await client.stream({ path, signal: limits.signal });
  if (status !== 200) {
    // Mostly 410: the point to watch from is gone, and reading again gives a new one.
    body.destroy();
    return;
  }
  await new Promise<void>((resolve, reject) => {
    // The server ends the watch by itself; the timer is for a connection that died silently.
    const timer = setTimeout(done, limits.withinMs + 1_000);
    function done(): void {
      clearTimeout(timer);
      body.destroy();
      resolve();
    }
    body.once("data", done).once("end", done);
    body.once("error", (error) => {
      clearTimeout(timer);
      reject(error);
    });
  });
}

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
