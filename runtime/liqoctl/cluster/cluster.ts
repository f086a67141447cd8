import type { Desired, Kind, KubeObject, ObjectRef } from "../../api";
import { ConfigMap } from "../../api/kubernetes";
import { DataKey, LabelValue, WellKnownLabel } from "../../api/keys";
import {
  ApiError,
  CannotConnectError,
  ConnectionError,
  DeadlineError,
  KubeClient,
  writeIfChanged,
} from "../../kube";
import { CommandError } from "../failure";
import type { ClusterFlags, RemoteFlags } from "../options";
import type { Run } from "../run";
import type { Scope } from "../terminal";
import { findKubeconfigFiles, mergeKubeconfigs } from "./kubeconfig-files";

/** A cluster that a command works on. */
export class Cluster {
  private id: string | undefined;

  constructor(
    readonly scope: Scope,
    readonly client: KubeClient,
    readonly liqoNamespace: string,
    /** Which flag chose it, for messages. */
    readonly flag: string,
  ) {}

  /** The ID that the installation says (control plane reference 3.1); asked once. */
  async clusterId(run: Run): Promise<string> {
    this.id ??= await this.readClusterId(run);
    return this.id;
  }

  private async readClusterId(run: Run): Promise<string> {
    const { liqoNamespace: namespace } = this;
    const labelSelector = `${WellKnownLabel.appName}=${LabelValue.clusterIDConfigMap}`;
    const found = await reached(this, () =>
      this.client.list(ConfigMap, { namespace, labelSelector }, run.call),
    );
    const [only, second] = found;
    if (only === undefined) {
      throw new CommandError(
        `Liqo is not installed in namespace ${namespace} of ${this.client.server}: no ConfigMap is labelled ${labelSelector}`,
        "install it there, or give the namespace that it is in by --namespace, --liqo-namespace or their --remote- forms",
      );
    }
    if (second !== undefined) {
      throw new CommandError(
        `namespace ${namespace} of ${this.client.server} has ${found.length} ConfigMaps labelled ${labelSelector}: ${found.map(({ metadata }) => metadata.name).join(", ")}`,
        "keep the installation's one",
      );
    }
    const id = only.data?.[DataKey.clusterID];
    if (id === undefined || id === "")
      throw new CommandError(
        `ConfigMap ${namespace}/${only.metadata.name}: data.${DataKey.clusterID} is empty`,
      );
    return id;
  }

  /** Makes an object as desired; writes nothing where it is. */
  async ensure<T extends KubeObject>(
    run: Run,
    kind: Kind<T>,
    desired: Desired<T> & { metadata: { name: string } },
  ): Promise<{ object: T; change: "none" | "created" | "patched" }> {
    const { name, namespace } = desired.metadata;
    const ref: ObjectRef = namespace === undefined ? { name } : { name, namespace };
    for (let attempt = 1; ; attempt++) {
      const observed = await this.client.get(kind, ref, run.call);
      if (observed?.metadata.deletionTimestamp) {
        throw new CommandError(
          `${kind.kind} ${describeRef(ref)} is being deleted`,
          "wait until it is gone, then give the same command again",
        );
      }
      const object = observed === undefined ? withGlobals(run, desired) : desired;
      try {
        return await writeIfChanged(this.client, kind, object, observed, run.call);
      } catch (error) {
        // Somebody else wrote between our look and our write; the next look sees it.
        if (!(error instanceof ApiError && error.status === 409) || attempt === 3) throw error;
      }
    }
  }

  close(): void {
    this.client.close();
  }
}

function withGlobals<T extends KubeObject>(
  { metadata: { labels, annotations } }: Run,
  desired: Desired<T>,
): Desired<T> {
  const { metadata } = desired;
  return {
    ...desired,
    metadata: {
      ...metadata,
      ...(Object.keys(labels).length > 0 && { labels: { ...labels, ...metadata.labels } }),
      ...(Object.keys(annotations).length > 0 && {
        annotations: { ...annotations, ...metadata.annotations },
      }),
    },
  };
}

export function describeRef({ name, namespace }: ObjectRef): string {
  return namespace === undefined ? name : `${namespace}/${name}`;
}

/** The first request to a cluster: a failure says which cluster, and which flag leads there. */
async function reached<T>(cluster: Cluster, work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    const where = `${cluster.client.server} (${cluster.flag})`;
    if (error instanceof ApiError && error.status === 401) {
      throw new CommandError(
        `${where} does not accept the kubeconfig's credentials: ${error.message}`,
        "they are wrong or have expired; give a present kubeconfig",
        { cause: error },
      );
    }
    if (
      error instanceof ConnectionError ||
      error instanceof CannotConnectError ||
      error instanceof DeadlineError
    ) {
      throw new CommandError(
        `${where} cannot be reached: ${error.message}`,
        "see that the kubeconfig and its context are those of the cluster meant, and that it runs",
        { cause: error },
      );
    }
    throw error;
  }
}

/** The cluster of commands for one, and the local one of commands for two. */
export function localCluster(run: Run, flags: ClusterFlags, liqoNamespace: string, scope?: Scope): Cluster {
  const files = findKubeconfigFiles(flags.kubeconfig, "--kubeconfig", run.terminal);
  return cluster(files, flags, { scope, liqoNamespace, flag: "--kubeconfig, --context" });
}

/** Works on the cluster of a command for one, and closes it afterwards. */
export async function withCluster<T>(
  run: Run,
  flags: ClusterFlags,
  liqoNamespace: string,
  work: (cluster: Cluster) => Promise<T>,
): Promise<T> {
  const cluster = localCluster(run, flags, liqoNamespace);
  try {
    return await work(cluster);
  } finally {
    cluster.close();
  }
}

export function remoteCluster(run: Run, flags: RemoteFlags): Cluster {
  const files = findKubeconfigFiles(flags.remoteKubeconfig, "--remote-kubeconfig", run.terminal);
  const choice = { context: flags.remoteContext, cluster: flags.remoteCluster, user: flags.remoteUser };
  return cluster(files, choice, {
    scope: "remote",
    liqoNamespace: flags.remoteNamespace,
    flag: "--remote-kubeconfig, --remote-context",
  });
}

function cluster(
  files: Parameters<typeof mergeKubeconfigs>[0],
  choice: Parameters<typeof mergeKubeconfigs>[1],
  { scope, liqoNamespace, flag }: { scope: Scope; liqoNamespace: string; flag: string },
): Cluster {
  const source = files.map(({ path }) => path).join(":");
  const client = KubeClient.fromKubeconfig(mergeKubeconfigs(files, choice), { source, userAgent: "liqoctl" });
  return new Cluster(scope, client, liqoNamespace, flag);
}
