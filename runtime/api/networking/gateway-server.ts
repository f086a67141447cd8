import { z } from "zod";

import { AGE, defineKind, type KindObject } from "../define-kind";
import { localObjectReference, objectReference, observedGeneration, stringMap } from "../schema/fields";
import { validated } from "../schema/rules";
import {
  distinct,
  endpointStatus,
  internalEndpoint,
  nodePort,
  port,
  portList,
  tunnelMtu,
  withPortRules,
} from "./endpoint";

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
