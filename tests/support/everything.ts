/** What a cluster holds: to show that something left nothing behind. */
import { z } from "zod";

import type { KubeClient } from "../../runtime/kube";

const groups = z.object({
  groups: z.array(z.object({ preferredVersion: z.object({ groupVersion: z.string() }) })),
});
const resources = z.object({
  resources: z.array(z.object({ name: z.string(), kind: z.string(), verbs: z.array(z.string()) })),
});
const list = z.object({
  items: z
    .array(z.object({ metadata: z.object({ name: z.string(), namespace: z.string().optional() }) }))
    .nullable(),
});

/** Records that Kubernetes keeps of what happened, and removes by itself. */
const PASSING = new Set(["Event", "CertificateSigningRequest", "ControllerRevision"]);

/** Every object of every kind, as `kind namespace/name`. */
export async function everything(client: KubeClient): Promise<string[]> {
  const versions = groups
    .parse(await get(client, "/apis"))
    .groups.map(({ preferredVersion }) => `/apis/${preferredVersion.groupVersion}`);
  const names = await Promise.all(
    ["/api/v1", ...versions].map(async (version) => {
      const served = resources.parse(await get(client, version)).resources;
      const listed = served.filter(
        ({ name, kind, verbs }) => verbs.includes("list") && !name.includes("/") && !PASSING.has(kind),
      );
      return Promise.all(
        listed.map(async ({ name: plural, kind }) => {
          const { items } = list.parse(await get(client, `${version}/${plural}`));
          return (items ?? []).map(
            ({ metadata: { name, namespace } }) =>
              `${kind} ${namespace === undefined ? "" : `${namespace}/`}${name}`,
          );
        }),
      );
    }),
  );
  return [...new Set(names.flat(2))].sort();
}

async function get(client: KubeClient, path: string): Promise<unknown> {
  const { status, body } = await client.raw({ path });
  if (status !== 200) throw new Error(`GET ${path}: ${status}`);
  return JSON.parse(body.toString("utf8"));
}
