import * as pulumi from "@pulumi/pulumi";
import * as random from "@pulumi/random";

import { Definitions } from "../provider/definitions/resource";
import { RemovalGuard } from "../provider/removal-guard/resource";
import { parseArguments } from "../runtime/plan/arguments";
import { DeploymentName, deployments } from "../runtime/plan/deployments";
import { definitionsDigest } from "../runtime/plan/definitions";
import {
  clusterIdConfigMap,
  foundation,
  liqoNamespace,
  vkOptionsTemplate,
} from "../runtime/plan/installation";
import { installationDataSchema, installationStructureSchema } from "../runtime/plan/installation-settings";
import type { Manifest } from "../runtime/plan/manifest";
import { clusterIdSchema } from "../runtime/plan/names";
import { type ClusterAccess, connected, inState } from "./cluster";
import { KubernetesObject, type KubernetesObjectArgs, planned } from "./kubernetes-object";
import { after, timeouts } from "./waiting";

export interface InstallationArgs {
  /** The cluster to install on. */
  cluster: ClusterAccess;
  /**
   * Identity of the cluster towards its peers: lower-case letters, digits and inner hyphens, at most 51 characters. By default two random
   * words, which stay.
   */
  clusterId?: pulumi.Input<string>;
  /** Namespace of the control plane; `liqo` by default. */
  namespace?: string;
  /** Whether the namespace is created, and removed with the installation; true by default. */
  createNamespace?: boolean;
  /** Image of the runtime, with its tag. */
  image: pulumi.Input<string>;
  /** `Always`, `IfNotPresent` or `Never`; `IfNotPresent` by default. */
  imagePullPolicy?: pulumi.Input<string>;
  /** Secrets in the control plane's namespace with credentials for the image's registry. */
  imagePullSecrets?: pulumi.Input<pulumi.Input<string>[]>;
  /** Labels of this cluster that consumers see on their virtual nodes. */
  clusterLabels?: pulumi.Input<Record<string, pulumi.Input<string>>>;
  /** The cluster's pod CIDRs, such as `10.244.0.0/16`. */
  podCidrs?: pulumi.Input<pulumi.Input<string>[]>;
  /** How peers reach this cluster's API server, where the cluster itself cannot tell. */
  apiServer?: pulumi.Input<ApiServerArgs>;
  /** What a consumer is granted of each resource that it does not ask for; 4 cpu, 8Gi memory, 110 pods, 20Gi ephemeral-storage by default. */
  defaultNodeResources?: pulumi.Input<Record<string, pulumi.Input<string>>>;
  /** Whether requests of the built-in class are granted, rather than denied; true by default. */
  defaultResourceSliceClassEnabled?: pulumi.Input<boolean>;
  /** Whether offloaded pods are held to what was granted; true by default. */
  enforceResources?: pulumi.Input<boolean>;
  /** `None`, `Soft` (offloaded containers must have requests) or `Hard` (and limits equal to them); `None` by default. */
  limitsEnforcement?: pulumi.Input<string>;
  /** Interval of the check that each peer's API server answers, in seconds; 0 turns it off. 15 by default. */
  peerPingIntervalSeconds?: pulumi.Input<number>;
  /** Pods of each component; 1 by default. With more than one, they elect a leader. */
  replicas?: pulumi.Input<ReplicasArgs>;
  /** What the pods of each component ask of their node. */
  resources?: pulumi.Input<ComponentResourcesArgs>;
  /** Longest time for each object, and above all for the pods to be ready, in seconds; 300 by default. */
  timeoutSeconds?: number;
}

export interface ApiServerArgs {
  /** URL, or host with port. By default the first address of a control-plane node, with port 6443. */
  address?: pulumi.Input<string>;
  /** CA that signed the certificate of that address, PEM. By default the one that pods of the cluster use. */
  ca?: pulumi.Input<string>;
  /** Whether a public authority signed the certificate, so that peers need no CA; false by default. */
  trustedCa?: pulumi.Input<boolean>;
}

export interface ReplicasArgs {
  controllerManager?: pulumi.Input<number>;
  virtualKubelet?: pulumi.Input<number>;
  webhook?: pulumi.Input<number>;
}

export interface ComponentResourcesArgs {
  controllerManager?: pulumi.Input<ResourceRequirementsArgs>;
  virtualKubelet?: pulumi.Input<ResourceRequirementsArgs>;
  webhook?: pulumi.Input<ResourceRequirementsArgs>;
}

export interface ResourceRequirementsArgs {
  requests?: pulumi.Input<Record<string, pulumi.Input<string>>>;
  limits?: pulumi.Input<Record<string, pulumi.Input<string>>>;
}

/**
 * The runtime on one cluster: definitions, accounts and roles, and the control plane's Deployments, ready.
 *
 * Removing it is refused while the cluster has peerings or offloaded namespaces; remove those first.
 */
export class Installation extends pulumi.ComponentResource {
  /** Identity of the cluster towards its peers. Whatever takes it waits until the control plane is ready. */
  public readonly clusterId: pulumi.Output<string>;
  /** Namespace of the control plane. */
  public readonly namespace: pulumi.Output<string>;

  constructor(name: string, args: InstallationArgs, opts?: pulumi.ComponentResourceOptions) {
    super("pulumi-liqo:index:Installation", name, { ...args, cluster: inState(args.cluster) }, opts);

    const { cluster, clusterId: givenId, namespace, createNamespace, timeoutSeconds = 300, ...given } = args;
    const subject = `Installation "${name}"`;
    const structure = parseArguments(installationStructureSchema, subject, { namespace, createNamespace });
    const data = pulumi
      .output(given)
      .apply((value) => parseArguments(installationDataSchema, subject, value));
    const clusterId = clusterIdOf(name, givenId, this);
    const { provider, kubeconfig } = connected(name, { ...cluster, clusterId }, this);

    const child = (key: string, manifest: KubernetesObjectArgs, dependsOn: pulumi.Resource[]) =>
      new KubernetesObject(`${name}-${key}`, manifest, {
        parent: this,
        provider,
        dependsOn,
        ...timeouts(timeoutSeconds),
      });
    const whole = (manifest: Manifest, dependsOn: pulumi.Resource[]) =>
      child(`${manifest.kind.toLowerCase()}-${manifest.metadata.name}`, withoutAwait(manifest), dependsOn);

    const definitions = new Definitions(
      `${name}-definitions`,
      { kubeconfig, digest: definitionsDigest() },
      { parent: this },
    );
    const home = structure.createNamespace ? [whole(liqoNamespace(structure.namespace), [])] : [];
    const base = [
      ...home,
      ...foundation(structure.namespace, { networking: false }).map((manifest) => whole(manifest, home)),
    ];

    const configMap = clusterId.apply((id) => clusterIdConfigMap(structure.namespace, id));
    const identity = child("cluster-id", planned("v1", "ConfigMap", configMap, "data"), base);
    const template = data.apply((value) => vkOptionsTemplate(structure.namespace, value));
    const options = child(
      "virtual-kubelet-options",
      planned("offloading.liqo.io/v1beta1", "VkOptionsTemplate", template, "spec"),
      [...base, definitions],
    );

    const plan = data.apply((value) => deployments({ namespace: structure.namespace, ...value }));
    const workloads = (["controllerManager", "virtualKubelet", "webhook"] as const).map((component) =>
      child(
        DeploymentName[component].replace(/^liqo-/, ""),
        planned("apps/v1", "Deployment", plan[component], "spec"),
        [...base, definitions, identity, options],
      ),
    );

    const guard = new RemovalGuard(
      `${name}-removal-guard`,
      { kubeconfig, namespace: structure.namespace },
      { parent: this, dependsOn: workloads },
    );

    this.clusterId = after([guard], clusterId);
    this.namespace = after([guard], structure.namespace);
    this.registerOutputs({ clusterId: this.clusterId, namespace: this.namespace });
  }
}

/** The cluster ID given, checked; else two random words, drawn once. */
function clusterIdOf(
  name: string,
  given: pulumi.Input<string> | undefined,
  parent: pulumi.Resource,
): pulumi.Output<string> {
  const clusterId = given ?? new random.RandomPet(`${name}-cluster-id`, { length: 2 }, { parent }).id;
  return pulumi
    .output(clusterId)
    .apply((value) => parseArguments(clusterIdSchema, `clusterId of Installation "${name}"`, value));
}

/** Services would be waited for until they have endpoints, which the Deployments that follow bring. */
function withoutAwait(manifest: Manifest): KubernetesObjectArgs {
  if (manifest.kind !== "Service") return { ...manifest };
  const annotations = { ...manifest.metadata.annotations, "pulumi.com/skipAwait": "true" };
  return { ...manifest, metadata: { ...manifest.metadata, annotations } };
}
