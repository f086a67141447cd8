/** A GatewayServer with its template, node and pod, for the tests of gateways in this folder. */
import { GatewayServer, Node, Pod, WgGatewayServerTemplate } from "../../../runtime/api";
import { startNetworking } from "../../../runtime/networking/start";
import type { Scenario } from "../../support/memory-run";
import { options } from "./objects";

export const networking = { apiVersion: "networking.liqo.io/v1beta1" } as const;
export const labels = { "liqo.io/remote-cluster-id": "rome" };
export const namespace = "liqo-tenant-rome";

export const deployment = (image = "pulumi-liqo/runtime:1") => ({
  metadata: { labels: { tier: "net" } },
  spec: {
    replicas: 1,
    strategy: { type: "Recreate" },
    selector: { matchLabels: { "app.kubernetes.io/name": "{{ .Name }}" } },
    template: {
      metadata: { labels: { "app.kubernetes.io/name": "{{ .Name }}", "networking.liqo.io/active": "true" } },
      spec: {
        serviceAccountName: "{{ .Name }}",
        containers: [
          { name: "gateway", image, args: ["--mtu={{ .Spec.MTU }}"], ports: [{ containerPort: 8083 }] },
        ],
        volumes: [{ name: "wireguard-config", secret: { secretName: "to be replaced" } }],
      },
    },
  },
});
const serverTemplate = (service: object = {}) => ({
  objectKind: { apiVersion: networking.apiVersion, kind: "WgGatewayServer" },
  template: {
    metadata: { name: "{{ .Name }}", namespace: "{{ .Namespace }}" },
    spec: {
      service: {
        metadata: { annotations: { "cloud/internal": "true" } },
        spec: {
          type: "{{ .Spec.Endpoint.ServiceType }}",
          selector: { "app.kubernetes.io/name": "{{ .Name }}" },
          ports: [
            {
              port: "{{ .Spec.Endpoint.Port }}",
              protocol: "UDP",
              "?nodePort": "{{ .Spec.Endpoint.NodePort }}",
            },
          ],
          ...service,
        },
      },
      deployment: deployment(),
    },
  },
});

/** A server for rome in milan, whose installation is in liqo-system. */
export const scenario: Scenario = {
  prepare: (server) => {
    server.create(WgGatewayServerTemplate, {
      ...networking,
      kind: "WgGatewayServerTemplate",
      metadata: { name: "wireguard-server", namespace: "liqo-system" },
      spec: serverTemplate(),
    });
    server.create(GatewayServer, {
      ...networking,
      kind: "GatewayServer",
      metadata: { name: "rome", namespace, labels },
      spec: {
        mtu: 1340,
        serverTemplateRef: {
          kind: "WgGatewayServerTemplate",
          name: "wireguard-server",
          namespace: "liqo-system",
        },
        endpoint: { port: 51840, serviceType: "NodePort", nodePort: 31840 },
      },
    });
    server.create(Node, {
      apiVersion: "v1",
      kind: "Node",
      metadata: { name: "m2" },
      spec: {},
      status: {
        addresses: [{ type: "InternalIP", address: "172.19.0.3" }],
        conditions: [{ type: "Ready", status: "True" }],
      },
    });
    server.create(Pod, {
      apiVersion: "v1",
      kind: "Pod",
      metadata: {
        name: "gw-rome-0",
        namespace,
        labels: {
          "networking.liqo.io/component": "gateway",
          "networking.liqo.io/active": "true",
          "networking.liqo.io/gateway-name": "rome",
          "networking.liqo.io/gateway-namespace": namespace,
        },
      },
      spec: { nodeName: "m2", containers: [] },
      status: { phase: "Running", podIP: "10.243.2.6" },
    });
  },
  start: (context) =>
    startNetworking(context, { ...options, liqoNamespace: "liqo-system", offloadingEnabled: false }),
  done: (server) => {
    const { endpoint, internalEndpoint, secretRef, serverRef } =
      server.get(GatewayServer, `${namespace}/rome`)?.status ?? {};
    return [endpoint, internalEndpoint, secretRef, serverRef].every((field) => field !== undefined);
  },
};
