/**
 * One object of each kind of ours with every field that the kind knows, values that must be refused, and changes that must be refused:
 * the tables that the unit tests put to `parse` and the end-to-end tests to a real API server.
 */
import type { KubeObject } from "../../runtime/api/meta";

export interface Manifest extends KubeObject {
  spec?: unknown;
  status?: unknown;
}

const TIME = "2026-05-04T12:00:00Z";
const CA = "LS0tLS1CRUdJTiBDRVJUSUZJQ0FURS0tLS0tCg==";
const KEY = "pOCSkrZRwni5dyxWn1+puxPZBrRqtoyd+dwrRAn4ogk=";

function manifest(group: string, kind: string, name: string, fields: object, namespace?: string): Manifest {
  const version = group === "ipam.liqo.io" ? "v1alpha1" : "v1beta1";
  return {
    apiVersion: `${group}/${version}`,
    kind,
    metadata: { name, ...(namespace !== undefined && { namespace }) },
    ...fields,
  };
}

const authentication = (kind: string, name: string, fields: object, namespace = "liqo-tenant-rome") =>
  manifest("authentication.liqo.io", kind, name, fields, namespace);
const offloading = (kind: string, name: string, fields: object, namespace = "liqo-tenant-milan") =>
  manifest("offloading.liqo.io", kind, name, fields, namespace);
const networking = (
  kind: string,
  name: string,
  fields: object,
  namespace: string | undefined = "liqo-tenant-milan",
) => manifest("networking.liqo.io", kind, name, fields, namespace);

const authParams = {
  ca: CA,
  signedCRT: CA,
  apiServer: "https://172.30.0.12:6443",
  proxyURL: "http://10.71.0.2:8118",
  awsConfig: {
    awsUserArn: "arn:aws:iam::111122223333:user/liqo-rome",
    awsAccessKeyID: "AKIAEXAMPLE",
    awsSecretAccessKey: "not-a-real-key",
    awsRegion: "eu-south-1",
    awsClusterName: "milan",
  },
};

const transition = { lastTransitionTime: TIME, reason: "Because", message: "it is so" };

const classes = {
  storageClasses: [{ storageClassName: "fast", default: true }, { storageClassName: "slow" }],
  ingressClasses: [{ ingressClassName: "nginx", default: true }],
  loadBalancerClasses: [{ loadBalancerClassName: "metal", default: false }],
};

const podSpec = {
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

const templateMetadata = {
  name: "gw-milan",
  namespace: "liqo-tenant-milan",
  labels: { app: "gw" },
  annotations: { "a.example/b": "c" },
  finalizers: ["example.org/hold"],
};

const deploymentTemplate = {
  metadata: templateMetadata,
  spec: {
    replicas: 2,
    selector: { matchLabels: { app: "gw" } },
    strategy: { type: "RollingUpdate", rollingUpdate: { maxSurge: "50%", maxUnavailable: 0 } },
    template: { metadata: { labels: { app: "gw" } }, spec: podSpec },
  },
};

const serviceTemplate = {
  metadata: templateMetadata,
  spec: {
    type: "NodePort",
    selector: { app: "gw" },
    ports: [{ name: "tunnel", port: 51840, targetPort: 51840, nodePort: 30742, protocol: "UDP" }],
  },
};

const metrics = {
  enabled: true,
  service: serviceTemplate,
  serviceMonitor: { metadata: templateMetadata, spec: { endpoints: [{ port: "metrics" }] } },
};

const reference = (kind: string, name: string, namespace = "liqo-tenant-milan") => ({
  apiVersion: "networking.liqo.io/v1beta1",
  kind,
  name,
  namespace,
  uid: "7f1bd6d4-3c5c-4a55-a3a2-5e2f6d5a7b11",
});

const moduleStatus = (type: string) => ({
  enabled: true,
  conditions: [{ type, status: "Ready", ...transition }],
});

const internalEndpoint = { ip: "10.200.1.7", node: "rome-node-1" };
const endpointStatus = { addresses: ["172.30.0.12", "gw.milan.example"], port: 30742, protocol: "UDP" };

const applied = [
  { host: "rome-node-1", type: "Applied", status: "True", observedGeneration: 4, lastTransitionTime: TIME },
];

export const SAMPLES: Manifest[] = [
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
    status: { observedGeneration: 2, tenantNamespace: "liqo-tenant-rome", authParams },
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

  offloading(
    "NamespaceOffloading",
    "offloading",
    {
      spec: {
        namespaceMappingStrategy: "SelectedName",
        remoteNamespaceName: "shop-of-rome",
        podOffloadingStrategy: "Remote",
        clusterSelector: {
          nodeSelectorTerms: [{ matchExpressions: [{ key: "zone", operator: "NotIn", values: ["south"] }] }],
        },
      },
      status: {
        remoteNamespaceName: "shop-of-rome",
        offloadingPhase: "Ready",
        remoteNamespacesConditions: { milan: [{ type: "Ready", status: "True", ...transition }] },
        observedGeneration: 1,
      },
    },
    "liqo-tenant-rome",
  ),
  offloading("NamespaceMap", "milan", {
    spec: { desiredMapping: { shop: "shop-rome" } },
    status: {
      observedGeneration: 2,
      currentMapping: { shop: { remoteNamespace: "shop-rome", phase: "Accepted" } },
    },
  }),
  offloading("VirtualNode", "milan", {
    spec: {
      clusterID: "milan",
      template: deploymentTemplate,
      offloadingPatch: {
        annotationsNotReflected: ["a.example/x"],
        labelsNotReflected: ["l.example/x"],
        nodeSelector: { pool: "guests" },
        tolerations: [{ key: "guests", operator: "Exists" }],
        affinity: {
          nodeAffinity: {
            preferredDuringSchedulingIgnoredDuringExecution: [
              {
                weight: 1,
                preference: { matchFields: [{ key: "metadata.name", operator: "In", values: ["n"] }] },
              },
            ],
          },
        },
        runtimeClassName: "gvisor",
      },
      createNode: true,
      disableNetworkCheck: true,
      kubeconfigSecretRef: { name: "kubeconfig-resourceslice-mypool" },
      images: [{ names: ["nginx:1.29"], sizeBytes: 60000000 }],
      resourceQuota: { hard: { cpu: 20, memory: "128Gi" } },
      labels: { zone: "north" },
      annotations: { owner: "platform" },
      taints: [{ key: "guests", value: "only", effect: "NoSchedule" }],
      ...classes,
      vkOptionsTemplateRef: { name: "virtual-kubelet-default", namespace: "liqo" },
    },
    status: {
      observedGeneration: 2,
      conditions: [
        { type: "VirtualKubelet", status: "Running", ...transition },
        { type: "Node", status: "Draining", ...transition },
      ],
    },
  }),
  offloading(
    "ShadowPod",
    "web-0",
    { spec: { pod: podSpec }, status: { observedGeneration: 2, phase: "Running" } },
    "liqo-tenant-rome",
  ),
  offloading(
    "ShadowEndpointSlice",
    "web-abcde",
    {
      spec: {
        template: {
          endpoints: [
            {
              addresses: ["10.70.0.9"],
              conditions: { ready: true },
              hostname: "web-0",
              nodeName: "rome",
              zone: "north",
              targetRef: { kind: "RemotePod", name: "web-0", namespace: "shop" },
              hints: { forZones: [{ name: "north" }] },
            },
          ],
          ports: [{ name: "http", port: 80, protocol: "TCP", appProtocol: "http" }],
          addressType: "IPv4",
        },
      },
    },
    "liqo-tenant-rome",
  ),
  offloading(
    "Quota",
    "mypool-c34af51dd912",
    {
      spec: {
        user: "mypool-c34af51dd912",
        limitsEnforcement: "Soft",
        resources: { cpu: "20", memory: "128Gi" },
        cordoned: true,
      },
    },
    "liqo-tenant-rome",
  ),
  offloading(
    "VkOptionsTemplate",
    "virtual-kubelet-default",
    {
      spec: {
        createNode: true,
        disableNetworkCheck: false,
        containerImage: "pulumi-liqo:0.1.0",
        metricsEnabled: true,
        metricsAddress: ":5872",
        labelsNotReflected: ["a"],
        annotationsNotReflected: ["b"],
        reflectorsConfig: { pod: { workers: 10 }, secret: { workers: 3, type: "DenyList" } },
        resources: { limits: { memory: "256Mi" }, requests: { cpu: "100m" } },
        extraArgs: ["--v=4"],
        extraAnnotations: { a: "b" },
        extraLabels: { c: "d" },
        nodeExtraAnnotations: { e: "f" },
        nodeExtraLabels: { g: "h" },
        replicas: 2,
        imagePullSecrets: [{ name: "registry" }],
        pullPolicy: "IfNotPresent",
        tolerations: [{ key: "infra", operator: "Exists", effect: "NoSchedule" }],
      },
    },
    "default",
  ),

  manifest(
    "ipam.liqo.io",
    "Network",
    "external-cidr",
    {
      spec: { cidr: "10.70.0.0/16", preAllocated: 1 },
      status: { observedGeneration: 2, cidr: "10.72.0.0/16" },
    },
    "default",
  ),
  manifest(
    "ipam.liqo.io",
    "IP",
    "printer",
    {
      spec: {
        ip: "192.168.7.20",
        networkRef: { kind: "Network", name: "external-cidr", namespace: "default" },
        serviceTemplate,
        masquerade: true,
      },
      status: { observedGeneration: 2, ip: "10.72.0.4", cidr: "10.72.0.0/16" },
    },
    "default",
  ),

  networking("Configuration", "milan-networks", {
    spec: {
      local: { cidr: { pod: ["10.200.0.0/16", "fd00:200::/48"], external: ["10.70.0.0/16"] } },
      remote: { cidr: { pod: ["10.201.0.0/16"], external: ["10.71.0.0/16"] } },
    },
    status: {
      observedGeneration: 2,
      conditions: [{ type: "NetworkCIDRsConfigured", status: "False", observedGeneration: 1, ...transition }],
      remote: { cidr: { pod: ["10.73.0.0/16", ""], external: ["10.74.0.0/16"] } },
    },
  }),
  networking("Connection", "gw-milan", {
    spec: { type: "Client", gatewayRef: reference("GatewayClient", "milan") },
    status: { observedGeneration: 2, value: "Connected", latency: { value: "12ms", timestamp: TIME } },
  }),
  networking("PublicKey", "milan", { spec: { publicKey: KEY } }),
  networking(
    "GatewayServer",
    "rome",
    {
      spec: {
        serverTemplateRef: reference("WgGatewayServerTemplate", "wireguard-server", "liqo-system"),
        mtu: 1340,
        endpoint: {
          ports: [51840, 51841],
          serviceType: "LoadBalancer",
          nodePorts: [30742, 30743],
          loadBalancerIP: "172.30.0.200",
        },
        secretRef: { name: "gw-keys" },
        serviceAnnotations: { a: "b" },
        serviceLabels: { c: "d" },
      },
      status: {
        observedGeneration: 2,
        serverRef: reference("WgGatewayServer", "rome", "liqo-tenant-rome"),
        endpoint: { addresses: ["172.30.0.200"], ports: [51840, 51841], protocol: "UDP" },
        secretRef: { name: "gw-keys", namespace: "liqo-tenant-rome" },
        internalEndpoint,
      },
    },
    "liqo-tenant-rome",
  ),
  networking("GatewayClient", "milan", {
    spec: {
      clientTemplateRef: reference("WgGatewayClientTemplate", "wireguard-client", "liqo"),
      mtu: 1340,
      endpoint: endpointStatus,
      secretRef: { name: "gw-keys" },
    },
    status: {
      observedGeneration: 2,
      clientRef: reference("WgGatewayClient", "milan"),
      secretRef: { name: "gw-keys", namespace: "liqo-tenant-milan" },
      internalEndpoint,
    },
  }),
  networking(
    "WgGatewayServer",
    "rome",
    {
      spec: {
        service: serviceTemplate,
        deployment: deploymentTemplate,
        metrics,
        secretRef: { name: "gw-rome" },
      },
      status: {
        observedGeneration: 2,
        secretRef: { name: "gw-rome" },
        endpoint: endpointStatus,
        internalEndpoint,
      },
    },
    "liqo-tenant-rome",
  ),
  networking("WgGatewayClient", "milan", {
    spec: { deployment: deploymentTemplate, metrics, secretRef: { name: "gw-milan" } },
    status: { observedGeneration: 2, secretRef: { name: "gw-milan" }, internalEndpoint },
  }),
  networking(
    "WgGatewayServerTemplate",
    "wireguard-server",
    {
      spec: {
        objectKind: { apiVersion: "networking.liqo.io/v1beta1", kind: "WgGatewayServer" },
        template: { metadata: { name: "{{ .Name }}" }, spec: { anything: [{ goes: "{{ .Spec.MTU }}" }] } },
      },
    },
    "default",
  ),
  networking(
    "WgGatewayClientTemplate",
    "wireguard-client",
    {
      spec: {
        objectKind: { apiVersion: "networking.liqo.io/v1beta1", kind: "WgGatewayClient" },
        template: { metadata: { name: "{{ .Name }}" }, spec: { deployment: 3 } },
      },
    },
    "default",
  ),
  manifest("networking.liqo.io", "InternalNode", "rome-node-1", {
    spec: { interface: { gateway: { name: "liqo.bcdfghjklm" }, node: { ip: "10.80.0.1" } } },
    status: { observedGeneration: 2, nodeIP: { local: "10.200.1.1", remote: "172.30.0.11" } },
  }),
  networking("InternalFabric", "milan", {
    spec: {
      mtu: 1340,
      remoteCIDRs: ["10.73.0.0/16", "10.74.0.0/16"],
      interface: { node: { name: "liqo.nopqrstvwx" }, gateway: { ip: "10.80.0.2" } },
      gatewayIP: "10.200.1.7",
    },
  }),
  networking("GeneveTunnel", "milan-rome-node-1", {
    spec: {
      id: 7,
      internalNodeRef: { name: "rome-node-1" },
      internalFabricRef: { name: "milan", namespace: "liqo-tenant-milan" },
    },
  }),
  networking("RouteConfiguration", "milan-node-gw", {
    spec: {
      table: {
        name: "milan-node-gw",
        targetRef: { kind: "InternalFabric", name: "milan" },
        rules: [
          {
            dst: "10.73.0.0/16",
            src: "10.200.0.0/16",
            iif: "liqo-tunnel",
            oif: "eth0",
            fwmark: 5,
            priority: 100,
            targetRef: { kind: "Pod", name: "web-0" },
            routes: [
              {
                dst: "10.73.0.0/16",
                src: "10.80.0.1",
                gw: "10.80.0.2",
                dev: "liqo.nopqrstvwx",
                onlink: true,
                scope: "link",
                targetRef: { kind: "Pod", name: "web-0" },
              },
            ],
          },
          { routes: [] },
        ],
      },
    },
    status: { conditions: applied },
  }),
  networking("FirewallConfiguration", "milan-remap-podcidr", {
    spec: {
      table: {
        name: "remap-podcidr",
        family: "IPV4",
        chains: [
          {
            name: "outgoing",
            type: "nat",
            policy: "accept",
            hook: "prerouting",
            priority: -100,
            rules: {
              natRules: [
                {
                  name: "milan",
                  match: [
                    { op: "eq", ip: { value: "10.73.0.0/16", position: "dst" } },
                    { op: "neq", dev: { value: "liqo-tunnel", position: "in" } },
                    { op: "eq", proto: { value: "udp" }, port: { value: "53", position: "src" } },
                  ],
                  natType: "dnat",
                  to: "10.201.0.0/16",
                  targetRef: { kind: "Configuration", name: "milan" },
                },
              ],
            },
          },
          {
            name: "clamp",
            type: "filter",
            policy: "drop",
            hook: "forward",
            priority: 0,
            rules: {
              filterRules: [
                {
                  name: "mss",
                  counter: false,
                  match: [
                    { op: "eq", proto: { value: "tcp" }, port: { value: "80-90", position: "dst" } },
                    { op: "neq", ip: { value: "10.71.0.1-10.71.0.9", position: "src" } },
                    { op: "eq", dev: { value: "liqo-tunnel", position: "out" } },
                  ],
                  action: "tcpmssclamp",
                  value: "1300",
                },
              ],
            },
          },
          {
            name: "routes",
            type: "route",
            policy: "accept",
            hook: "output",
            priority: 1,
            rules: { routeRules: [{ name: "nothing" }] },
          },
        ],
      },
    },
    status: { conditions: applied },
  }),
];

for (const { kind, metadata } of SAMPLES) {
  if (kind === "NamespaceMap") metadata.labels = { "liqo.io/replication": "true" };
  if (kind === "Configuration") metadata.labels = { "liqo.io/remote-cluster-id": "milan" };
}

/** The sample of a kind with a field replaced: `with("Tenant", "spec.clusterID", "Rome")`. */
function replaced(kind: string, path: string, value: unknown): Manifest {
  const sample = SAMPLES.find((candidate) => candidate.kind === kind);
  if (sample === undefined) throw new Error(`no sample of ${kind}`);
  const object = structuredClone(sample);
  setField(object, path.split("."), value);
  return object;
}

function setField(holder: unknown, [step = "", ...rest]: string[], value: unknown): void {
  const fields = holder as Record<string, unknown>;
  if (rest.length > 0) setField(fields[step], rest, value);
  else if (value === undefined) delete fields[step];
  else fields[step] = value;
}

export interface Refusal {
  what: string;
  object: Manifest;
  /** Where the wrong value stands in the status. */
  subresource?: "status";
  /** What the API server's message and the one of `parse` must contain: the field, at least. */
  message: RegExp;
}

function refusal(kind: string, path: string, value: unknown, named = path): Refusal {
  const inStatus = path.startsWith("status.");
  const object = replaced(kind, path, value);
  // Another name, so that a refusal cannot be a conflict; a status needs the stored object.
  if (!inStatus && kind !== "NamespaceOffloading") object.metadata.name = "refused";
  const field = named.replace(/\.(\d+)(?=\.|$)/g, "[$1]").replace(/[.[\]]/g, "\\$&");
  return {
    what: `${path} ${JSON.stringify(value) ?? "missing"}`,
    object,
    ...(inStatus && { subresource: "status" as const }),
    message: new RegExp(field),
  };
}

/** Wrong values: every enum, pattern, format and required field. */
export const REFUSALS: Refusal[] = [
  refusal("Tenant", "spec.clusterID", "Rome"),
  refusal("Tenant", "spec.authzPolicy", "Trust"),
  refusal("Tenant", "spec.tenantCondition", "Sleeping"),
  refusal("Tenant", "spec.publicKey", "no base64!"),
  refusal("Tenant", "status.authParams.awsConfig.awsRegion", undefined),
  refusal("Identity", "spec.type", "Node"),
  refusal("Identity", "spec.authParams.ca", "%%%"),
  refusal("ResourceSlice", "spec.providerClusterID", "-milan"),
  refusal("ResourceSlice", "spec.resources.cpu", "lots"),
  refusal("ResourceSlice", "status.conditions.0.type", "Network"),
  refusal("ResourceSlice", "status.conditions.1.status", "Maybe"),
  refusal("ResourceSlice", "status.storageClasses.0.storageClassName", undefined),
  refusal("Renew", "spec.consumerClusterID", "ROME"),
  refusal("ForeignCluster", "spec.clusterID", "milan_1"),
  refusal("ForeignCluster", "spec.clusterID", undefined),
  refusal("ForeignCluster", "status.role", "Friend"),
  refusal("ForeignCluster", "status.modules.networking", undefined),
  refusal("ForeignCluster", "status.conditions.0.type", "Weather"),
  refusal("ForeignCluster", "status.conditions.0.status", "Fine"),
  refusal("NamespaceOffloading", "spec.namespaceMappingStrategy", "Random"),
  refusal("NamespaceOffloading", "spec.remoteNamespaceName", undefined, "spec: "),
  refusal("NamespaceOffloading", "spec.remoteNamespaceName", "", "spec: "),
  refusal("NamespaceOffloading", "spec.podOffloadingStrategy", "Nowhere"),
  refusal("NamespaceOffloading", "spec.clusterSelector.nodeSelectorTerms", undefined),
  refusal("NamespaceMap", "status.currentMapping.shop.phase", "Thinking"),
  refusal("VirtualNode", "spec.clusterID", "Milan"),
  refusal("VirtualNode", "spec.storageClasses.0.storageClassName", 3),
  refusal("VirtualNode", "spec.template.spec.selector", undefined),
  refusal("VirtualNode", "spec.taints.0.effect", undefined),
  refusal("VirtualNode", "spec.resourceQuota.hard.memory", "128 GiB"),
  refusal("VirtualNode", "status.conditions.0.type", "Kubelet"),
  refusal("VirtualNode", "status.conditions.0.status", "Walking"),
  refusal("ShadowPod", "spec.pod.containers", undefined),
  refusal("ShadowPod", "spec.pod.containers.0.image", 3),
  refusal("ShadowPod", "spec.pod.hostNetwork", "yes"),
  refusal("ShadowPod", "spec.pod.volumes.0.configMap.defaultMode", "0644"),
  refusal("ShadowPod", "status.phase", "Asleep"),
  refusal("ShadowEndpointSlice", "spec.template.endpoints.0.addresses", undefined),
  refusal("Quota", "spec.user", ""),
  refusal("Quota", "spec.limitsEnforcement", "none"),
  refusal("Quota", "spec.resources", undefined),
  refusal("VkOptionsTemplate", "spec.createNode", undefined),
  refusal("VkOptionsTemplate", "spec.reflectorsConfig.pod.workers", -1),
  refusal("Network", "spec.cidr", "10.70.0.0"),
  refusal("Network", "spec.cidr", "10.70.0.0/33"),
  refusal("Network", "spec.preAllocated", -1),
  refusal("Network", "status.cidr", "everything"),
  refusal("IP", "spec.ip", "192.168.7.256"),
  refusal("IP", "status.ip", "fd00::1"),
  refusal("Configuration", "spec.remote.cidr.pod", "10.201.0.0"),
  refusal("Configuration", "spec.remote.cidr.pod.0", "10.201.0.0/40"),
  refusal("Configuration", "spec.local.cidr.external", { first: "10.70.0.0/16" }),
  refusal("Configuration", "status.remote.cidr.pod.0", "10.73.0.0"),
  refusal("Configuration", "status.conditions.0.status", "Perhaps"),
  refusal("Connection", "spec.type", "Peer"),
  refusal("Connection", "spec.gatewayRef", undefined),
  refusal("PublicKey", "spec.publicKey", "key"),
  refusal("PublicKey", "spec.publicKey", "AAAA"),
  refusal("GatewayServer", "spec.endpoint.serviceType", "Ingress"),
  refusal("GatewayServer", "spec.endpoint.port", 51840, "spec.endpoint"),
  refusal("GatewayServer", "spec.endpoint.ports", [], "spec.endpoint"),
  refusal("GatewayServer", "spec.endpoint.ports", [51840, 51840], "spec.endpoint"),
  refusal("GatewayServer", "spec.endpoint.nodePort", 30742, "spec.endpoint"),
  refusal("GatewayServer", "spec.endpoint.nodePorts", [30742, 30742], "spec.endpoint"),
  refusal("GatewayServer", "spec.endpoint.ports.0", 0),
  refusal("GatewayServer", "spec.endpoint.ports.1", 65_536),
  refusal("GatewayServer", "spec.endpoint.nodePorts.0", -1),
  refusal("GatewayServer", "spec.endpoint.nodePorts.1", 65_536),
  refusal("GatewayServer", "spec.mtu", "1340"),
  refusal("GatewayServer", "spec.mtu", 575),
  refusal("GatewayServer", "spec.mtu", 65_536),
  refusal("GatewayClient", "spec.endpoint.protocol", "SCTP"),
  refusal("GatewayClient", "spec.endpoint.port", undefined, "spec.endpoint"),
  refusal("GatewayClient", "spec.endpoint.port", 99_999),
  refusal("GatewayClient", "spec.endpoint.port", 0),
  refusal("GatewayClient", "spec.mtu", 0),
  refusal("GatewayClient", "status.internalEndpoint.ip", "gw"),
  refusal("WgGatewayServer", "spec.service", undefined),
  refusal("WgGatewayServer", "spec.metrics.enabled", undefined),
  refusal("WgGatewayClient", "spec.deployment", undefined),
  refusal("WgGatewayServerTemplate", "spec.objectKind.kind", 1),
  refusal("WgGatewayClientTemplate", "spec.template", "text"),
  refusal("InternalNode", "spec.interface.node.ip", "10.80.0.0/16"),
  refusal("InternalNode", "status.nodeIP", undefined),
  refusal("InternalFabric", "spec.remoteCIDRs.1", "10.74"),
  refusal("InternalFabric", "spec.gatewayIP", undefined),
  refusal("GeneveTunnel", "spec.id", 1.5),
  refusal("GeneveTunnel", "spec.internalNodeRef", undefined),
  refusal("RouteConfiguration", "spec.table.rules", []),
  refusal("RouteConfiguration", "spec.table.rules.0.dst", "10.73.0.0"),
  refusal("RouteConfiguration", "spec.table.rules.0.routes.0.scope", "universe"),
  refusal("RouteConfiguration", "spec.table.rules.1.routes", undefined),
  refusal("RouteConfiguration", "status.conditions.0.host", undefined),
  refusal("FirewallConfiguration", "spec.table.family", "ipv4"),
  refusal("FirewallConfiguration", "spec.table.chains.0.type", "mangle"),
  refusal("FirewallConfiguration", "spec.table.chains.0.policy", "reject"),
  refusal("FirewallConfiguration", "spec.table.chains.0.hook", "egress"),
  refusal("FirewallConfiguration", "spec.table.chains.0.rules.routeRules", [], "spec.table.chains.0.rules"),
  refusal("FirewallConfiguration", "spec.table.chains.0.rules.natRules.0.natType", "full"),
  refusal("FirewallConfiguration", "spec.table.chains.0.rules.natRules.0.match.0.op", "gt"),
  refusal("FirewallConfiguration", "spec.table.chains.0.rules.natRules.0.match.0.ip.position", "both"),
  refusal("FirewallConfiguration", "spec.table.chains.1.rules.filterRules.0.action", "log"),
  refusal("FirewallConfiguration", "spec.table.chains.1.rules.filterRules.0.match.0.proto.value", "icmp"),
  refusal("FirewallConfiguration", "status.conditions.0.type", "Done"),
];

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
