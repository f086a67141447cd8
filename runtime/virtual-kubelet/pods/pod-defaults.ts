import type { Container, Probe, Volume } from "kubernetes-types/core/v1";

import type { WholePodSpec } from "../../api";

/**
 * A pod spec without the values that every API server fills in where nothing is given (the defaults of `core/v1`). Kubernetes never changes
 * a default of a stable version, so the pod is the same.
 */
export function withoutDefaults(spec: WholePodSpec): WholePodSpec {
  const lean = without(spec, {
    dnsPolicy: "ClusterFirst",
    enableServiceLinks: true,
    hostUsers: true,
    restartPolicy: "Always",
    terminationGracePeriodSeconds: 30,
  });
  if (isEmpty(spec.securityContext)) delete lean.securityContext;
  if (isEmpty(spec.resources)) delete lean.resources;
  lean.containers = spec.containers.map(leanContainer);
  if (spec.initContainers !== undefined) lean.initContainers = spec.initContainers.map(leanContainer);
  if (spec.volumes !== undefined) lean.volumes = spec.volumes.map(leanVolume);
  return lean;
}

/** The pull policy stays: its default depends on the image. */
function leanContainer(container: Container): Container {
  const lean = without(container, {
    terminationMessagePath: "/dev/termination-log",
    terminationMessagePolicy: "File",
  });
  if (isEmpty(container.resources)) delete lean.resources;
  if (container.ports !== undefined)
    lean.ports = container.ports.map((port) => without(port, { protocol: "TCP" }));
  for (const probe of ["livenessProbe", "readinessProbe", "startupProbe"] as const) {
    const given = container[probe];
    if (given !== undefined) lean[probe] = leanProbe(given);
  }
  return lean;
}

function leanProbe(probe: Probe): Probe {
  const lean = without(probe, {
    failureThreshold: 3,
    periodSeconds: 10,
    successThreshold: 1,
    timeoutSeconds: 1,
  });
  if (probe.httpGet !== undefined) lean.httpGet = without(probe.httpGet, { scheme: "HTTP" });
  return lean;
}

/** 420 is 0644. */
const FILE_MODE = { defaultMode: 420 };

function leanVolume(volume: Volume): Volume {
  const lean = { ...volume };
  if (volume.configMap !== undefined) lean.configMap = without(volume.configMap, FILE_MODE);
  if (volume.downwardAPI !== undefined) lean.downwardAPI = without(volume.downwardAPI, FILE_MODE);
  if (volume.projected !== undefined) lean.projected = without(volume.projected, FILE_MODE);
  if (volume.secret !== undefined) lean.secret = without(volume.secret, FILE_MODE);
  return lean;
}

/** A copy without the fields that have the value given here. */
function without<T extends object>(value: T, defaults: { readonly [Key in keyof T]?: T[Key] }): T {
  const lean = { ...value };
  for (const key of Object.keys(defaults) as (keyof T)[]) if (lean[key] === defaults[key]) delete lean[key];
  return lean;
}

function isEmpty(value: object | undefined): boolean {
  return value !== undefined && Object.keys(value).length === 0;
}
