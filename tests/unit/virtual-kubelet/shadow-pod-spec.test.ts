import type { PodSpec } from "kubernetes-types/core/v1";
import assert from "node:assert/strict";

import type { WholePodSpec } from "../../../runtime/api";
import {
  remoteAffinity,
  shadowPodSpec,
  type SpecContext,
  withoutDefaults,
} from "../../../runtime/virtual-kubelet/pods/shadow-pod-spec";

const home = { host: "kubernetes.default", port: "6443", addresses: ["10.80.0.1"] };

const context = (changes: Partial<SpecContext> = {}): SpecContext => ({
  consumerId: "rome",
  apiServer: "disabled",
  ...changes,
});

const shadow = (
  spec: Partial<WholePodSpec>,
  changes: Partial<SpecContext> = {},
  annotations?: Record<string, string>,
): WholePodSpec =>
  shadowPodSpec(
    {
      name: "web-0",
      annotations,
      spec: { containers: [{ name: "app", image: "app" }], ...spec },
      remoteLabels: { app: "web" },
    },
    context(changes),
  );

const apiAccess = {
  name: "kube-api-access-x2k9p",
  projected: {
    defaultMode: 256,
    sources: [
      { serviceAccountToken: { path: "token", expirationSeconds: 3607 } },
      { configMap: { name: "kube-root-ca.crt", items: [{ key: "ca.crt", path: "ca.crt" }] } },
      { downwardAPI: { items: [{ path: "namespace", fieldRef: { fieldPath: "metadata.namespace" } }] } },
    ],
  },
};

describe("shadowPodSpec", () => {
  it("copies what means the same at the provider and drops what places the pod here", () => {
    const copied: Partial<PodSpec> = {
      activeDeadlineSeconds: 60,
      dnsPolicy: "Default",
      enableServiceLinks: false,
      hostUsers: false,
      hostname: "web",
      imagePullSecrets: [{ name: "registry" }],
      initContainers: [{ name: "init", image: "init" }],
      restartPolicy: "OnFailure",
      securityContext: { runAsUser: 7 },
      subdomain: "sub",
      terminationGracePeriodSeconds: 5,
      volumes: [{ name: "data", emptyDir: {} }],
    };
    const dropped: Partial<PodSpec> = {
      affinity: { podAffinity: {} },
      hostNetwork: true,
      nodeName: "milan",
      nodeSelector: { zone: "a" },
      overhead: { cpu: "1" },
      preemptionPolicy: "Never",
      priority: 7,
      priorityClassName: "high",
      schedulerName: "other",
      schedulingGates: [{ name: "gate" }],
      serviceAccountName: "robot",
    };
    assert.deepEqual(shadow({ ...copied, ...dropped }), {
      ...copied,
      containers: [{ name: "app", image: "app" }],
      automountServiceAccountToken: false,
    });
  });

  it("does not carry the toleration of virtual nodes on", () => {
    const { tolerations } = shadow(
      {
        tolerations: [
          { key: "virtual-node.liqo.io/not-allowed", operator: "Exists", effect: "NoExecute" },
          { key: "gpu", operator: "Exists" },
        ],
      },
      { offloadingPatch: { tolerations: [{ key: "spot", operator: "Exists" }] } },
    );
    assert.deepEqual(tolerations, [
      { key: "gpu", operator: "Exists" },
      { key: "spot", operator: "Exists" },
    ]);
  });

  it("applies the virtual node's patch", () => {
    const nodeAffinity = { preferredDuringSchedulingIgnoredDuringExecution: [] };
    const spec = shadow({}, { offloadingPatch: { nodeSelector: { zone: "b" }, affinity: { nodeAffinity } } });
    assert.deepEqual(spec.nodeSelector, { zone: "b" });
    assert.deepEqual(spec.affinity, { nodeAffinity });
  });

  it("asks for what the pod as a whole asks for, but for claims, which exist only at home", () => {
    const spec: WholePodSpec = {
      containers: [{ name: "app" }],
      resources: { requests: { cpu: "1" }, claims: [{ name: "gpu" }] },
    };
    assert.deepEqual(shadow(spec).resources, { requests: { cpu: "1" } });
    assert.equal("resources" in shadow({ containers: [{ name: "app" }] }), false);
  });

  it("drops claims of dynamic resources, which exist only at home", () => {
    const { containers } = shadow({
      containers: [{ name: "app", resources: { claims: [{ name: "gpu" }], requests: { cpu: "1" } } }],
    });
    assert.deepEqual(containers[0]?.resources, { requests: { cpu: "1" } });
  });

  const classes: [
    annotation: string | undefined,
    own: string | undefined,
    patch: string | undefined,
    expected?: string,
  ][] = [
    ["gvisor", "kata", "runc", "gvisor"],
    [undefined, "kata", "runc", "kata"],
    [undefined, "liqo", "runc", "runc"],
    [undefined, "liqo", "liqo", undefined],
    [undefined, undefined, undefined, undefined],
  ];
  for (const [annotation, own, imposed, expected] of classes) {
    it(`runs with class ${expected} for annotation ${annotation}, own ${own}, imposed ${imposed}`, () => {
      const spec = shadow(
        { runtimeClassName: own },
        { offloadingPatch: { runtimeClassName: imposed } },
        annotation === undefined ? undefined : { "liqo.io/remote-runtime-class-name": annotation },
      );
      assert.equal(spec.runtimeClassName, expected);
    });
  }

  describe("with the consumer's API server", () => {
    it("takes tokens from the pod's Secret and the CA from the reflected map", () => {
      const { volumes } = shadow({ volumes: [apiAccess] }, { apiServer: home });
      assert.deepEqual(volumes?.[0]?.projected, {
        defaultMode: 256,
        sources: [
          {
            secret: { name: "web-0-token", items: [{ key: "kube-api-access-x2k9p-3c469e", path: "token" }] },
          },
          { configMap: { name: "kube-root-ca.crt.rome", items: [{ key: "ca.crt", path: "ca.crt" }] } },
          apiAccess.projected.sources[2],
        ],
      });
    });

    it("tells every container where it is", () => {
      const spec = shadow(
        {
          containers: [
            {
              name: "app",
              env: [
                { name: "ACCOUNT", valueFrom: { fieldRef: { fieldPath: "spec.serviceAccountName" } } },
                { name: "A", value: "b" },
              ],
            },
          ],
          initContainers: [{ name: "init" }],
          hostAliases: [{ ip: "10.0.0.7", hostnames: ["db"] }],
          serviceAccountName: "robot",
        },
        { apiServer: home },
      );
      const env = [
        { name: "KUBERNETES_SERVICE_HOST", value: "kubernetes.default" },
        { name: "KUBERNETES_SERVICE_PORT", value: "6443" },
        { name: "KUBERNETES_PORT", value: "tcp://kubernetes.default:6443" },
        { name: "KUBERNETES_PORT_6443_TCP", value: "tcp://kubernetes.default:6443" },
        { name: "KUBERNETES_PORT_6443_TCP_PROTO", value: "tcp" },
        { name: "KUBERNETES_PORT_6443_TCP_ADDR", value: "kubernetes.default" },
        { name: "KUBERNETES_PORT_6443_TCP_PORT", value: "6443" },
      ];
      assert.deepEqual(spec.containers[0]?.env, [
        { name: "ACCOUNT", value: "robot" },
        { name: "A", value: "b" },
        ...env,
      ]);
      assert.deepEqual(spec.initContainers?.[0]?.env, env);
      assert.deepEqual(spec.hostAliases, [
        { ip: "10.0.0.7", hostnames: ["db"] },
        { ip: "10.80.0.1", hostnames: ["kubernetes.default", "kubernetes.default.svc"] },
      ]);
      assert.equal(spec.serviceAccountName, undefined);
    });

    it("gives an annotated pod the provider's API server instead", () => {
      const annotations = {
        "liqo.io/api-server-support": "remote",
        "liqo.io/remote-service-account-name": "guest",
      };
      const spec = shadow(
        { volumes: [apiAccess], serviceAccountName: "robot" },
        { apiServer: home },
        annotations,
      );
      assert.equal(spec.serviceAccountName, "guest");
      assert.equal(spec.automountServiceAccountToken, true);
      assert.deepEqual(spec.volumes, [apiAccess]);
      assert.equal(spec.containers[0]?.env, undefined);
    });

    it("gives an annotated pod none", () => {
      const spec = shadow(
        { volumes: [apiAccess] },
        { apiServer: home },
        { "liqo.io/api-server-support": "disabled" },
      );
      assert.deepEqual(
        spec.volumes?.[0]?.projected?.sources?.map((source) => Object.keys(source)[0]),
        ["configMap", "downwardAPI"],
      );
      assert.equal(spec.containers[0]?.env, undefined);
      assert.equal(spec.hostAliases, undefined);
    });
  });
});

const remoteLabels = {
  app: "web",
  tier: "front",
  "pod-template-hash": "59d8",
  "offloading.liqo.io/nodename": "milan",
};

const imposed = {
  requiredDuringSchedulingIgnoredDuringExecution: {
    nodeSelectorTerms: [{ matchExpressions: [{ key: "zone", operator: "In", values: ["b"] }] }],
  },
};

const podAntiAffinity = {
  requiredDuringSchedulingIgnoredDuringExecution: [{ topologyKey: "zone", labelSelector: {} }],
};

const term = (matchLabels: Record<string, string>) => ({
  topologyKey: "kubernetes.io/hostname",
  labelSelector: { matchLabels },
});

describe("remoteAffinity", () => {
  it("leaves the local affinity at home", () => {
    assert.equal(remoteAffinity({ remoteLabels, affinity: { podAntiAffinity } }, undefined), undefined);
  });

  it("takes the node affinity that the virtual node imposes", () => {
    assert.deepEqual(remoteAffinity({ remoteLabels }, imposed), { nodeAffinity: imposed });
  });

  const shared = { app: "web", tier: "front", "offloading.liqo.io/nodename": "milan" };
  const cases: [preset: string, labels: string | undefined, expected: unknown][] = [
    [
      "soft",
      undefined,
      { preferredDuringSchedulingIgnoredDuringExecution: [{ weight: 1, podAffinityTerm: term(shared) }] },
    ],
    ["hard", undefined, { requiredDuringSchedulingIgnoredDuringExecution: [term(shared)] }],
    ["hard", "app, missing", { requiredDuringSchedulingIgnoredDuringExecution: [term({ app: "web" })] }],
    ["propagate", undefined, podAntiAffinity],
    ["unknown", undefined, undefined],
  ];
  for (const [preset, labels, expected] of cases) {
    it(`applies the preset ${preset}${labels === undefined ? "" : ` on ${labels}`} beside the imposed affinity`, () => {
      const annotations = {
        "liqo.io/anti-affinity-preset": preset,
        ...(labels === undefined ? {} : { "liqo.io/anti-affinity-labels": labels }),
      };
      const affinity = remoteAffinity({ annotations, remoteLabels, affinity: { podAntiAffinity } }, imposed);
      assert.deepEqual(affinity, {
        nodeAffinity: imposed,
        ...(expected === undefined ? {} : { podAntiAffinity: expected }),
      });
    });
  }

  it("propagates nothing where there is nothing", () => {
    assert.equal(
      remoteAffinity(
        { annotations: { "liqo.io/anti-affinity-preset": "propagate" }, remoteLabels },
        undefined,
      ),
      undefined,
    );
  });
});

describe("withoutDefaults", () => {
  it("leaves out what an API server fills in", () => {
    const spec: PodSpec = {
      containers: [
        {
          name: "app",
          image: "app:1",
          imagePullPolicy: "IfNotPresent",
          resources: {},
          terminationMessagePath: "/dev/termination-log",
          terminationMessagePolicy: "File",
          ports: [{ containerPort: 80, protocol: "TCP" }],
          readinessProbe: {
            httpGet: { port: 80, path: "/", scheme: "HTTP" },
            failureThreshold: 3,
            periodSeconds: 10,
            successThreshold: 1,
            timeoutSeconds: 1,
          },
        },
      ],
      dnsPolicy: "ClusterFirst",
      enableServiceLinks: true,
      restartPolicy: "Always",
      securityContext: {},
      terminationGracePeriodSeconds: 30,
      volumes: [{ name: "v", secret: { secretName: "s", defaultMode: 420 } }],
    };
    assert.deepEqual(withoutDefaults(spec), {
      containers: [
        {
          name: "app",
          image: "app:1",
          imagePullPolicy: "IfNotPresent",
          ports: [{ containerPort: 80 }],
          readinessProbe: { httpGet: { port: 80, path: "/" } },
        },
      ],
      volumes: [{ name: "v", secret: { secretName: "s" } }],
    });
  });

  it("keeps every value that differs, and zero and false among them", () => {
    const spec: PodSpec = {
      containers: [
        {
          name: "app",
          resources: { requests: { cpu: "1" } },
          terminationMessagePath: "/log",
          terminationMessagePolicy: "FallbackToLogsOnError",
          ports: [{ containerPort: 53, protocol: "UDP" }],
          livenessProbe: { httpGet: { port: 1, scheme: "HTTPS" }, initialDelaySeconds: 0, timeoutSeconds: 2 },
        },
      ],
      dnsPolicy: "None",
      enableServiceLinks: false,
      restartPolicy: "Never",
      securityContext: { runAsNonRoot: false },
      terminationGracePeriodSeconds: 0,
      volumes: [{ name: "v", projected: { defaultMode: 256, sources: [] } }],
    };
    assert.deepEqual(withoutDefaults(spec), spec);
  });

  it("does not change what it is given", () => {
    const spec: PodSpec = { containers: [{ name: "app", resources: {} }], restartPolicy: "Always" };
    withoutDefaults(spec);
    assert.deepEqual(spec, { containers: [{ name: "app", resources: {} }], restartPolicy: "Always" });
  });
});
