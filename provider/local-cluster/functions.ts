import { z } from "zod";

import { resourceFunctions } from "../core/lifecycle";
import type { ProviderContext } from "../core/definition";
import { clusterSpecFaults, clusterSpecFields } from "./cluster-spec";
import type { RunningCluster } from "./running-cluster";

/** Loaded on use: the certificates and downloads of local clusters are half of what every other stack would load with them. */
const localClusters = () => import("./local-clusters.js");

/** A Kubernetes cluster on this machine. Its kubeconfig is unknown in the first preview, as a cloud's cluster's is. */
export const localCluster = resourceFunctions({
  type: "LocalCluster",
  summary:
    "A real Kubernetes cluster on this machine, for trying things out and for tests: by kind where Docker is usable, else from its own programs in network namespaces.",
  inputs: clusterSpecFields,
  computed: z.object({
    kubeconfig: z.string().describe("Administrator's kubeconfig."),
    apiServerUrl: z.string().describe("The API server as this machine reaches it."),
    peerApiServerUrl: z.string().describe("The API server as pods of other local clusters reach it."),
    nodeNames: z.array(z.string()).describe("Names of the nodes."),
    runsOn: z.enum(["kind", "native"]).describe("The backend in use."),
  }),
  secrets: ["kubeconfig"],
  secretInputs: [],
  replaceOn: ["name", "nodes", "podCidr", "serviceCidr", "kubernetesVersion", "backend", "auditLog"],
  // Two clusters of one name cannot be.
  deleteBeforeReplace: true,
  validate: clusterSpecFaults,

  async create(inputs, context) {
    const { upCluster } = await localClusters();
    return { id: inputs.name, computed: computedOf(await upCluster(inputs, options(context))) };
  },
  /** A cluster that stopped counts as gone: making it again takes it up with its keys and data. */
  async read(id) {
    const { getCluster } = await localClusters();
    const cluster = await getCluster(id);
    return cluster && computedOf(cluster);
  },
  async update(id, _olds, news, context) {
    const { importImages, upCluster } = await localClusters();
    const cluster = await upCluster({ ...news, images: [] }, options(context));
    await importImages(id, news.images);
    return computedOf(cluster);
  },
  async delete(id, _state, context) {
    const { downCluster } = await localClusters();
    await downCluster(id, options(context));
  },
});

function computedOf(cluster: RunningCluster) {
  const { kubeconfig, apiServerUrl, peerApiServerUrl, nodeNames, backend } = cluster;
  return { kubeconfig, apiServerUrl, peerApiServerUrl, nodeNames, runsOn: backend };
}

function options(context: ProviderContext) {
  return { progress: (line: string) => context.progress(line), signal: context.signal };
}
