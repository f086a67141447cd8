import { createHash } from "node:crypto";

import { Annotation, DataKey, Name } from "../api/keys";
import type { Deployment } from "../api/kubernetes";
import type { InstallationData } from "./installation-settings";
import { componentLabels, type ManifestOf, type Module, selectorLabels } from "./manifest";

/** Ports that every component serves; some have one more each. */
export const Port = { health: 8081, metrics: 8082, webhook: 9443, kubelet: 10250 } as const;

/** What the pods of all components take from an installation's settings. */
export type ImageSettings = {
  namespace: string;
  /** Where it is given, pods are made anew when it is another one: they read it when they start. */
  clusterId?: string | undefined;
} & Pick<InstallationData, "image" | "imagePullPolicy" | "imagePullSecrets">;

/** A part of the runtime with a Deployment of its own. */
export interface Component {
  /** What the runtime's entry point calls it. */
  component: string;
  module: Module;
  replicas: number;
  flags: string[];
  resources: InstallationData["resources"]["webhook"];
  /** Cap of the JavaScript heap, in MiB: collects rather than grows, and fails by itself rather than by the kernel's choice. */
  heapMib: number;
  ports: { name: string; containerPort: number }[];
  /** Whether two generations of the component may work at once, without electing a leader. */
  mayOverlap: boolean;
  /** More variables of the environment, before those that every component has. */
  environment?: { name: string; valueFrom: Partial<Record<"secretKeyRef" | "configMapKeyRef", KeyOf>> }[];
}

/** An entry of a Secret or ConfigMap. */
interface KeyOf {
  name: string;
  key: string;
}

/** Security context of every pod and container of the runtime: no root, no capabilities, a read-only root file system. */
export const UNPRIVILEGED = {
  pod: {
    securityContext: { runAsNonRoot: true, runAsUser: 1000, runAsGroup: 1000, fsGroup: 1000 },
    terminationGracePeriodSeconds: 20,
  },
  container: {
    securityContext: {
      allowPrivilegeEscalation: false,
      readOnlyRootFilesystem: true,
      capabilities: { drop: ["ALL"] },
    },
  },
};

/** The probes of every component, and the ports that they use. */
export const PROBES = {
  ports: [
    { name: "healthz", containerPort: Port.health },
    { name: "metrics", containerPort: Port.metrics },
  ],
  probes: {
    readinessProbe: { httpGet: { path: "/readyz", port: "healthz" }, periodSeconds: 1, failureThreshold: 3 },
    livenessProbe: livenessProbe("healthz"),
  },
};

/** The Deployment of a component, called `liqo-<component>` as is its ServiceAccount: unprivileged, with a read-only root and a capped heap. */
export function deployment(settings: ImageSettings, component: Component): ManifestOf<Deployment> {
  const { component: name, module, replicas } = component;
  const labels = componentLabels(name, module);
  const { clusterId } = settings;
  return {
    apiVersion: "apps/v1",
    kind: "Deployment",
    metadata: { name: `liqo-${name}`, namespace: settings.namespace, labels },
    spec: {
      replicas,
      selector: { matchLabels: selectorLabels(name) },
      strategy: component.mayOverlap || replicas > 1 ? { type: "RollingUpdate" } : { type: "Recreate" },
      template: {
        metadata: { labels, ...(clusterId !== undefined && { annotations: hashOf(clusterId) }) },
        spec: {
          serviceAccountName: `liqo-${name}`,
          imagePullSecrets: settings.imagePullSecrets.map((secret) => ({ name: secret })),
          ...UNPRIVILEGED.pod,
          containers: [container(settings, component)],
        },
      },
    },
  };
}

function hashOf(clusterId: string): Record<string, string> {
  return { [Annotation.clusterIDHash]: createHash("sha256").update(clusterId).digest("hex").slice(0, 16) };
}

type Container = NonNullable<
  NonNullable<NonNullable<NonNullable<ManifestOf<Deployment>["spec"]>["template"]>["spec"]>["containers"]
>[number];

function container(settings: ImageSettings, component: Component): Container {
  const fromPod = (name: string, fieldPath: string) => ({ name, valueFrom: { fieldRef: { fieldPath } } });
  return {
    name: component.component,
    image: settings.image,
    imagePullPolicy: settings.imagePullPolicy,
    args: [component.component, ...component.flags],
    env: [
      ...(component.environment ?? []),
      {
        name: "CLUSTER_ID",
        valueFrom: { configMapKeyRef: { name: Name.clusterIDConfigMap, key: DataKey.clusterID } },
      },
      fromPod("POD_NAME", "metadata.name"),
      fromPod("POD_NAMESPACE", "metadata.namespace"),
      fromPod("POD_IP", "status.podIP"),
      // A small young generation costs a little more collecting and saves tens of megabytes a process.
      { name: "NODE_OPTIONS", value: `--max-old-space-size=${component.heapMib} --max-semi-space-size=4` },
    ],
    ports: [...component.ports, ...PROBES.ports],
    ...PROBES.probes,
    resources: component.resources,
    ...UNPRIVILEGED.container,
  };
}

/**
 * Restarts a process that hangs, after more than a minute of silence, with 15 seconds for each answer, as kubeadm does for the control plane's pods.
 * A node under load answers late, and restarting a gateway or controller for that would add to the load.
 */
export function livenessProbe(port: string | number) {
  return {
    httpGet: { path: "/healthz", port },
    initialDelaySeconds: 10,
    periodSeconds: 10,
    timeoutSeconds: 15,
    failureThreshold: 8,
  };
}
