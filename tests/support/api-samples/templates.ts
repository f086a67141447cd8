/** What gateways and virtual nodes are made from. */
import { podSpec } from "./pod-spec";

export const templateMetadata = {
  name: "gw-milan",
  namespace: "liqo-tenant-milan",
  labels: { app: "gw" },
  annotations: { "a.example/b": "c" },
  finalizers: ["example.org/hold"],
};

export const deploymentTemplate = {
  metadata: templateMetadata,
  spec: {
    replicas: 2,
    selector: { matchLabels: { app: "gw" } },
    strategy: { type: "RollingUpdate", rollingUpdate: { maxSurge: "50%", maxUnavailable: 0 } },
    template: { metadata: { labels: { app: "gw" } }, spec: podSpec },
  },
};

export const serviceTemplate = {
  metadata: templateMetadata,
  spec: {
    type: "NodePort",
    selector: { app: "gw" },
    ports: [{ name: "tunnel", port: 51840, targetPort: 51840, nodePort: 30742, protocol: "UDP" }],
  },
};

export const metrics = {
  enabled: true,
  service: serviceTemplate,
  serviceMonitor: { metadata: templateMetadata, spec: { endpoints: [{ port: "metrics" }] } },
};
