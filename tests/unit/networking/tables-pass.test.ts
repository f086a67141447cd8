import { z } from "zod";

import assert from "node:assert/strict";
import { Event, FirewallConfiguration } from "../../../runtime/api";
import type { RuntimeContext } from "../../../runtime/kube";
import type { AgentContext } from "../../../runtime/networking/agent/agent";
import { RefusedNamespaces } from "../../../runtime/networking/agent/applied-condition";
import type { Pass } from "../../../runtime/networking/agent/pass";
import { type OwnTable, runTablesPass } from "../../../runtime/networking/agent/tables-pass";
import { type NftListing, parseNftListing } from "../../../runtime/networking/firewall/nft-listing";
import { tableOf } from "../../../runtime/networking/firewall/nft-script";
import { Kernel } from "../../../runtime/networking/kernel/kernel";
import type { MemoryApiServer } from "../../support/memory-api-server";
import { endRuns, run } from "../../support/memory-run";
import { until } from "../../support/until";

const entry = z.object({ table: z.string() });
const loaded = z.object({
  nftables: z.array(
    z.object({ add: z.object({ chain: entry.loose(), rule: entry.loose() }).partial().optional() }),
  ),
});

/** What nft would do, for scripts that make one table each. */
class TablesInMemory extends Kernel {
  refuses: string | undefined;
  /** In the order in which they were loaded. */
  readonly order: string[] = [];
  private readonly tables = new Map<string, object[]>();

  get names(): string[] {
    return [...this.tables.keys()].sort();
  }

  remove(name: string): void {
    this.tables.delete(name);
  }

  override ruleset(): Promise<NftListing> {
    return Promise.resolve(parseNftListing(JSON.stringify({ nftables: [...this.tables.values()].flat() })));
  }

  override applyTables(script: string): Promise<void> {
    if (this.refuses !== undefined) return Promise.reject(new Error(this.refuses));
    const entries = loaded
      .parse(JSON.parse(script))
      .nftables.flatMap(({ add }) => ((add?.chain ?? add?.rule) ? [add] : []));
    const [first] = entries;
    const name = (first?.chain ?? first?.rule)?.table ?? assert.fail();
    this.tables.set(name, entries);
    this.order.push(name);
    return Promise.resolve();
  }
}

const own: OwnTable = {
  table: () =>
    tableOf({ family: "ip", name: "its-own" }, [
      {
        name: "forward",
        type: "filter",
        hook: "forward",
        priority: 0,
        policy: "accept",
        rules: [{ comment: "everything", expressions: [{ drop: null }] }],
      },
    ]),
  sources: () => [],
  fault: undefined,
};

const asksFor = (table: string): FirewallConfiguration => ({
  apiVersion: "networking.liqo.io/v1beta1",
  kind: "FirewallConfiguration",
  metadata: { name: `asks-for-${table}`, namespace: "shop" },
  spec: { table: { name: table, family: "IPV4", chains: [] } },
});

describe("the table of an agent's own", function () {
  this.timeout(60_000);
  afterEach(endRuns);

  /** Runs the pass over a FirewallConfiguration; returns once `done`. */
  async function start(
    table: string,
    {
      refuses,
      done,
    }: { refuses?: string; done: (server: MemoryApiServer, kernel: TablesInMemory) => boolean },
  ) {
    const kernel = new TablesInMemory();
    kernel.refuses = refuses;
    const state: { pass?: Pass; first: boolean } = { first: false };
    const begin = (runtime: RuntimeContext) => {
      const agent: AgentContext = {
        runtime,
        kernel,
        host: "milan",
        reports: () => true,
        reported: new Map(),
        refused: new RefusedNamespaces(() => runtime.clock.monotonic()),
        resyncMs: 60_000,
      };
      const firewalls = runtime.informers.informer(FirewallConfiguration);
      state.pass = runTablesPass(agent, { firewalls, isOurs: () => true, alone: true, own });
      void state.pass.first.then(() => (state.first = true));
      return Promise.resolve();
    };
    await run({
      prepare: (server) => server.create(FirewallConfiguration, asksFor(table)),
      start: begin,
      done: (server) => done(server, kernel),
    });
    return { kernel, state };
  }

  it("is there before those that objects ask for", async () => {
    const { kernel, state } = await start("theirs", { done: (_, { names }) => names.length === 2 });
    assert.deepEqual(kernel.order, ["its-own", "theirs"]);
    await until("the pass is over", () => state.first);
    assert.equal(own.fault, undefined);
  });

  it("comes back when somebody removes it, and nothing else is loaded again", async () => {
    const { kernel, state } = await start("theirs", { done: (_, { names }) => names.length === 2 });
    kernel.remove("its-own");
    state.pass?.again();
    await until("the table is back", () => kernel.names.includes("its-own"));
    assert.deepEqual(kernel.order, ["its-own", "theirs", "its-own"]);
  });

  it("lets nothing begin while the kernel refuses it, and says why", async () => {
    const { kernel, state } = await start("theirs", {
      refuses: "no nftables here",
      done: () => own.fault !== undefined,
    });
    assert.equal(own.fault, "no nftables here");
    assert.deepEqual([kernel.names, state.first], [[], false]);
    kernel.refuses = undefined;
    state.pass?.again();
    await until("the pass is over", () => state.first);
    assert.deepEqual([kernel.names, own.fault], [["its-own", "theirs"], undefined]);
  });

  it("has its name to itself", async () => {
    const told = (server: MemoryApiServer) =>
      server.list(Event).find(({ reason }) => reason === "TableNotApplied")?.message;
    let message: string | undefined;
    const { kernel } = await start("its-own", {
      done: (server) => (message = told(server)) !== undefined,
    });
    assert.match(
      message ?? "",
      /spec\.table\.name "its-own" is that of the agent's own table; choose another/,
    );
    assert.deepEqual(kernel.order, ["its-own"]);
  });
});
