/** Puts the definitions of all kinds of ours into a control plane, and waits until they are served. */
import type { KubeClient } from "../../runtime/kube";
import { crds } from "../../runtime/api/generate/custom-resource-definition";
import { CustomResourceDefinition } from "../../runtime/api/kubernetes";
import { OWN_KINDS } from "../../runtime/api/own-kinds";
import { until } from "./until";

export async function installDefinitions(client: KubeClient): Promise<void> {
  await Promise.all(
    crds().map((definition) =>
      client.apply(CustomResourceDefinition, definition, { fieldManager: "test", force: true }),
    ),
  );
  await Promise.all(
    OWN_KINDS.map(({ definition: { group, version, plural } }) =>
      until(`${plural} are served`, async () => {
        const { status } = await client.raw({ path: `/apis/${group}/${version}/${plural}?limit=1` });
        return status === 200;
      }),
    ),
  );
}
