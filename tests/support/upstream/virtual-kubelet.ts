/** What upstream's virtual kubelet writes into a namespace that is offloaded, by the identity of its slice (offloading reference 10 and 11). */
import { createHash } from "node:crypto";

import { type GoClient, type Sort, sorts, type Unwritten, type Wire } from "./go-client";

const MANAGER = "reflection.liqo.io";
const TOKENS = "kube-api-access-x2b4c";

export interface Reflection {
  kubelet: GoClient;
  consumer: string;
  provider: string;
  /** Of the provider. */
  namespace: string;
}

export class UpstreamKubelet {
  constructor(private readonly reflection: Reflection) {}

  private get labels(): Record<string, string> {
    const { consumer, provider } = this.reflection;
    return { "offloading.liqo.io/origin": consumer, "offloading.liqo.io/destination": provider };
  }

  ref = (name: string) => ({ name, namespace: this.reflection.namespace });

  /** The informers of a namespace: everything in it, whoever made it. */
  async start(): Promise<void> {
    const kinds: Sort[] = [
      sorts.pod,
      sorts.shadowPod,
      sorts.service,
      sorts.ingress,
      sorts.configMap,
      sorts.secret,
      sorts.volumeClaim,
      sorts.event,
      sorts.shadowEndpointSlice,
    ];
    const { kubelet, namespace } = this.reflection;
    await Promise.all(kinds.map((sort) => kubelet.inform(sort, namespace)));
  }

  /** A ShadowPod whose pod talks to the consumer's API server, at an address of the consumer's. */
  async shadowPod(name: string, apiServer: string, pod: object = {}): Promise<Wire> {
    const { kubelet, provider } = this.reflection;
    return await kubelet.create(
      {
        ...sorts.shadowPod,
        metadata: {
          ...this.ref(name),
          labels: {
            app: name,
            "pod-template-hash": "7c6b5d4f9",
            "offloading.liqo.io/nodename": provider,
            ...this.labels,
          },
          annotations: { "cni.projectcalico.org/podIP": "" },
        },
        spec: { pod: { ...podSpec(name, apiServer), ...pod } },
        status: { phase: "" },
      },
      MANAGER,
    );
  }

  /** What each look at the pod brings: an update without the labels that are the provider's. */
  async lookAgain(name: string, labels: Record<string, string> = {}): Promise<Wire> {
    const { kubelet, provider } = this.reflection;
    const read = await kubelet.get(sorts.shadowPod, this.ref(name));
    const forged = {
      app: name,
      "pod-template-hash": "7c6b5d4f9",
      "offloading.liqo.io/nodename": provider,
      ...labels,
      ...this.labels,
    };
    return await kubelet.update({ ...read, metadata: { ...read.metadata, labels: forged } }, MANAGER);
  }

  async delete(sort: Sort, name: string): Promise<void> {
    const { metadata } = await this.reflection.kubelet.get(sort, this.ref(name));
    await this.reflection.kubelet.delete(sort, this.ref(name), metadata.uid);
  }

  /** What the API server answers where the kubelet's own server would pass a user on. */
  async open(pod: string): Promise<{ path: string; status: number }[]> {
    const { kubelet, namespace, consumer } = this.reflection;
    const base = `/api/v1/namespaces/${namespace}/pods/${pod}`;
    const requests = [
      ["GET", `${base}/log?container=web`],
      ["POST", `${base}/exec?command=ls&container=web&stdout=true`],
      ["POST", `${base}/attach?container=web&stdout=true`],
      ["POST", `${base}/portforward?ports=8080`],
      ["GET", `/apis/metrics.liqo.io/v1beta1/scrape/${consumer}/metrics`],
      ["GET", "/livez"],
    ] as const;
    return await Promise.all(
      requests.map(async ([method, path]) => ({ path, status: await kubelet.status(method, path) })),
    );
  }

  /** By server-side apply, once more at each event: nothing may change the second time. */
  async apply(object: Sort & Record<string, unknown>, name: string, more: Metadata = {}): Promise<Wire> {
    const labels = { ...more.labels, ...this.labels };
    const whole = { ...object, metadata: { ...this.ref(name), ...more, labels } };
    await this.reflection.kubelet.apply(whole, MANAGER);
    return await this.reflection.kubelet.apply(whole, MANAGER);
  }

  /** The token of a pod's account, with the names of 10.8. */
  async token(pod: string, uid: string): Promise<Wire> {
    const secret = { ...sorts.secret, type: "Opaque", immutable: false, stringData: { [tokenKey]: "abc" } };
    return await this.apply(secret, `${pod}-token`, {
      labels: {
        "offloading.liqo.io/nodename": this.reflection.provider,
        "offloading.liqo.io/service-account-name": "default",
      },
      annotations: {
        "offloading.liqo.io/service-account-for-pod-name": pod,
        "offloading.liqo.io/service-account-for-pod-uid": uid,
        "offloading.liqo.io/service-account-expiration": "2027-01-01T10:00:00Z",
      },
    });
  }

  /** The endpoints of a Service that are not at the provider: made, then updated by a typed client. */
  async endpoints(service: string, address: string): Promise<Wire> {
    const { kubelet, consumer } = this.reflection;
    const object = (endpoint: object): Unwritten => ({
      ...sorts.shadowEndpointSlice,
      metadata: {
        ...this.ref(`${service}-k7x2p`),
        labels: {
          "kubernetes.io/service-name": service,
          ...this.labels,
          "endpointslice.kubernetes.io/managed-by": "endpointslice.reflection.liqo.io",
        },
      },
      spec: {
        template: {
          endpoints: [
            {
              addresses: [address],
              conditions: { ready: true },
              targetRef: { kind: "RemotePod", namespace: "shop", name: `${service}-0` },
              nodeName: consumer,
              ...endpoint,
            },
          ],
          ports: [{ name: "http", port: 8080, protocol: "TCP" }],
          addressType: "IPv4",
        },
      },
    });
    const made = await kubelet.create(object({ hostname: `${service}-0` }), MANAGER);
    return await kubelet.update({ ...made, spec: object({ zone: "north" }).spec }, MANAGER);
  }
}

interface Metadata {
  labels?: Record<string, string>;
  annotations?: Record<string, string>;
}

const tokenKey = `${TOKENS}-${createHash("sha256").update("token").digest("hex").slice(0, 6)}`;

/** As forged of a pod that its API server filled in (11.4). */
function podSpec(name: string, apiServer: string): object {
  const host = "kubernetes.default";
  const address = `tcp://${host}:443`;
  const env = [
    { name: "KUBERNETES_SERVICE_HOST", value: host },
    { name: "KUBERNETES_SERVICE_PORT", value: "443" },
    { name: "KUBERNETES_PORT", value: address },
    { name: "KUBERNETES_PORT_443_TCP", value: address },
    { name: "KUBERNETES_PORT_443_TCP_PROTO", value: "tcp" },
    { name: "KUBERNETES_PORT_443_TCP_ADDR", value: host },
    { name: "KUBERNETES_PORT_443_TCP_PORT", value: "443" },
  ];
  const container = {
    image: "web:1",
    env: [{ name: "ACCOUNT", value: "default" }, ...env],
    resources: { requests: { cpu: "100m", memory: "64Mi" } },
    volumeMounts: [
      { name: TOKENS, readOnly: true, mountPath: "/var/run/secrets/kubernetes.io/serviceaccount" },
    ],
    terminationMessagePath: "/dev/termination-log",
    terminationMessagePolicy: "File",
    imagePullPolicy: "IfNotPresent",
  };
  const perishing = (key: string) => ({
    key: `node.kubernetes.io/${key}`,
    operator: "Exists",
    effect: "NoExecute",
    tolerationSeconds: 300,
  });
  return {
    volumes: [
      {
        name: TOKENS,
        projected: {
          sources: [
            { secret: { name: `${name}-token`, items: [{ key: tokenKey, path: "token" }] } },
            { configMap: { name: "kube-root-ca.crt.turin", items: [{ key: "ca.crt", path: "ca.crt" }] } },
            {
              downwardAPI: {
                items: [
                  { path: "namespace", fieldRef: { apiVersion: "v1", fieldPath: "metadata.namespace" } },
                ],
              },
            },
          ],
          defaultMode: 420,
        },
      },
    ],
    initContainers: [{ name: "init", command: ["true"], ...container }],
    containers: [{ name: "web", ports: [{ containerPort: 8080, protocol: "TCP" }], ...container }],
    restartPolicy: "Always",
    terminationGracePeriodSeconds: 30,
    dnsPolicy: "ClusterFirst",
    automountServiceAccountToken: false,
    securityContext: {},
    tolerations: [perishing("not-ready"), perishing("unreachable")],
    hostAliases: [{ ip: apiServer, hostnames: ["kubernetes.default", "kubernetes.default.svc"] }],
    enableServiceLinks: true,
    topologySpreadConstraints: [
      {
        maxSkew: 1,
        topologyKey: "kubernetes.io/hostname",
        whenUnsatisfiable: "ScheduleAnyway",
        labelSelector: { matchLabels: { app: name } },
      },
    ],
  };
}

/** The pod's own account and what is served to it at the provider, as the annotation `liqo.io/api-server-support: remote` has it. */
export const REMOTE_SUPPORT = {
  serviceAccountName: "default",
  automountServiceAccountToken: true,
  hostAliases: [],
  volumes: [
    {
      name: TOKENS,
      projected: {
        sources: [
          { serviceAccountToken: { expirationSeconds: 3607, path: "token" } },
          { configMap: { name: "kube-root-ca.crt", items: [{ key: "ca.crt", path: "ca.crt" }] } },
        ],
        defaultMode: 420,
      },
    },
  ],
};

/** What goes along with the pods of a Service, as upstream forges it (10.1 to 10.5). */
export function neighbours(service: string): (Sort & Record<string, unknown>)[] {
  const port = { name: "http", protocol: "TCP", port: 80, targetPort: 8080, nodePort: 0 };
  const backend = { service: { name: service, port: { number: 80 } } };
  return [
    {
      ...sorts.service,
      spec: {
        type: "ClusterIP",
        selector: { app: service },
        ports: [port],
        internalTrafficPolicy: "Cluster",
        ipFamilyPolicy: "SingleStack",
        publishNotReadyAddresses: false,
        sessionAffinity: "None",
      },
    },
    {
      ...sorts.ingress,
      spec: {
        rules: [{ host: "shop.example.org", http: { paths: [{ path: "/", pathType: "Prefix", backend }] } }],
        tls: [{ hosts: ["shop.example.org"], secretName: "password" }],
      },
    },
    {
      ...sorts.volumeClaim,
      spec: {
        accessModes: ["ReadWriteOnce"],
        volumeMode: "Filesystem",
        resources: { requests: { storage: "1Gi" } },
      },
    },
  ];
}
