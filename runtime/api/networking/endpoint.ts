import { z } from "zod";

import { int32, ipv4 } from "../schema/fields";
import { validated } from "../schema/rules";

/** Ports of a gateway, and the rules that hold between the old field and the new one. Source: networking.md 4.2. */

export const ports = () => z.array(int32()).max(64);

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

/** Where a gateway can be reached. */
export const endpointStatus = () =>
  withPortRules(
    z.object({
      addresses: z.array(z.string()).optional().describe("IP addresses or host names."),
      port: int32().optional().describe("The port, when there is one."),
      ports: ports().optional().describe("The ports, when there are several."),
      protocol: z.enum(["TCP", "UDP"]).optional(),
    }),
  );

/** The gateway pod, as the nodes of its cluster reach it. */
export const internalEndpoint = () =>
  z.object({
    ip: ipv4().optional(),
    node: z.string().optional(),
  });
