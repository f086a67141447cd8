/** Puts the definitions of all kinds of ours into a control plane, and waits until they are served. */
import { isDeepStrictEqual } from "node:util";

import { z } from "zod";

import { CustomResourceDefinition } from "../../runtime/api/kubernetes";
import { OWN_KINDS } from "../../runtime/api/crd";
import type { KubeClient } from "../../runtime/kube";
import { definitions } from "../../runtime/plan/installation";
import { until } from "./until";

const discovery = z.object({ resources: z.array(z.object({ name: z.string() })) });

/** Writes only the definitions that the cluster has not, or has otherwise: control planes may start with them (`stored-definitions.ts`). */
export async function installDefinitions(client: KubeClient): Promise<void> {
  const present = new Map(
    (await client.list(CustomResourceDefinition)).map((definition) => [definition.metadata.name, definition]),
  );
  await Promise.all(
    definitions()
      .filter((definition) => !isAs(definition, present.get(definition.metadata.name)))
      .map((definition) =>
        client.apply(CustomResourceDefinition, definition, { fieldManager: "test", force: true }),
      ),
  );
  await untilServed(client);
}

/** Whether a definition in a cluster is the one wanted, but for what the API server adds. */
function isAs(wanted: CustomResourceDefinition, present: CustomResourceDefinition | undefined): boolean {
  if (present === undefined) return false;
  const { labels = {} } = present.metadata;
  return (
    Object.entries(wanted.metadata.labels ?? {}).every(([key, value]) => labels[key] === value) &&
    isDeepStrictEqual(
      JSON.parse(JSON.stringify({ conversion: { strategy: "None" }, ...wanted.spec })),
      present.spec,
    )
  );
}

/** Asks each group what it serves: a request to each kind would have the API server prepare all of them, which costs it seconds. */
async function untilServed(client: KubeClient): Promise<void> {
  const versions = Map.groupBy(OWN_KINDS, ({ definition: { group, version } }) => `${group}/${version}`);
  await Promise.all(
    [...versions].map(([version, kinds]) =>
      until(`${version} is served`, async () => {
        const { status, body } = await client.raw({ path: `/apis/${version}` });
        if (status !== 200) return false;
        const { resources } = discovery.parse(JSON.parse(body.toString()));
        const served = new Set(resources.map(({ name }) => name));
        return kinds.every(({ definition }) => served.has(definition.plural));
      }),
    ),
  );
}
