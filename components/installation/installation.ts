import * as pulumi from "@pulumi/pulumi";
import * as random from "@pulumi/random";

import { Definitions } from "../../provider/definitions";
import { NetworkingGuard } from "../../provider/networking-guard";
import { Preflight } from "../../provider/preflight";
import { RemovalGuard } from "../../provider/removal-guard";
import type { Deployment } from "../../runtime/api/kubernetes/workloads";
import { metricAgentManifests, proxyManifests } from "../../runtime/plan/optional-components";
import { DeploymentName, deployments } from "../../runtime/plan/deployments";

import { definitionsDigest } from "../../runtime/plan/installation";

import {
  clusterIdConfigMap,
  foundation,
  liqoNamespace,
  telemetryConfigMap,
  vkOptionsTemplate,
} from "../../runtime/plan/installation";
import {
  type InstallationData,
  installationDataSchema,
  installationStructureSchema,
} from "../../runtime/plan/installation-settings";
import type { Manifest, ManifestOf } from "../../runtime/plan/manifest";
import { clusterIdSchema } from "../../runtime/plan/arguments";
import {
  awsAuthManifests,
  virtualKubeletManifests,
  virtualKubeletPerNodeManifests,
} from "../../runtime/plan/roles";
import { checkedArguments } from "../core/arguments";
import { installedOn, inState } from "../core/cluster";
import { KubernetesObject, type KubernetesObjectArgs, planned } from "../core/kubernetes-object";
import { after, timeouts } from "../core/waiting";
import { type InstallationArgs, installationShape } from "./installation-args";
import { networkObjects } from "./installation-networks";
import { rememberInstallation, advertisedToPeers } from "./installed-clusters";

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
    checkedArguments(installationShape, `Installation "${name}"`, args);
    super("pulumi-liqo:index:Installation", name, { ...args, cluster: inState(args.cluster) }, opts);

    const {
      cluster,
      clusterId: givenId,
      namespace,
      createNamespace,
      proxy,
      metricAgent,
      virtualKubeletPerNode,
      timeoutSeconds = 300,
      ...given
    } = args;
    const subject = `Installation "${name}"`;
    const structure = checkedArguments(installationStructureSchema, subject, {
      namespace,
      createNamespace,
      proxy,
      metricAgent,
      virtualKubeletPerNode,
    });
    const data = pulumi
      .output(given)
      .apply((value) => checkedArguments(installationDataSchema, subject, value));
    const clusterId = clusterIdOf(name, givenId, this);
    const { provider, kubeconfig } = installedOn(name, cluster, this);

    const child = (
      key: string,
      manifest: KubernetesObjectArgs,
      dependsOn: pulumi.Resource[],
      options: pulumi.CustomResourceOptions = {},
    ) =>
      new KubernetesObject(`${name}-${key}`, manifest, {
        parent: this,
        provider,
        dependsOn,
        ...timeouts(timeoutSeconds),
        ...options,
      });
    const whole = (manifest: Manifest, dependsOn: pulumi.Resource[]) =>
      child(`${manifest.kind.toLowerCase()}-${manifest.metadata.name}`, withoutAwait(manifest), dependsOn);

    // First, so that no object goes to another cluster than the one that has the rest.
    const preflight = new Preflight(
      `${name}-preflight`,
      {
        kubeconfig,
        podCidrs: given.networking?.podCidrs ?? [],
        apiServerGiven: data.apply(
          ({ apiServer, aws }) => apiServer.address !== undefined || aws !== undefined,
        ),
        clusterId,
        namespace: structure.namespace,
      },
      { parent: this },
    );
    const definitions = new Definitions(
      `${name}-definitions`,
      { kubeconfig, digest: definitionsDigest() },
      { parent: this, dependsOn: preflight },
    );
    const home = structure.createNamespace ? [whole(liqoNamespace(structure.namespace), [preflight])] : [];
    const modules = { networking: given.networking !== undefined };
    // Before anything that removes the controllers of the networking.
    const networkingGuard = new NetworkingGuard(
      `${name}-networking-guard`,
      { kubeconfig, networking: modules.networking },
      { parent: this, dependsOn: preflight },
    );
    const ready = [...home, networkingGuard];
    const base = [
      ...ready,
      ...foundation(structure.namespace, modules).map((manifest) => whole(manifest, ready)),
      ...[
        ...(given.aws === undefined ? [] : awsAuthManifests(structure.namespace)),
        ...(structure.virtualKubeletPerNode ? virtualKubeletPerNodeManifests(structure.namespace) : []),
      ].map((manifest) =>
        child(`${manifest.kind.toLowerCase()}-${manifest.metadata.name}`, { ...manifest }, ready),
      ),
    ];

    const configMap = clusterId.apply((id) => clusterIdConfigMap(structure.namespace, id));
    const identity = child("cluster-id", planned("v1", "ConfigMap", configMap, "data"), base);
    const telemetry = given.telemetry === undefined ? [] : [telemetryIdentity(name, this)];
    const reported = telemetry.map((id) => {
      const manifest = id.apply((value) => telemetryConfigMap(structure.namespace, value));
      return child("telemetry-identity", planned("v1", "ConfigMap", manifest, "data"), base);
    });
    const template = data.apply((value) => vkOptionsTemplate(structure.namespace, value));
    const options = child(
      "virtual-kubelet-options",
      planned("offloading.liqo.io/v1beta1", "VkOptionsTemplate", template, "spec"),
      [...base, definitions],
    );

    const planWith = (value: InstallationData, id?: string) =>
      deployments({ ...value, ...structure, ...(id !== undefined && { clusterId: id }) });
    const plan = pulumi.all([data, clusterId]).apply(([value, id]) => planWith(value, id));
    const controlPlane = (component: keyof typeof DeploymentName) => ({
      ...planned("apps/v1", "Deployment", plan[component], "spec"),
      // Without the cluster ID, which may be drawn in this run: the metadata is known in the preview.
      metadata: data.apply((value) => planWith(value)[component].metadata),
    });
    const workload = (component: keyof typeof DeploymentName, more: pulumi.Resource[] = []) =>
      child(DeploymentName[component].replace(/^liqo-/, ""), controlPlane(component), [
        ...base,
        definitions,
        identity,
        options,
        ...reported,
        ...more,
      ]);
    const controllers = workload("controllerManager");
    // The controllers grant virtual kubelets their rights first. Then the wider rights of an earlier version go.
    const rights: pulumi.Resource[] = [];
    for (const manifest of virtualKubeletManifests(structure.namespace))
      rights.push(whole(manifest, [...ready, controllers, ...rights]));
    const workloads = [controllers, workload("virtualKubelet", rights), workload("webhook")];

    const auxiliary = [
      ...(structure.proxy ? [proxyManifests] : []),
      ...(structure.metricAgent ? [metricAgentManifests] : []),
    ].flatMap((manifestsOf) => {
      const { namespace } = structure;
      const spec = data.apply((value) => deploymentAmong(manifestsOf({ namespace, ...value })));
      // Only the Deployment has an image; the rest is known in the preview.
      return manifestsOf({ namespace, image: "", imagePullPolicy: "IfNotPresent", imagePullSecrets: [] }).map(
        (manifest) =>
          manifest.kind === "Deployment"
            ? child(
                manifest.metadata.name.replace(/^liqo-/, ""),
                planned("apps/v1", "Deployment", spec, "spec"),
                [...base, identity],
              )
            : whole(manifest, base),
      );
    });

    const network = networkObjects(structure.namespace, given.networking, data).map((object) =>
      child(
        object.key,
        object.manifest,
        [...base, definitions, ...(object.waits ? workloads : [])],
        object.options,
      ),
    );

    const guard = new RemovalGuard(
      `${name}-removal-guard`,
      { kubeconfig, namespace: structure.namespace },
      { parent: this, dependsOn: [...workloads, ...auxiliary, ...network] },
    );

    this.clusterId = after([guard], clusterId);
    this.namespace = after([guard], structure.namespace);
    const advertised = pulumi.all([guard.urn, advertisedToPeers(given)]).apply(([, value]) => value);
    rememberInstallation(this.clusterId, { subject, ...modules, proxy: structure.proxy, advertised });
    this.registerOutputs({ clusterId: this.clusterId, namespace: this.namespace });
  }
}

/** A random UUID that stays. */
function telemetryIdentity(name: string, parent: pulumi.Resource): pulumi.Output<string> {
  return new random.RandomUuid(`${name}-telemetry-identity`, {}, { parent }).result;
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
    .apply((value) => checkedArguments(clusterIdSchema, `clusterId of Installation "${name}"`, value));
}

/** The Deployment of a part with one. */
function deploymentAmong(manifests: readonly Manifest[]): ManifestOf<Deployment> {
  const found = manifests.find(
    (manifest): manifest is ManifestOf<Deployment> => manifest.kind === "Deployment",
  );
  if (found === undefined) throw new Error("the plan of this part has no Deployment");
  return found;
}

/** Services would be waited for until they have endpoints, which the Deployments that follow bring. */
function withoutAwait(manifest: Manifest): KubernetesObjectArgs {
  if (manifest.kind !== "Service") return { ...manifest };
  const annotations = { ...manifest.metadata.annotations, "pulumi.com/skipAwait": "true" };
  return { ...manifest, metadata: { ...manifest.metadata, annotations } };
}
