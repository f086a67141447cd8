import type { ApiConnection } from "./api-connection";

/** Users that the add-ons act as, by the name of their certificates. */
export const addonUsers = {
  coredns: { commonName: "system:coredns" },
  agent: { commonName: "system:pulumi-liqo:local-cluster-agent" },
};

/** Name of the default storage class and of its provisioner. */
export const storageClassName = "standard";
export const storageProvisioner = "pulumi-liqo.io/local-path";

export interface AddonSettings {
  clusterDns: string;
  /** Address where CoreDNS listens: the first node's. */
  dnsAddress: string;
}

/** Configuration of CoreDNS, which runs on the first node and is reached by the Service `kube-dns`. */
export function corefile(listenAddress: string, kubeconfig: string, upstream: string | undefined): string {
  return `.:53 {
    bind ${listenAddress}
    errors
    kubernetes cluster.local in-addr.arpa ip6.arpa {
        kubeconfig ${kubeconfig}
        pods insecure
        fallthrough in-addr.arpa ip6.arpa
        ttl 5
    }
${upstream === undefined ? "" : `    forward . ${upstream}\n`}    cache 30 {
        disable success cluster.local
        disable denial cluster.local
    }
    loadbalance
}
`;
}

/** Applies what a cluster needs inside: name service, storage class, and the rights of those who serve them. */
export async function applyAddons(api: ApiConnection, settings: AddonSettings): Promise<void> {
  const roles = "/apis/rbac.authorization.k8s.io/v1";
  const services = "/api/v1/namespaces/kube-system/services";
  const slices = "/apis/discovery.k8s.io/v1/namespaces/kube-system/endpointslices";
  await Promise.all([
    api.apply(`${roles}/clusterroles/system:coredns`, clusterRole("system:coredns", corednsRules)),
    api.apply(
      `${roles}/clusterrolebindings/system:coredns`,
      clusterRoleBinding("system:coredns", addonUsers.coredns.commonName),
    ),
    api.apply(
      `${roles}/clusterroles/${addonUsers.agent.commonName}`,
      clusterRole(addonUsers.agent.commonName, agentRules),
    ),
    api.apply(
      `${roles}/clusterrolebindings/${addonUsers.agent.commonName}`,
      clusterRoleBinding(addonUsers.agent.commonName, addonUsers.agent.commonName),
    ),
    api.apply(`${services}/kube-dns`, dnsService(settings.clusterDns)),
    api.apply(`${slices}/kube-dns-host`, dnsEndpoints(settings.dnsAddress)),
    api.apply(`/apis/storage.k8s.io/v1/storageclasses/${storageClassName}`, storageClass),
  ]);
}

const read = ["get", "list", "watch"];

const corednsRules = [
  { apiGroups: [""], resources: ["endpoints", "services", "pods", "namespaces"], verbs: ["list", "watch"] },
  { apiGroups: ["discovery.k8s.io"], resources: ["endpointslices"], verbs: ["list", "watch"] },
];

const agentRules = [
  { apiGroups: [""], resources: ["services", "persistentvolumeclaims"], verbs: read },
  { apiGroups: ["discovery.k8s.io"], resources: ["endpointslices"], verbs: read },
  { apiGroups: [""], resources: ["services/status"], verbs: ["patch"] },
  { apiGroups: [""], resources: ["persistentvolumes"], verbs: [...read, "create", "delete"] },
  { apiGroups: [""], resources: ["events"], verbs: ["create", "patch"] },
];

const storageClass = {
  apiVersion: "storage.k8s.io/v1",
  kind: "StorageClass",
  metadata: {
    name: storageClassName,
    annotations: { "storageclass.kubernetes.io/is-default-class": "true" },
  },
  provisioner: storageProvisioner,
  reclaimPolicy: "Delete",
  volumeBindingMode: "WaitForFirstConsumer",
};

function clusterRole(name: string, rules: unknown[]): unknown {
  return { apiVersion: "rbac.authorization.k8s.io/v1", kind: "ClusterRole", metadata: { name }, rules };
}

function clusterRoleBinding(name: string, user: string): unknown {
  return {
    apiVersion: "rbac.authorization.k8s.io/v1",
    kind: "ClusterRoleBinding",
    metadata: { name },
    roleRef: { apiGroup: "rbac.authorization.k8s.io", kind: "ClusterRole", name },
    subjects: [{ apiGroup: "rbac.authorization.k8s.io", kind: "User", name: user }],
  };
}

const dnsPorts = [
  { name: "dns", port: 53, protocol: "UDP" },
  { name: "dns-tcp", port: 53, protocol: "TCP" },
];

function dnsService(clusterIP: string): unknown {
  return {
    apiVersion: "v1",
    kind: "Service",
    metadata: {
      name: "kube-dns",
      namespace: "kube-system",
      labels: { "k8s-app": "kube-dns", "kubernetes.io/name": "CoreDNS" },
    },
    spec: { clusterIP, ports: dnsPorts },
  };
}

/** Its own name, since the Service has no selector for the slice controller to follow. */
function dnsEndpoints(address: string): unknown {
  return {
    apiVersion: "discovery.k8s.io/v1",
    kind: "EndpointSlice",
    metadata: {
      name: "kube-dns-host",
      namespace: "kube-system",
      labels: { "kubernetes.io/service-name": "kube-dns" },
    },
    addressType: "IPv4",
    endpoints: [{ addresses: [address], conditions: { ready: true } }],
    ports: dnsPorts,
  };
}
