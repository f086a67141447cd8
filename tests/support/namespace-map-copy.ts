/** Carries NamespaceMaps from a consumer to a provider and their status back, as the replicator does, for tests that run without it. */
import { Label, NamespaceMap } from "../../runtime/api";
import {
  type Controller,
  patchStatusIfChanged,
  runController,
  watches,
  writeIfChanged,
} from "../../runtime/kube";
import type { TestContext } from "./runtime-context";

export interface CopyOptions {
  consumer: { context: TestContext; clusterId: string };
  provider: { context: TestContext; clusterId: string };
  /** Namespace of the copies. */
  tenantNamespace: string;
}

const FINALIZER = "crdreplicator.liqo.io/resource";

export function copyNamespaceMaps({ consumer, provider, tenantNamespace }: CopyOptions): Controller {
  const sources = consumer.context.informers.informer(NamespaceMap);
  const copies = provider.context.informers.informer(NamespaceMap);
  return runController(
    {
      name: "namespacemap-copy",
      sources: [
        watches(sources, { keys: ({ metadata }) => [metadata.name] }),
        watches(copies, { keys: ({ metadata }) => [metadata.name] }),
      ],
      reconcile: async (name) => {
        const source = sources.list().find(({ metadata }) => metadata.name === name);
        const copy = copies.get(name, tenantNamespace);
        if (source === undefined) return;
        const { finalizers = [], deletionTimestamp } = source.metadata;
        if (typeof deletionTimestamp === "string") {
          if (copy !== undefined) await provider.context.client.delete(NamespaceMap, copy.metadata);
          else {
            const rest = finalizers.filter((one) => one !== FINALIZER);
            await consumer.context.client.patch(
              NamespaceMap,
              source.metadata,
              { metadata: { finalizers: rest } },
              { type: "merge" },
            );
          }
          return;
        }
        await writeIfChanged(
          consumer.context.client,
          NamespaceMap,
          {
            ...source,
            metadata: { ...source.metadata, finalizers: [...new Set([...finalizers, FINALIZER])] },
          },
          source,
        );
        const { object } = await writeIfChanged(
          provider.context.client,
          NamespaceMap,
          {
            apiVersion: source.apiVersion,
            kind: source.kind,
            metadata: {
              name,
              namespace: tenantNamespace,
              labels: {
                [Label.replication]: "false",
                [Label.replicated]: "true",
                [Label.replicationOrigin]: consumer.clusterId,
                [Label.replicationDestination]: provider.clusterId,
                [Label.remoteClusterID]: consumer.clusterId,
              },
            },
            spec: { desiredMapping: source.spec.desiredMapping ?? {} },
          },
          copy,
          { exact: ["spec"] },
        );
        await patchStatusIfChanged(
          consumer.context.client,
          NamespaceMap,
          source,
          { currentMapping: object.status?.currentMapping ?? {} },
          { exact: ["currentMapping"] },
        );
      },
    },
    { ...consumer.context, signal: provider.context.signal },
  );
}
