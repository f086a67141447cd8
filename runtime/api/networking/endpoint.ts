import { z } from "zod";

import { int32, ipv4 } from "../schema/fields";
import { validated } from "../schema/rules";

/** Ports of a gateway, and the rules that hold between the old field and the new one. Source: networking.md 4.2. */

/** As in a status, whoever wrote it. */
const ports = () => z.array(int32()).max(64);

const PORT_FAULT = "is no port; write one from 1 to 65535";

/** As a person writes it. */
export const port = () => z.int().min(1, PORT_FAULT).max(65_535, PORT_FAULT).meta({ format: "int32" });
export const portList = () => z.array(port()).max(64);

const NODE_PORT_FAULT =
  "is no port; write one of the cluster's node port range, or leave it out to have one drawn";

/** 0 stands for none, as in Services. Which range it is of, the cluster decides. */
export const nodePort = () =>
  z.int().min(0, NODE_PORT_FAULT).max(65_535, NODE_PORT_FAULT).meta({ format: "int32" });

/** What a gateway takes, in bytes: at least what every IPv4 host takes in one piece, at most what fits a packet. */
export const TUNNEL_MTU = { min: 576, max: 65_535 } as const;

const MTU_FAULT = `is no MTU of a tunnel; write bytes from ${TUNNEL_MTU.min} to ${TUNNEL_MTU.max}`;

export const tunnelMtu = () =>
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
export function withPortRules<S extends z.ZodType<Ports>>(schema: S): S {
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

export function distinct(values: readonly number[] | undefined): boolean {
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
export const clientEndpoint = () => endpoint(port, portList);

/** The gateway pod, as the nodes of its cluster reach it. */
export const internalEndpoint = () =>
  z.object({
    ip: ipv4().optional(),
    node: z.string().optional(),
  });
