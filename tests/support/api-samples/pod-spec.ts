/** A pod specification with every kind of field that pods of ours may have. */
export const podSpec = {
  containers: [
    {
      name: "web",
      image: "nginx:1.29",
      args: ["-g", "daemon off;"],
      env: [
        { name: "MODE", value: "fast" },
        { name: "NODE", valueFrom: { fieldRef: { fieldPath: "spec.nodeName" } } },
        { name: "TOKEN", valueFrom: { secretKeyRef: { name: "token", key: "value", optional: true } } },
      ],
      ports: [{ containerPort: 80, protocol: "TCP", name: "http" }],
      resources: { requests: { cpu: "250m", memory: "64Mi" }, limits: { cpu: 1, memory: "64Mi" } },
      livenessProbe: { httpGet: { path: "/", port: "http" }, periodSeconds: 5 },
      readinessProbe: { tcpSocket: { port: 80 } },
      lifecycle: { preStop: { exec: { command: ["sleep", "5"] } } },
      securityContext: { runAsNonRoot: true, capabilities: { drop: ["ALL"] } },
      volumeMounts: [{ name: "config", mountPath: "/etc/web", readOnly: true }],
    },
  ],
  initContainers: [{ name: "sidecar", image: "proxy:2", restartPolicy: "Always" }],
  volumes: [
    { name: "config", configMap: { name: "web", defaultMode: 420, items: [{ key: "a", path: "a.conf" }] } },
    { name: "scratch", emptyDir: { medium: "Memory", sizeLimit: "16Mi" } },
    {
      name: "token",
      projected: {
        sources: [
          { serviceAccountToken: { path: "token", expirationSeconds: 3607, audience: "milan" } },
          { configMap: { name: "kube-root-ca.crt", items: [{ key: "ca.crt", path: "ca.crt" }] } },
          { downwardAPI: { items: [{ path: "namespace", fieldRef: { fieldPath: "metadata.namespace" } }] } },
        ],
      },
    },
    {
      name: "data",
      ephemeral: {
        volumeClaimTemplate: {
          metadata: { labels: { app: "web" } },
          spec: { accessModes: ["ReadWriteOnce"], resources: { requests: { storage: "1Gi" } } },
        },
      },
    },
  ],
  affinity: {
    nodeAffinity: {
      requiredDuringSchedulingIgnoredDuringExecution: {
        nodeSelectorTerms: [{ matchExpressions: [{ key: "zone", operator: "In", values: ["a"] }] }],
      },
    },
    podAntiAffinity: {
      preferredDuringSchedulingIgnoredDuringExecution: [
        {
          weight: 10,
          podAffinityTerm: { topologyKey: "zone", labelSelector: { matchLabels: { app: "web" } } },
        },
      ],
    },
  },
  tolerations: [{ key: "virtual-node.liqo.io/not-allowed", operator: "Exists", effect: "NoExecute" }],
  topologySpreadConstraints: [
    { maxSkew: 1, topologyKey: "zone", whenUnsatisfiable: "ScheduleAnyway", labelSelector: {} },
  ],
  hostAliases: [{ ip: "10.71.0.2", hostnames: ["kubernetes.default"] }],
  imagePullSecrets: [{ name: "registry" }],
  nodeSelector: { disk: "ssd" },
  securityContext: { fsGroup: 1000, sysctls: [{ name: "net.core.somaxconn", value: "1024" }] },
  dnsConfig: { nameservers: ["10.71.0.10"], options: [{ name: "ndots", value: "2" }] },
  readinessGates: [{ conditionType: "example.org/ready" }],
  overhead: { cpu: "10m" },
  terminationGracePeriodSeconds: 30,
  restartPolicy: "Always",
  serviceAccountName: "web",
  automountServiceAccountToken: false,
  enableServiceLinks: false,
  priorityClassName: "low",
  runtimeClassName: "liqo",
  schedulingGates: [{ name: "wait" }],
};
