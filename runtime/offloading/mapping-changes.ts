import { Name, type NamespaceMap } from "../api";
import { type Informer, isDeleting, type Source } from "../kube";
import { clusterOfSource } from "./shared-caches";

/** The namespaces whose entry in a map of ours changed, and those of the same remote name; all of them when a map comes or goes, since it may concern any. */
export function mappingChanges(
  maps: Informer<NamespaceMap>,
  everyOffloading: () => string[],
  ofRemoteName: (remoteName: string) => string[],
): Source {
  return {
    whenSynced: () => maps.whenSynced(),
    start: (enqueue) => {
      const all = (map: NamespaceMap) => {
        if (clusterOfSource(map) !== undefined) everyOffloading().forEach(enqueue);
      };
      return maps.on({
        added: all,
        deleted: all,
        updated: (before, after) => {
          if (clusterOfSource(after) === undefined) return;
          if (isDeleting(before) !== isDeleting(after)) return all(after);
          for (const namespace of changedNamespaces(before, after)) {
            enqueue(keyIn(namespace));
            // Others may wait for the remote name.
            for (const name of remoteNames(namespace, before, after)) ofRemoteName(name).forEach(enqueue);
          }
        },
      });
    },
  };
}

function changedNamespaces(before: NamespaceMap, after: NamespaceMap): string[] {
  const entry = ({ spec, status }: NamespaceMap, namespace: string) =>
    JSON.stringify([spec.desiredMapping?.[namespace], status?.currentMapping?.[namespace]]);
  const names = [before, after].flatMap(({ spec, status }) => [
    ...Object.keys(spec.desiredMapping ?? {}),
    ...Object.keys(status?.currentMapping ?? {}),
  ]);
  return [...new Set(names)].filter((namespace) => entry(before, namespace) !== entry(after, namespace));
}

function remoteNames(namespace: string, ...maps: readonly NamespaceMap[]): Set<string> {
  const names = maps.flatMap(({ spec, status }) => [
    spec.desiredMapping?.[namespace],
    status?.currentMapping?.[namespace]?.remoteNamespace,
  ]);
  return new Set(names.filter((name) => name !== undefined));
}

/** Key of the NamespaceOffloading of a namespace. */
export function keyIn(namespace: string): string {
  return `${namespace}/${Name.namespaceOffloading}`;
}
