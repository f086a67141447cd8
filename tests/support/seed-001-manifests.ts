/** The manifests of the declarative peering of seed 001, as its guide writes them. */

export type Side = "rome" | "milan";

/** Names that say nothing: tenant namespaces may have any. */
export const CONSUMER_NAMESPACE = "peer-milan";
export const PROVIDER_NAMESPACE = "guests-of-rome";
export const USER = "control-plane-of-rome";

/** The objects of the declarative guide, each with the cluster that it is for. The guide calls all of the labels mandatory. */
export const MANIFESTS: Record<string, { side: Side; text: string }> = {
  roleBinding: {
    side: "milan",
    text: `
apiVersion: rbac.authorization.k8s.io/v1
kind: RoleBinding
metadata:
  labels:
    liqo.io/remote-cluster-id: rome
  name: liqo-binding-liqo-remote-controlplane
  namespace: ${PROVIDER_NAMESPACE}
roleRef:
  apiGroup: rbac.authorization.k8s.io
  kind: ClusterRole
  name: liqo-remote-controlplane
subjects:
- apiGroup: rbac.authorization.k8s.io
  kind: User
  name: ${USER}
`,
  },
  tenant: {
    side: "milan",
    text: `
apiVersion: authentication.liqo.io/v1beta1
kind: Tenant
metadata:
  labels:
    liqo.io/remote-cluster-id: rome
  name: my-tenant
  namespace: ${PROVIDER_NAMESPACE}
spec:
  clusterID: rome
  authzPolicy: TolerateNoHandshake
  tenantCondition: Active
`,
  },
  secret: {
    side: "rome",
    text: `
apiVersion: v1
data:
  kubeconfig: <BASE64_KUBECONFIG_USER>
kind: Secret
metadata:
  labels:
    liqo.io/identity-type: ControlPlane
    liqo.io/remote-cluster-id: milan
  annotations:
    liqo.io/remote-tenant-namespace: ${PROVIDER_NAMESPACE}
  name: cplane-secret
  namespace: ${CONSUMER_NAMESPACE}
`,
  },
  resourceSlice: {
    side: "rome",
    text: `
apiVersion: authentication.liqo.io/v1beta1
kind: ResourceSlice
metadata:
  annotations:
    liqo.io/create-virtual-node: "true"
  creationTimestamp: null
  labels:
    liqo.io/remote-cluster-id: milan
    liqo.io/remoteID: milan
    liqo.io/replication: "true"
  name: mynode
  namespace: ${CONSUMER_NAMESPACE}
spec:
  class: default
  providerClusterID: milan
  resources:
    cpu: 20
    memory: 128Gi
`,
  },
  namespaceOffloading: {
    side: "rome",
    text: `
apiVersion: offloading.liqo.io/v1beta1
kind: NamespaceOffloading
metadata:
  name: offloading
  namespace: shop
spec:
  clusterSelector:
    nodeSelectorTerms: []
  namespaceMappingStrategy: DefaultName
  podOffloadingStrategy: LocalAndRemote
`,
  },
};

export const NAMESPACES: Record<Side, string> = {
  rome: `
apiVersion: v1
kind: Namespace
metadata:
  labels:
    liqo.io/remote-cluster-id: milan
    liqo.io/tenant-namespace: "true"
  name: ${CONSUMER_NAMESPACE}
spec: {}
---
apiVersion: v1
kind: Namespace
metadata:
  name: shop
`,
  milan: `
apiVersion: v1
kind: Namespace
metadata:
  labels:
    liqo.io/remote-cluster-id: rome
    liqo.io/tenant-namespace: "true"
  name: ${PROVIDER_NAMESPACE}
spec: {}
`,
};
