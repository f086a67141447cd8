import assert from "node:assert/strict";

import type { PodSpec } from "kubernetes-types/core/v1";

import { withoutDefaults } from "../../../runtime/virtual-kubelet/pods/shadow-pod-spec";

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
