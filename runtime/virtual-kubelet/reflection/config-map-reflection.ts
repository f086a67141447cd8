import { Name } from "../../api/keys";
import { ConfigMap } from "../../api/kubernetes";
import { defined } from "../pods/defined";
import { explicitChoice, isAllowed } from "./policy";
import type { ReflectedKind } from "./reflected-kind";
import { remoteRootCaName } from "./root-ca";

/** ConfigMaps (offloading reference 10.3). The root CA has another name there, so that remote pods trust this cluster's API server. */
export function configMapReflection(consumerId: string): ReflectedKind<ConfigMap> {
  const remoteRootCa = remoteRootCaName(consumerId);
  return {
    kind: ConfigMap,
    remoteKind: ConfigMap,
    resource: "ConfigMap",
    workers: ({ flags }) => flags.configmapReflectionWorkers,
    remoteName: (name) => (name === Name.kubeRootCA ? remoteRootCa : name),
    localName: (name) => {
      if (name === remoteRootCa) return Name.kubeRootCA;
      return name === Name.kubeRootCA ? undefined : name; // the provider's own
    },
    keptAtHome: ({ metadata: { name, annotations } }, { flags }) => {
      if (name === Name.kubeRootCA) {
        // Pods cannot do without it; only an explicit word keeps it at home.
        return explicitChoice(annotations) === false ? { why: "the current object" } : undefined;
      }
      const policy = flags.configmapReflectionType;
      return isAllowed(policy, annotations) ? undefined : { why: `the current object (policy: "${policy}")` };
    },
    desired: ({ apiVersion, kind, data, binaryData, immutable }, metadata) =>
      defined({ apiVersion, kind, metadata, data: data ?? {}, binaryData: binaryData ?? {}, immutable }),
    exact: ["data", "binaryData"],
    mustBeReplaced: (remote, desired) =>
      remote.immutable === true &&
      (desired.immutable !== true ||
        !sameMap(remote.data, desired.data) ||
        !sameMap(remote.binaryData, desired.binaryData)),
  };
}

export function sameMap(
  a: { readonly [key: string]: unknown } = {},
  b: { readonly [key: string]: unknown } = {},
): boolean {
  const keys = Object.keys(a);
  return keys.length === Object.keys(b).length && keys.every((key) => a[key] === b[key]);
}
