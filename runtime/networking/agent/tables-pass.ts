import { FirewallConfiguration } from "../../api";
import {
  asError,
  exceptStatus,
  type Informer,
  keyOf,
  type Outcome,
  type ReconcileRun,
  type Source,
  watches,
} from "../../kube";
import { withRuleNames } from "../admission";
import { ADDRESS_TABLE, addressTable, type Translation, translationsOf } from "../firewall/address-table";
import type { FirewallTable } from "../firewall/firewall-table";
import {
  type Elements,
  elementScript,
  type NftTable,
  removalScript,
  renderTable,
} from "../firewall/nft-script";
import { hasChains, holderOf, isInPlace, type NftListing, ownTables } from "../firewall/nft-listing";
import { CommandError } from "../kernel/command";
import { type AgentContext, byAge, describe, releaseDeleted } from "./agent";
import { reportAll } from "./applied-condition";
import type { HostGuard } from "./host-guard";
import { type Pass, runPass } from "./pass";

const NAME = "firewall-tables";
/** A table that nft refused is tried again after this time. */
const RETRY_MS = 5_000;

interface TablesOptions {
  firewalls: Informer<FirewallConfiguration>;
  isOurs: (object: FirewallConfiguration) => boolean;
  /** The namespace has no tables but ours, so that a listing of everything is small. */
  alone: boolean;
  /** Of a node, whose own addresses no peer may have. */
  guard?: HostGuard;
  /** What the guard knows beside the host, with any key. */
  guardSources?: (key: string) => Source[];
  /** Upstream's, taken off objects that are being deleted: it waits for an agent to have removed what they asked for. */
  finalizer?: string;
  own?: OwnTable;
}

/**
 * A table of the agent itself, which no object asks for. It is there before all others, and before the first pass is over; while the kernel refuses it, no
 * pass comes to its end.
 */
export interface OwnTable {
  /** @param firewalls that the agent carries out */
  table(firewalls: readonly FirewallConfiguration[]): NftTable;
  /** What it depends on beside them, with any key. */
  sources(key: string): Source[];
  /** Why the kernel does not have it. */
  fault: string | undefined;
}

/** An object with the table that it asks for, with its part in the table of all addresses, or with what is wrong with it. */
interface Wanted {
  object: FirewallConfiguration;
  table?: NftTable;
  translations?: Translation[];
  fault?: Error;
}

/**
 * Keeps the tables that FirewallConfigurations ask for (networking reference 12): each in one transaction, only where it differs. Those of IPs are one
 * table together, which comes last: whatever is wrong with an address, the networks of peers do not wait for it. Tables of ours that nobody asks for any
 * more are removed; those of others are not looked at.
 */
export function runTablesPass(agent: AgentContext, options: TablesOptions): Pass {
  const { firewalls, isOurs, own } = options;
  const elements = new AddressElements();
  return runPass(agent, {
    name: NAME,
    sources: [
      watches(firewalls, { keys: (object) => (isOurs(object) ? [NAME] : []), when: exceptStatus }),
      ...(options.guardSources?.(NAME) ?? []),
      ...(own?.sources(NAME) ?? []),
    ],
    pass: (run) => pass(agent, options, elements, run),
  });
}

async function pass(
  agent: AgentContext,
  options: TablesOptions,
  elements: AddressElements,
  run: ReconcileRun,
): Promise<Outcome> {
  const { kernel } = agent;
  const objects = options.firewalls.list().filter(options.isOurs);
  await options.guard?.look();
  const own = options.own?.table(objects);
  const wanted = wantedTables(objects, options.guard, own);
  const addresses = addressTable(wanted.flatMap(({ translations }) => translations ?? []));
  const listing = options.alone ? await kernel.ruleset() : await kernel.chains();
  if (options.own !== undefined && own !== undefined) {
    await loadOwn(agent, options.own, own, isInPlace(own, listing), run);
  }
  for (const want of wanted) {
    const { table, object } = want;
    if (table === undefined || (await isThere(agent, options, table, listing))) continue;
    try {
      await load(agent, table, listing);
      run.log.info("table loaded", { object: keyOf(object), family: table.family, table: table.name });
      await forgetUntracked(agent, object.spec.table);
    } catch (error) {
      want.fault = asError(error);
    }
  }
  try {
    if (addresses === undefined) elements.forget();
    else await keepAddresses(agent, options, addresses, elements, listing, run);
  } catch (error) {
    for (const want of wanted) if (want.translations !== undefined) want.fault = asError(error);
  }
  const names = new Set(
    [own, addresses, ...wanted.map(({ table }) => table)].flatMap((table) =>
      table === undefined ? [] : [nameOf(table)],
    ),
  );
  const obsolete = ownTables(listing).filter((table) => !names.has(nameOf(table)));
  if (obsolete.length > 0) {
    await kernel.applyTables(removalScript(obsolete));
    run.log.info("tables removed", { tables: obsolete.map(nameOf).slice(0, 10), count: obsolete.length });
  }
  for (const { object, fault } of wanted) {
    if (fault !== undefined) describe(agent, run, object, "TableNotApplied", fault);
  }
  const isReported = await reportAll(agent, FirewallConfiguration, wanted);
  await releaseDeleted(agent, FirewallConfiguration, objects, options.finalizer);
  const isApplied = wanted.every(({ fault }) => fault === undefined);
  return isReported && isApplied ? undefined : { requeueAfterMs: RETRY_MS };
}

async function keepAddresses(
  agent: AgentContext,
  options: TablesOptions,
  table: NftTable,
  elements: AddressElements,
  listing: NftListing,
  run: ReconcileRun,
): Promise<void> {
  if (await isThere(agent, options, table, listing)) return await elements.keep(agent, table);
  elements.forget();
  await load(agent, table, listing);
  elements.loaded(table);
  run.log.info("table loaded", { family: table.family, table: table.name });
}

/** Replaces any table of that name, whoever made it: nobody else may decide what the agent's own table says. */
async function loadOwn(
  { kernel }: AgentContext,
  own: OwnTable,
  table: NftTable,
  isThere: boolean,
  run: ReconcileRun,
): Promise<void> {
  try {
    if (!isThere) {
      await kernel.applyTables(table.replacement);
      run.log.info("table loaded", { family: table.family, table: table.name });
    }
    own.fault = undefined;
  } catch (error) {
    own.fault = error instanceof Error ? error.message : String(error);
    throw error;
  }
}

/** Removes all tables of ours. */
export async function removeTables({ kernel }: Pick<AgentContext, "kernel">): Promise<void> {
  const tables = ownTables(await kernel.chains());
  if (tables.length > 0) await kernel.applyTables(removalScript(tables));
}

/** @throws Error where somebody else has a table of the name: it is left as it is */
async function load({ kernel }: AgentContext, table: NftTable, listing: NftListing): Promise<void> {
  const { family, name } = table;
  const taken = (cause?: unknown) =>
    new Error(
      `spec.table.name "${name}": there is a table ${family} ${name} already that is not ours, and it stays as it is; choose another name`,
      { cause },
    );
  const holder = holderOf(table, listing);
  if (holder === "others") throw taken();
  if (holder === "ours") return await kernel.applyTables(table.replacement);
  await kernel.applyTables(table.creation).catch((error: unknown) => {
    throw error instanceof CommandError && error.message.includes("File exists") ? taken(error) : error;
  });
}

async function isThere(
  { kernel }: AgentContext,
  { alone }: TablesOptions,
  table: NftTable,
  listing: NftListing,
): Promise<boolean> {
  if (alone) return isInPlace(table, listing);
  if (!hasChains(table, listing)) return false;
  const own = await kernel.table(table);
  return own !== undefined && isInPlace(table, own);
}

function wantedTables(
  objects: readonly FirewallConfiguration[],
  guard: HostGuard | undefined,
  own: NftTable | undefined,
): Wanted[] {
  const holders = new Map<string, FirewallConfiguration>();
  return [...objects]
    .filter(({ metadata }) => !metadata.deletionTimestamp)
    .sort(byAge)
    .map((object): Wanted => {
      try {
        // Admission gives names; what it has not seen gets some that stay the same.
        let unnamed = 0;
        const guarded = guard?.tables(object) ?? { object };
        const { spec } = guarded.object;
        const named = withRuleNames(spec.table, () => `rule-${(unnamed += 1)}`);
        const fault = guarded.fault && { fault: guarded.fault };
        const translations = translationsOf(object, named);
        if (translations !== undefined) return { object, translations, ...fault };
        const table = renderTable(named);
        if (nameOf(table) === nameOf(ADDRESS_TABLE) || (own !== undefined && nameOf(table) === nameOf(own))) {
          throw new Error(`spec.table.name "${table.name}" is that of the agent's own table; choose another`);
        }
        const holder = holders.get(nameOf(table));
        if (holder !== undefined) {
          throw new Error(
            `spec.table.name "${table.name}" is that of FirewallConfiguration ${keyOf(holder)}, which is older; choose another`,
          );
        }
        holders.set(nameOf(table), object);
        return { object, table, ...fault };
      } catch (error) {
        return { object, fault: asError(error) };
      }
    });
}

function nameOf({ family, name }: { family: string; name: string }): string {
  return `${family} ${name}`;
}

/** A connection that is tracked already stays tracked, so we remove its entry. */
async function forgetUntracked({ kernel }: AgentContext, { chains = [] }: FirewallTable): Promise<void> {
  const ports = chains
    .flatMap(({ rules }) => rules.filterRules ?? [])
    .filter(({ action }) => action === "notrack")
    .flatMap(({ match }) => match.flatMap(({ port }) => (port === undefined ? [] : [port.value])));
  for (const port of new Set(ports)) if (/^\d+$/.test(port)) await kernel.forgetConnections(port);
}

/** How often the elements are compared with the kernel's at most; between that, what was written is taken for what is there. */
const COMPARED_MS = 10_000;

/**
 * Keeps the elements of the agent's table of addresses, one by one, in a table that is there with its rules. Listing them takes as long as writing them, so it
 * is not done for each change.
 */
class AddressElements {
  private present: Elements | undefined;
  private comparedAt = Number.NEGATIVE_INFINITY;

  /** The table was loaded whole. */
  loaded(table: NftTable): void {
    this.present = elementsOf(table);
    this.comparedAt = Number.NEGATIVE_INFINITY;
  }

  /** There is no such table, or it is not known what became of it. */
  forget(): void {
    this.present = undefined;
  }

  /** Writes what differs. @throws CommandError with what nft said */
  async keep({ kernel, runtime }: AgentContext, table: NftTable): Promise<void> {
    const now = runtime.clock.monotonic();
    if (this.present === undefined || now - this.comparedAt >= COMPARED_MS) {
      this.present = await kernel.elements(table);
      this.comparedAt = now;
    }
    const changes = elementScript(table, this.present);
    if (changes === undefined) return;
    this.present = undefined;
    await kernel.applyTables(changes);
    this.present = elementsOf(table);
  }
}

function elementsOf({ maps }: NftTable): Elements {
  return new Map(maps.map(({ name, elements }) => [name, elements]));
}
