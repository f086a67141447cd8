import { z } from "zod";

import { AGE, defineKind, type KindObject } from "../define-kind";
import {
  int32,
  ipv4,
  localObjectReference,
  objectReference,
  observedGeneration,
  stringMap,
  validated,
} from "../schema/fields";

/** The two ends of a tunnel, and their endpoints: `port` is the older field, `ports` the newer one. Source: networking.md 4.2. */

/** Ports in a status, whoever wrote them. */
const ports = () => z.array(int32()).max(64);

const PORT_FAULT = "is no port; write one from 1 to 65535";

/** As a person writes it. */
const port = () => z.int().min(1, PORT_FAULT).max(65_535, PORT_FAULT).meta({ format: "int32" });
const portList = () => z.array(port()).max(64);

const NODE_PORT_FAULT =
  "is no port; write one of the cluster's node port range, or leave it out to have one drawn";

/** 0 stands for none, as in Services. Which range it is of, the cluster decides. */
const nodePort = () => z.int().min(0, NODE_PORT_FAULT).max(65_535, NODE_PORT_FAULT).meta({ format: "int32" });

/** What a gateway takes, in bytes: at least what every IPv4 host takes in one piece, at most what fits a packet. */
export const TUNNEL_MTU = { min: 576, max: 65_535 } as const;

const MTU_FAULT = `is no MTU of a tunnel; write bytes from ${TUNNEL_MTU.min} to ${TUNNEL_MTU.max}`;

const tunnelMtu = () =>
  z
    .int()
    .min(TUNNEL_MTU.min, MTU_FAULT)
    .max(TUNNEL_MTU.max, MTU_FAULT)
    .describe("Bytes; the same on both ends.");

interface Ports {
  port?: number;
  ports?: number[];
}

/** Either one port or a list of them, without repetition. */
function withPortRules<S extends z.ZodType<Ports>>(schema: S): S {
  const exclusive = validated(schema, {
    rule: "!(has(self.port) && has(self.ports))",
    message: "port and ports exclude each other; keep one of them",
    holds: (endpoint) => endpoint.port === undefined || endpoint.ports === undefined,
  });
  const present = validated(exclusive, {
    rule: "has(self.port) || (has(self.ports) && size(self.ports) > 0)",
    message: "has no port; set port or ports",
    holds: (endpoint) => endpoint.port !== undefined || (endpoint.ports?.length ?? 0) > 0,
  });
  return validated(present, {
    rule: "!has(self.ports) || self.ports.all(p, self.ports.exists_one(q, q == p))",
    message: "ports has duplicates; list each port once",
    holds: (endpoint) => distinct(endpoint.ports),
  });
}

function distinct(values: readonly number[] | undefined): boolean {
  return values === undefined || new Set(values).size === values.length;
}

const endpoint = (one: () => z.ZodInt, several: () => z.ZodArray<z.ZodInt>) =>
  withPortRules(
    z.object({
      addresses: z.array(z.string()).optional().describe("IP addresses or host names."),
      port: one().optional().describe("The port, when there is one."),
      ports: several().optional().describe("The ports, when there are several."),
      protocol: z.enum(["TCP", "UDP"]).optional(),
    }),
  );

/** Where a gateway can be reached, as its controller found out. */
export const endpointStatus = () => endpoint(int32, ports);

/** Where a gateway can be reached, as a person says. */
const clientEndpoint = () => endpoint(port, portList);

/** The gateway pod, as the nodes of its cluster reach it. */
export const internalEndpoint = () =>
  z.object({
    ip: ipv4().optional(),
    node: z.string().optional(),
  });

/** How the server is exposed. */
const serverEndpoint = () => {
  const exclusive = validated(
    withPortRules(
      z.object({
        port: port().optional().describe("The port, when there is one."),
        ports: portList().optional().describe("The ports, when there are several."),
        serviceType: z.enum(["ClusterIP", "NodePort", "LoadBalancer", "ExternalName"]).default("ClusterIP"),
        nodePort: nodePort().optional().describe("The node port; drawn by Kubernetes when absent or 0."),
        nodePorts: z
          .array(nodePort())
          .max(64)
          .optional()
          .describe("The node ports, in the order of the ports."),
        loadBalancerIP: z.string().optional(),
      }),
    ),
    {
      rule: "!(has(self.nodePort) && has(self.nodePorts))",
      message: "nodePort and nodePorts exclude each other; keep one of them",
      holds: (endpoint) => endpoint.nodePort === undefined || endpoint.nodePorts === undefined,
    },
  );
  return validated(exclusive, {
    rule: "!has(self.nodePorts) || self.nodePorts.all(p, self.nodePorts.exists_one(q, q == p))",
    message: "nodePorts has duplicates; list each port once",
    holds: (endpoint) => distinct(endpoint.nodePorts),
  });
};

/** Source: networking.md 4.2 and 9. */
export const GatewayServer = defineKind({
  group: "networking.liqo.io",
  version: "v1beta1",
  kind: "GatewayServer",
  plural: "gatewayservers",
  shortNames: ["gws", "gwserver"],
  namespaced: true,
  summary: "The end of a tunnel that a peer connects to.",
  spec: () =>
    z.object({
      serverTemplateRef: objectReference().optional().describe("Template that the gateway is made from."),
      mtu: tunnelMtu().optional(),
      endpoint: serverEndpoint().optional().describe("How the peer reaches the gateway."),
      secretRef: localObjectReference()
        .optional()
        .describe("Secret with the WireGuard keys; made when absent."),
      serviceAnnotations: stringMap().optional().describe("Annotations of the gateway's Service."),
      serviceLabels: stringMap().optional().describe("Labels of the gateway's Service."),
    }),
  status: () =>
    z.object({
      observedGeneration: observedGeneration(),
      serverRef: objectReference().optional().describe("The object made from the template."),
      endpoint: endpointStatus().optional().describe("Where the peer reaches the gateway."),
      secretRef: objectReference().optional(),
      internalEndpoint: internalEndpoint().optional(),
    }),
  columns: [
    { name: "Template Kind", jsonPath: ".spec.serverTemplateRef.kind", priority: 1 },
    { name: "Template Name", jsonPath: ".spec.serverTemplateRef.name" },
    { name: "Template Namespace", jsonPath: ".spec.serverTemplateRef.namespace", priority: 1 },
    { name: "IP", jsonPath: ".status.endpoint.addresses[*]" },
    { name: "Port", jsonPath: ".status.endpoint.port" },
    { name: "Protocol", jsonPath: ".status.endpoint.protocol", priority: 1 },
    { name: "MTU", type: "integer", jsonPath: ".spec.mtu", priority: 1 },
    AGE,
  ],
});
export type GatewayServer = KindObject<typeof GatewayServer>;

/** Source: networking.md 4.2 and 9. */
export const GatewayClient = defineKind({
  group: "networking.liqo.io",
  version: "v1beta1",
  kind: "GatewayClient",
  plural: "gatewayclients",
  shortNames: ["gwc", "gwclient"],
  namespaced: true,
  summary: "The end of a tunnel that connects to a peer.",
  spec: () =>
    z.object({
      clientTemplateRef: objectReference().optional().describe("Template that the gateway is made from."),
      mtu: tunnelMtu().optional(),
      endpoint: clientEndpoint().optional().describe("Where the peer's server is reached."),
      secretRef: localObjectReference()
        .optional()
        .describe("Secret with the WireGuard keys; made when absent."),
    }),
  status: () =>
    z.object({
      observedGeneration: observedGeneration(),
      clientRef: objectReference().optional().describe("The object made from the template."),
      secretRef: objectReference().optional(),
      internalEndpoint: internalEndpoint().optional(),
    }),
  columns: [
    { name: "Template Kind", jsonPath: ".spec.clientTemplateRef.kind", priority: 1 },
    { name: "Template Name", jsonPath: ".spec.clientTemplateRef.name" },
    { name: "Template Namespace", jsonPath: ".spec.clientTemplateRef.namespace", priority: 1 },
    { name: "IP", jsonPath: ".spec.endpoint.addresses[*]" },
    { name: "Port", jsonPath: ".spec.endpoint.port" },
    { name: "Protocol", jsonPath: ".spec.endpoint.protocol", priority: 1 },
    { name: "MTU", type: "integer", jsonPath: ".spec.mtu", priority: 1 },
    AGE,
  ],
});
export type GatewayClient = KindObject<typeof GatewayClient>;
