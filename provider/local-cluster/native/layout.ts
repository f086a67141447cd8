import { join } from "node:path";

import { checkoutPrefix, stateFolder } from "../folders";

/** Where one checkout's native clusters keep what they make: folders, the link on the host, control groups. */
export interface Layout {
  prefix: string;
  folder: string;
  /** Held while networks are given out, by all checkouts of the machine. */
  networkLock: string;
  fabricFile: string;
  /** The one interface on the host. */
  hostLink: string;
  /** Below the root of each control group hierarchy. */
  cgroup: string;
  cluster: (name: string) => ClusterLayout;
}

export interface ClusterLayout {
  name: string;
  folder: string;
  lock: string;
  stateFile: string;
  pki: string;
  logs: string;
  etcd: string;
  /** Volumes of the default storage class. */
  volumes: string;
  /** Appears when the API server is ready: what depends on it then starts. */
  apiReadyFile: string;
  node: (name: string) => NodeLayout;
}

export interface NodeLayout {
  name: string;
  folder: string;
  file: (name: string) => string;
}

export function nativeLayout(environment: NodeJS.ProcessEnv = process.env): Layout {
  const prefix = checkoutPrefix(environment);
  const folder = join(stateFolder(environment), prefix);
  return {
    prefix,
    folder,
    networkLock: "/run/pulumi-liqo-network.lock",
    fabricFile: join(folder, "fabric.json"),
    hostLink: `pliqo-${prefix}`,
    cgroup: `pulumi-liqo-${prefix}`,
    cluster: (name) => clusterLayout(name, join(folder, "clusters", name)),
  };
}

function clusterLayout(name: string, folder: string): ClusterLayout {
  return {
    name,
    folder,
    // Beside the folder, which is removed while the lock is held.
    lock: `${folder}.lock`,
    stateFile: join(folder, "cluster.json"),
    pki: join(folder, "pki"),
    logs: join(folder, "logs"),
    etcd: join(folder, "etcd"),
    volumes: join(folder, "volumes"),
    apiReadyFile: join(folder, "api-ready"),
    node: (node) => {
      const nodeFolder = join(folder, "nodes", node);
      return { name: node, folder: nodeFolder, file: (file) => join(nodeFolder, file) };
    },
  };
}
