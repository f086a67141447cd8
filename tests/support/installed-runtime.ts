/** The runtime on a real cluster, put there without Pulumi: the same objects, applied one after the other. */
import {
  CustomResourceDefinition,
  Deployment,
  type Desired,
  type KubeObject,
  Namespace,
} from "../../runtime/api";
import type { KubeClient } from "../../runtime/kube";
import { DEFINITIONS_SELECTOR, installation } from "../../runtime/plan/installation";
import { DeploymentName } from "../../runtime/plan/deployments";
import type { InstallationSettings } from "../../runtime/plan/installation-settings";
import { kindOf } from "./kind-of";
import { until } from "./until";

/** Installs the runtime; returns when its Deployments are ready. */
export async function installRuntime(client: KubeClient, settings: InstallationSettings): Promise<void> {
  const manifests = installation(settings);
  const definitions = manifests.filter(({ kind }) => kind === CustomResourceDefinition.kind);
  await Promise.all(definitions.map((manifest) => apply(client, manifest)));
  await until("definitions established", async () => {
    const present = await client.list(CustomResourceDefinition, { labelSelector: DEFINITIONS_SELECTOR });
    const established = present.filter(({ status }) =>
      status?.conditions?.some(({ type, status: is }) => type === "Established" && is === "True"),
    );
    return established.length === definitions.length;
  });
  for (const manifest of manifests.slice(definitions.length)) {
    await until(`${manifest.kind} ${manifest.metadata.name} applied`, async () => {
      await apply(client, manifest);
      return true;
    });
  }
  const { namespace = "liqo" } = settings;
  for (const name of Object.values(DeploymentName)) {
    await until(
      `Deployment ${namespace}/${name} ready`,
      async () => ((await client.get(Deployment, { name, namespace }))?.status?.readyReplicas ?? 0) > 0,
      { timeoutMs: 120_000, everyMs: 250 },
    );
  }
}

/** The namespaces of a cluster that are not Kubernetes' own. */
export async function addedNamespaces(client: KubeClient): Promise<string[]> {
  const namespaces = await client.list(Namespace);
  return namespaces
    .map(({ metadata: { name } }) => name)
    .filter((name) => !name.startsWith("kube-") && name !== "default" && name !== "local-path-storage");
}

function apply(client: KubeClient, object: Desired<KubeObject>): Promise<KubeObject> {
  return client.apply(kindOf(object), object, { fieldManager: "test-administrator", force: true });
}
