/** The ForeignCluster, with every field it has. */
import { type Manifest, manifest, transition } from "./manifest";

const moduleStatus = (type: string) => ({
  enabled: true,
  conditions: [{ type, status: "Ready", ...transition }],
});

export const CORE: Manifest[] = [
  manifest("core.liqo.io", "ForeignCluster", "milan", {
    spec: { clusterID: "milan" },
    status: {
      observedGeneration: 3,
      role: "Provider",
      modules: {
        networking: moduleStatus("NetworkConnectionStatus"),
        authentication: moduleStatus("AuthIdentityControlPlaneStatus"),
        offloading: moduleStatus("OffloadingVirtualNodeStatus"),
      },
      apiServerUrl: "https://172.30.0.12:6443",
      foreignProxyUrl: "http://10.71.0.2:8118",
      tenantNamespace: { local: "liqo-tenant-milan", remote: "liqo-tenant-rome" },
      conditions: [{ type: "APIServerStatus", status: "Established", ...transition }],
    },
  }),
];
