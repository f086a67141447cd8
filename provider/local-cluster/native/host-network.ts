import { readFile } from "node:fs/promises";
import { endianness } from "node:os";

import type { Ipv4Range } from "../ipv4-range";
import { runCommand } from "../run-command";

/** A range that this machine already reaches by a route. */
export interface HostRoute {
  range: Ipv4Range;
  device: string;
}

/** This machine's IPv4 routes of the main table, the default ones left out. */
export async function hostRoutes(): Promise<HostRoute[]> {
  return parseRoutes(await readFile("/proc/net/route", "utf8"));
}

/** Reads the text of /proc/net/route: addresses are hexadecimal words in the machine's byte order. */
export function parseRoutes(text: string): HostRoute[] {
  return text
    .split("\n")
    .slice(1)
    .map((line) => line.trim().split(/\s+/))
    .flatMap(([device, destination, , , , , , mask]) => {
      if (device === undefined || destination === undefined || mask === undefined) return [];
      const prefix = [...word(mask).toString(2)].filter((bit) => bit === "1").length;
      return prefix === 0 ? [] : [{ range: { base: word(destination), prefix }, device }];
    });
}

function word(hexadecimal: string): number {
  const bytes = Buffer.from(hexadecimal, "hex");
  return endianness() === "LE" ? bytes.readUInt32LE(0) : bytes.readUInt32BE(0);
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
