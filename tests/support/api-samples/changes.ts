/** Changes and contradictions that an API server must refuse. */
import type { Manifest } from "./manifest";
import { replaced, setField } from "./samples";

export interface Change {
  kind: string;
  field: string;
  change: (object: Manifest) => void;
  /** The API server's message. */
  message: RegExp;
}

function change(kind: string, field: string, value: unknown, message: RegExp): Change {
  return { kind, field, change: (object) => setField(object, field.split("."), value), message };
}

/** Changes of fields that may not change; the answers have both values and the way out. */
export const CHANGES: Change[] = [
  change(
    "Tenant",
    "spec.clusterID",
    "naples",
    /spec\.clusterID: .*ClusterID is immutable: it is "rome", and the request has "naples"; keep it, and make a Tenant/,
  ),
  change(
    "ForeignCluster",
    "spec.clusterID",
    "naples",
    /spec\.clusterID: .*ClusterID field is immutable: it is "milan", and the request has "naples"; keep it/,
  ),
  change(
    "NamespaceOffloading",
    "spec.namespaceMappingStrategy",
    "DefaultName",
    /NamespaceMappingStrategy value cannot be modified after creation: it is "SelectedName", and the request has "DefaultName"; delete/,
  ),
  change(
    "NamespaceOffloading",
    "spec.remoteNamespaceName",
    "shop-of-naples",
    /RemoteNamespaceName value cannot be modified after creation: it is ".+", and the request has "shop-of-naples"; delete/,
  ),
  change(
    "NamespaceOffloading",
    "spec.remoteNamespaceName",
    undefined,
    /RemoteNamespaceName value cannot be modified after creation: it is ".+", and the request has none; delete/,
  ),
  change(
    "Network",
    "spec.cidr",
    "10.75.0.0/16",
    /spec\.cidr: .*cidr is immutable: it is "10\..+", and the request has "10\.75\.0\.0\/16"; make a new Network/,
  ),
  change("Network", "spec.preAllocated", 2, /spec\.preAllocated: .*immutable; make a new Network/),
  change(
    "IP",
    "spec.ip",
    "192.168.7.21",
    /spec\.ip: .*immutable: it is ".+", and the request has "192\.168\.7\.21"; make a new IP/,
  ),
  change(
    "IP",
    "status.ip",
    "10.72.0.5",
    /status\.ip: .*immutable once it was given: it is ".+", and the request has "10\.72\.0\.5"; delete the IP/,
  ),
  change(
    "IP",
    "status.cidr",
    "10.75.0.0/16",
    /status\.cidr: .*immutable once it was given: it is ".+", and the request has "10\.75\.0\.0\/16"; delete the IP/,
  ),
];

/** What the API server says of objects whose fields do not go together: the way out, and of strings the values. */
export const CONTRADICTIONS: { object: Manifest; message: RegExp }[] = [
  {
    object: replaced("GatewayServer", "spec.endpoint.port", 51840),
    message: /port and ports exclude each other; keep one of them/,
  },
  {
    object: replaced("GatewayServer", "spec.endpoint.ports", [51840, 51841, 51840]),
    message: /ports has duplicates; list each port once/,
  },
  {
    object: replaced("NamespaceOffloading", "metadata.name", "mine"),
    message: /must match offloading: it is "mine"; name it offloading/,
  },
  {
    object: replaced("NamespaceOffloading", "spec.remoteNamespaceName", ""),
    message: /cannot be empty when using the SelectedName .*; set remoteNamespaceName, or use/,
  },
];
