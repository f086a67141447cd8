/** What a ShadowPod and its pod look like at a provider while they come and go, with all that API servers add. */

export const NAMESPACE = "shop-rome";
export const SLICE_USER = "pool-rome";
const OFFLOADING = "offloading.liqo.io/v1beta1";
const MADE = "2026-11-30T06:00:00Z";

type Json = Record<string, unknown>;

/** @param creator its label, as the webhook writes it */
export function shadowPod(name: string, version: number, creator: string, phase?: string): Json {
  return {
    apiVersion: OFFLOADING,
    kind: "ShadowPod",
    metadata: {
      ...identityOf(name, `shadow-${name}`, version, creator),
      managedFields: [
        managed("liqo-virtual-kubelet", OFFLOADING, {
          "f:metadata": { "f:labels": fieldsOf(labelsOf(creator)) },
          "f:spec": { "f:pod": { "f:containers": {}, "f:volumes": {}, "f:restartPolicy": {} } },
        }),
        ...(phase === undefined
          ? []
          : [managed("liqo-controller-manager", OFFLOADING, { "f:status": { "f:phase": {} } })]),
      ],
    },
    spec: { pod: podSpec() },
    ...(phase === undefined ? {} : { status: { phase, observedGeneration: 1 } }),
  };
}

export function pod(
  name: string,
  version: number,
  creator: string,
  stage: "made" | "bound" | "runs" | "ends",
): Json {
  const { containers, ...spec } = podSpec();
  const running = stage === "runs" || stage === "ends";
  return {
    apiVersion: "v1",
    kind: "Pod",
    metadata: {
      ...identityOf(name, `pod-${name}`, version, creator),
      labels: { ...labelsOf(creator), "liqo.io/managed-by": "shadowpod" },
      ...(stage === "ends" ? { deletionTimestamp: MADE, deletionGracePeriodSeconds: 30 } : {}),
      ownerReferences: [
        {
          apiVersion: OFFLOADING,
          kind: "ShadowPod",
          name,
          uid: `shadow-${name}`,
          controller: true,
          blockOwnerDeletion: true,
        },
      ],
      managedFields: [
        managed("liqo-controller-manager", "v1", {
          "f:metadata": { "f:labels": fieldsOf(labelsOf(creator)), "f:ownerReferences": { ".": {} } },
          "f:spec": { "f:containers": {}, "f:volumes": {}, "f:restartPolicy": {}, "f:securityContext": {} },
        }),
        ...(running
          ? [
              managed("kubelet", "v1", {
                "f:status": { "f:conditions": {}, "f:containerStatuses": {}, "f:podIP": {} },
              }),
            ]
          : []),
      ],
    },
    spec: {
      ...spec,
      containers: (containers as Json[]).map((container) => ({
        ...container,
        terminationMessagePath: "/dev/termination-log",
        terminationMessagePolicy: "File",
        imagePullPolicy: "IfNotPresent",
      })),
      dnsPolicy: "ClusterFirst",
      schedulerName: "default-scheduler",
      serviceAccountName: "default",
      securityContext: {},
      terminationGracePeriodSeconds: 30,
      tolerations: ["not-ready", "unreachable"].map((taint) => ({
        key: `node.kubernetes.io/${taint}`,
        operator: "Exists",
        effect: "NoExecute",
        tolerationSeconds: 300,
      })),
      ...(stage === "made" ? {} : { nodeName: "worker-1" }),
    },
    status: {
      phase: running ? "Running" : "Pending",
      qosClass: "Burstable",
      conditions: ["PodScheduled", "Initialized", "ContainersReady", "Ready"].map((type) => ({
        type,
        status: "True",
        lastProbeTime: null,
        lastTransitionTime: MADE,
      })),
      ...(running
        ? {
            podIP: "10.72.3.4",
            hostIP: "10.10.0.3",
            containerStatuses: [
              {
                name: "web",
                image: "web:1",
                imageID: "web@sha256:0",
                ready: true,
                restartCount: 0,
                started: true,
              },
            ],
          }
        : {}),
    },
  };
}

/** The body of a webhook call for a new ShadowPod. */
export function review(name: string, creator: string): string {
  const { metadata, ...object } = shadowPod(name, 0, creator);
  return JSON.stringify({
    apiVersion: "admission.k8s.io/v1",
    kind: "AdmissionReview",
    request: {
      uid: `review-${name}`,
      operation: "CREATE",
      name,
      namespace: NAMESPACE,
      userInfo: { username: SLICE_USER, groups: ["rome", "system:authenticated"] },
      object: { ...object, metadata },
      dryRun: false,
    },
  });
}

function identityOf(name: string, uid: string, version: number, creator: string): Json {
  return {
    name,
    namespace: NAMESPACE,
    uid,
    resourceVersion: String(version),
    generation: 1,
    creationTimestamp: MADE,
    labels: labelsOf(creator),
    annotations: { "liqo.io/origin-node": "milan" },
  };
}

function labelsOf(creator: string): Record<string, string> {
  return {
    app: "web",
    "pod-template-hash": "6bcbd9d7f8",
    "offloading.liqo.io/origin": "rome",
    "offloading.liqo.io/destination": "milan",
    "offloading.liqo.io/nodename": "milan",
    "liqo.io/creator-user": creator,
  };
}

function managed(manager: string, apiVersion: string, fieldsV1: Json): Json {
  return { manager, operation: "Update", apiVersion, time: MADE, fieldsType: "FieldsV1", fieldsV1 };
}

function fieldsOf(values: object): Json {
  return Object.fromEntries(Object.keys(values).map((key) => [`f:${key}`, {}]));
}

function podSpec(): Json {
  return {
    containers: [
      {
        name: "web",
        image: "registry.example/web:1",
        env: [{ name: "PORT", value: "8080" }],
        ports: [{ containerPort: 8080, protocol: "TCP" }],
        resources: { requests: { cpu: "1m", memory: "1Mi" } },
        volumeMounts: [
          { name: "token", readOnly: true, mountPath: "/var/run/secrets/kubernetes.io/serviceaccount" },
        ],
      },
    ],
    volumes: [
      {
        name: "token",
        projected: {
          defaultMode: 420,
          sources: [
            { secret: { name: "default-token-web", items: [{ key: "token", path: "token" }] } },
            { configMap: { name: "kube-root-ca.crt.rome", items: [{ key: "ca.crt", path: "ca.crt" }] } },
          ],
        },
      },
    ],
    restartPolicy: "Always",
    automountServiceAccountToken: false,
  };
}
