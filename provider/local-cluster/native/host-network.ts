import { z } from "zod";

import { parseRange, type Ipv4Range } from "../ipv4-range";
import { runCommand } from "../run-command";

/** A range that this machine already reaches by a route. */
export interface HostRoute {
  range: Ipv4Range;
  device: string;
}

const routes = z.array(
  z.object({ dst: z.string(), dev: z.string().optional(), type: z.string().optional() }),
);

/** This machine's IPv4 routes, the default ones left out. */
export async function hostRoutes(): Promise<HostRoute[]> {
  const parsed = routes.parse(
    JSON.parse(await runCommand("ip", ["-json", "-4", "route", "show", "table", "main"])),
  );
  return parsed
    .filter(({ dst }) => dst !== "default")
    .map(({ dst, dev, type }) => ({
      range: parseRange(dst.includes("/") ? dst : `${dst}/32`),
      device: dev ?? type ?? "unknown",
    }));
}

/** Whether an interface of this name is in the host's network namespace. */
export async function linkExists(name: string): Promise<boolean> {
  try {
    await runCommand("ip", ["link", "show", "dev", name]);
    return true;
  } catch {
    return false;
  }
}
