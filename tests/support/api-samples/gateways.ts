/** What connects two clusters: configurations, gateways, their templates and keys. */
import { KEY, type Manifest, TIME, transition } from "./manifest";
import { networking } from "./networking";
import { deploymentTemplate, metrics, serviceTemplate } from "./templates";

const reference = (kind: string, name: string, namespace = "liqo-tenant-milan") => ({
  apiVersion: "networking.liqo.io/v1beta1",
  kind,
  name,
  namespace,
  uid: "7f1bd6d4-3c5c-4a55-a3a2-5e2f6d5a7b11",
});

const internalEndpoint = { ip: "10.200.1.7", node: "rome-node-1" };
const endpointStatus = { addresses: ["172.30.0.12", "gw.milan.example"], port: 30742, protocol: "UDP" };

export const GATEWAYS: Manifest[] = [
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
];
