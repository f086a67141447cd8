/** One object of each kind of authentication.liqo.io, with every field it has. */
import { authParams, classes } from "./grants";
import { CA, KEY, type Manifest, manifest, transition } from "./manifest";

const authentication = (kind: string, name: string, fields: object, namespace = "liqo-tenant-rome") =>
  manifest("authentication.liqo.io", kind, name, fields, namespace);

export const AUTHENTICATION: Manifest[] = [
  authentication("Tenant", "rome", {
    spec: {
      clusterID: "rome",
      authzPolicy: "TolerateNoHandshake",
      publicKey: KEY,
      csr: CA,
      signature: KEY,
      proxyURL: "http://proxy.milan.example:8118",
      tenantCondition: "Cordoned",
    },
    status: {
      observedGeneration: 2,
      tenantNamespace: "liqo-tenant-rome",
      authParams,
      rotatedPublicKey: "5f0c9b1e",
      replacedPublicKeys: ["c1d2e3f4"],
      drainedRoleBindings: [
        {
          name: "by-hand",
          namespace: "liqo-tenant-rome",
          labels: { "liqo.io/remote-cluster-id": "rome" },
          clusterRole: "liqo-remote-controlplane",
          subjects: [
            { kind: "User", apiGroup: "rbac.authorization.k8s.io", name: "rome" },
            { kind: "ServiceAccount", namespace: "guests", name: "rome" },
          ],
        },
      ],
    },
  }),
  authentication(
    "Identity",
    "controlplane-milan",
    {
      spec: { clusterID: "milan", type: "ControlPlane", authParams, namespace: "liqo-tenant-rome" },
      status: { observedGeneration: 2, kubeconfigSecretRef: { name: "kubeconfig-controlplane-milan" } },
    },
    "liqo-tenant-milan",
  ),
  authentication(
    "ResourceSlice",
    "mypool",
    {
      spec: {
        consumerClusterID: "rome",
        providerClusterID: "milan",
        resources: { cpu: 20, memory: "128Gi", "nvidia.com/gpu": "2" },
        class: "default",
        csr: CA,
      },
      status: {
        observedGeneration: 2,
        conditions: [
          { type: "Authentication", status: "Accepted", ...transition },
          { type: "Resources", status: "Denied", ...transition },
        ],
        resources: { cpu: "20", pods: 110 },
        authParams,
        ...classes,
        nodeLabels: { zone: "north" },
        nodeSelector: { pool: "guests" },
      },
    },
    "liqo-tenant-milan",
  ),
  authentication("Renew", "controlplane-milan", {
    spec: {
      consumerClusterID: "rome",
      publicKey: KEY,
      csr: CA,
      identityType: "ControlPlane",
      resourceSliceRef: { name: "mypool" },
    },
    status: { observedGeneration: 2, authParams },
  }),
];
