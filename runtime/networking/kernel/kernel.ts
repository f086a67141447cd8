import { Counter, type Registry } from "prom-client";

import {
  type ObservedLink,
  type ObservedRoute,
  type ObservedRule,
  parseLinks,
  parseNeighbours,
  parseRoutes,
  parseRules,
} from "./ip-listing";
import type { Elements } from "../firewall/nft-script";
import { type NftListing, parseElements, parseNftListing, parseRuleCounters } from "../firewall/nft-listing";
import { CommandError, type CommandResult, outputOf, runCommand } from "./command";

interface TableName {
  family: string;
  name: string;
}

/**
 * The network of the namespace that this process is in, by the tools of the system: what there is, and what is to be changed. Changes are
 * counted, so that it can be seen that nothing is written where nothing differs.
 */
export class Kernel {
  private readonly writes: Counter<"tool"> | undefined;

  constructor(metrics?: Registry) {
    if (metrics === undefined) return;
    this.writes = new Counter({
      name: "liqo_kernel_writes_total",
      help: "Batches of changes given to the kernel, by tool",
      labelNames: ["tool"],
      registers: [metrics],
    });
    for (const tool of ["ip", "nft", "wg"]) this.writes.inc({ tool }, 0);
  }

  /** All interfaces with their addresses. */
  async links(): Promise<ObservedLink[]> {
    return parseLinks(await outputOf("ip", ["-j", "-d", "addr", "show"]));
  }

  /** The neighbours that last, as `neighbourText` says them. */
  async neighbours(): Promise<ReadonlySet<string>> {
    return parseNeighbours(await outputOf("ip", ["-4", "-j", "neigh", "show", "nud", "permanent"]));
  }

  /** All rules that lead to routing tables. */
  async rules(): Promise<ObservedRule[]> {
    return parseRules(await outputOf("ip", ["-4", "-j", "-N", "rule", "show"]));
  }

  /** The routes of all tables. */
  async routes(): Promise<ObservedRoute[]> {
    return parseRoutes(await outputOf("ip", ["-4", "-j", "-N", "route", "show", "table", "all"]));
  }

  /** The address that packets to another one leave with; undefined where there is no way to it. */
  async sourceTowards(address: string): Promise<string | undefined> {
    const { status, stdout } = await runCommand("ip", ["-4", "-j", "route", "get", address]);
    return status === 0 ? parseRouteGet(stdout) : undefined;
  }

  /** Runs a batch of `ip` lines and returns those that the kernel refused. A refused line does not stop the others. */
  async applyBatch(lines: readonly string[]): Promise<RefusedLine[]> {
    if (lines.length === 0) return [];
    this.writes?.inc({ tool: "ip" });
    const result = await runCommand("ip", ["-4", "-force", "-batch", "-"], {
      input: `${lines.join("\n")}\n`,
    });
    const refused = refusedLines(lines, result.stderr);
    if (result.status !== 0 && refused.length === 0) throw new CommandError("ip -batch -", result);
    return refused;
  }

  /** All chains of all tables, without their rules. */
  async chains(): Promise<NftListing> {
    return parseNftListing(await outputOf("nft", ["-j", "list", "chains"]));
  }

  /** Everything that nftables has, but for the elements of maps. */
  async ruleset(): Promise<NftListing> {
    return parseNftListing(await outputOf("nft", ["-j", "-t", "list", "ruleset"]));
  }

  /** One table with its rules, without the elements of its maps; undefined where it is not there. */
  async table(table: TableName): Promise<NftListing | undefined> {
    const { status, stdout } = await this.list(table, ["-t"]);
    return status === 0 ? parseNftListing(stdout) : undefined;
  }

  /** The elements of a table's maps. It takes a tenth of a second for ten thousand. */
  async elements(table: TableName): Promise<Elements> {
    const { status, stdout } = await this.list(table);
    return status === 0 ? parseElements(stdout) : new Map();
  }

  /** Asked for in JSON, as not every name can be said in nft's own language. */
  private async list({ family, name }: TableName, options: readonly string[] = []): Promise<CommandResult> {
    const input = JSON.stringify({ nftables: [{ list: { table: { family, name } } }] });
    return await runCommand("nft", ["-j", ...options, "-f", "-"], { input });
  }

  /** The packets that rules of a table have counted, by the rules' comments; none where the table is not there. */
  async ruleCounters({ family, name }: TableName): Promise<Map<string, number>> {
    const { status, stdout } = await runCommand("nft", ["-j", "list", "table", family, name]);
    return status === 0 ? parseRuleCounters(stdout) : new Map();
  }

  /** Carries out a script in nft's JSON as one transaction. @throws CommandError with what nft said */
  async applyTables(script: string): Promise<void> {
    this.writes?.inc({ tool: "nft" });
    await outputOf("nft", ["-j", "-f", "-"], { input: script });
  }

  /** Forgets the connections over a UDP port, so that they are looked at anew. */
  async forgetConnections(udpPort: string): Promise<void> {
    for (const side of ["--orig-port-dst", "--orig-port-src"]) {
      // It fails where there is none, too.
      await runCommand("conntrack", ["-D", "-p", "udp", side, udpPort]);
    }
  }

  /** `wg show <interface> dump`, with the private key; undefined where there is no such interface. */
  async tunnelDump(name: string): Promise<string | undefined> {
    const { status, stdout } = await runCommand("wg", ["show", name, "dump"]);
    return status === 0 ? stdout : undefined;
  }

  /** Makes a tunnel what a configuration says, and leaves alone what is so already. */
  async syncTunnel(name: string, configuration: string): Promise<void> {
    this.writes?.inc({ tool: "wg" });
    await outputOf("wg", ["syncconf", name, "/dev/stdin"], { input: configuration });
  }

  async removeTunnelPeer(name: string, publicKey: string): Promise<void> {
    this.writes?.inc({ tool: "wg" });
    await outputOf("wg", ["set", name, "peer", publicKey, "remove"]);
  }
}

function parseRouteGet(text: string): string | undefined {
  const parsed: unknown = JSON.parse(text);
  const first: unknown = Array.isArray(parsed) ? parsed[0] : undefined;
  if (typeof first !== "object" || first === null || !("prefsrc" in first)) return undefined;
  return typeof first.prefsrc === "string" ? first.prefsrc : undefined;
}

/** A line of a batch that the kernel refused. */
export interface RefusedLine {
  line: string;
  message: string;
  /** The link or the next hop that it needs is not there yet: it may be so in a moment. */
  mayPass: boolean;
}

/** What `ip -force -batch -` said about the lines that it was given. */
export function refusedLines(lines: readonly string[], errorOutput: string): RefusedLine[] {
  const refused: RefusedLine[] = [];
  let messages: string[] = [];
  for (const text of errorOutput.split("\n")) {
    const number = /^Command failed .*:(\d+)$/.exec(text)?.[1];
    if (number === undefined) {
      if (text !== "") messages.push(text);
      continue;
    }
    const message = messages.join(" ");
    refused.push({ line: lines[Number(number) - 1] ?? "", message, mayPass: WAITING.test(message) });
    messages = [];
  }
  return refused;
}

const WAITING =
  /Cannot find device|Nexthop has invalid gateway|Device for nexthop is not up|Network is (unreachable|down)|No route to host/;
