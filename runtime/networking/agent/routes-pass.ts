import { RouteConfiguration } from "../../api";
import {
  asError,
  exceptStatus,
  type Informer,
  keyOf,
  type ReconcileRun,
  type Source,
  watches,
} from "../../kube";
import type { ObservedLink, ObservedRoute, ObservedRule } from "../kernel/ip-listing";
import { type DesiredOverlay, isOverlay, overlayPlan } from "./overlay-links";
import { localLookupPlan, overlayLookupPlan, tableInGateway } from "../routes/local-lookup";
import { leftoverRemoval, routeTablePlan } from "../routes/route-plan";
import type { RefusedLine } from "../kernel/kernel";
import { routeTableId, writeTableNames } from "../routes/table-id";
import { type AgentContext, byAge, describe, releaseDeleted } from "./agent";
import { reportAll } from "./applied-condition";
import type { HostGuard } from "./host-guard";
import { type Pass, runPass } from "./pass";

const NAME = "links-and-routes";
/** Upstream's, for a next hop that is not there yet. */
const WAIT_MS = 1_000;
const RETRY_MS = 10_000;

interface RoutesOptions {
  routes: Informer<RouteConfiguration>;
  isOurs: (object: RouteConfiguration) => boolean;
  /** Upstream's, taken off objects that are being deleted: it waits for an agent to have removed what they asked for. */
  finalizer?: string;
  overlay: () => DesiredOverlay;
  /** Of the overlay, with any key. */
  overlaySources: (key: string) => Source[];
  /** Whether this is a gateway, to whose own address pods of peers come first. */
  ownAddressLast?: boolean;
  /** Of a node, whose own addresses no peer may have. */
  guard?: HostGuard;
  /** The first pass waits for it: connections that begin before their addresses are translated would stay so. */
  after: Promise<void>;
}

/** What only gateways have: an address of their own that a pod of the peer may have, too, and another in the overlay. */
interface InGateway {
  own: string;
  links: DesiredOverlay["links"];
}

interface Wanted {
  object: RouteConfiguration;
  lines: string[];
  fault?: Error;
  waits?: boolean;
}

/**
 * Keeps the overlay's interfaces, and the routing tables that RouteConfigurations ask for with the rules that lead to them (networking reference 11,
 * 13): one batch for each, of what differs. What is ours and not wanted any more is removed.
 */
export function runRoutesPass(agent: AgentContext, options: RoutesOptions): Pass {
  const { routes, isOurs, overlaySources, after } = options;
  const waits = new LongWaits(() => agent.runtime.clock.monotonic());
  return runPass(agent, {
    name: NAME,
    sources: [
      watches(routes, { keys: (object) => (isOurs(object) ? [NAME] : []), when: exceptStatus }),
      ...overlaySources(NAME),
    ],
    pass: async (run) => {
      await after;
      const overlay = options.overlay();
      const links = await agent.kernel.links();
      const linksWait = await applyLinks(agent, overlay, links, run);
      const objects = options.routes.list().filter(isOurs);
      const own = options.ownAddressLast === true ? await ownAddress(agent, overlay) : undefined;
      if (own !== undefined) await applyLocalLookup(agent, own, run);
      const gateway = own === undefined ? undefined : { own, links: overlay.links };
      const host = { gateway, waits, guard: options.guard, links };
      const routesWait = await applyRoutes(agent, objects, host, run);
      await releaseDeleted(agent, RouteConfiguration, objects, options.finalizer);
      const delays = [linksWait, routesWait].filter((delay) => delay !== undefined);
      return delays.length === 0 ? undefined : { requeueAfterMs: Math.min(...delays) };
    },
  });
}

/** Returns when to look again, where something was refused. */
async function applyLinks(
  { kernel }: AgentContext,
  { links, kept }: DesiredOverlay,
  observed: readonly ObservedLink[],
  run: ReconcileRun,
): Promise<number | undefined> {
  const neighbours = links.some(({ peer }) => peer !== undefined)
    ? await kernel.neighbours()
    : new Set<string>();
  const { removals, changes } = overlayPlan(links, kept, observed, neighbours);
  const refused = await kernel.applyBatch([...removals, ...changes]);
  if (removals.length + changes.length > 0)
    run.log.info("overlay changed", { lines: [...removals, ...changes] });
  // Somebody else may have removed what we wanted to remove.
  const faults = refused.filter(({ line }) => !line.startsWith("link del "));
  if (faults.length === 0) return undefined;
  run.log.warn("interfaces of the overlay are not as they should be", { refused: faults });
  return WAIT_MS;
}

/** The one that nodes know it by; undefined while it knows no node. */
async function ownAddress({ kernel }: AgentContext, { links }: DesiredOverlay): Promise<string | undefined> {
  const [link] = links;
  return link && (await kernel.sourceTowards(link.remote));
}

async function applyLocalLookup({ kernel }: AgentContext, own: string, run: ReconcileRun): Promise<void> {
  const refused = await kernel.applyBatch(localLookupPlan(own, await kernel.rules()));
  if (refused.length > 0) {
    run.log.warn("pods of peers with the address of this gateway cannot be reached", {
      address: own,
      refused,
    });
  }
}

interface RoutedHost {
  gateway: InGateway | undefined;
  guard: HostGuard | undefined;
  links: readonly ObservedLink[];
  waits: LongWaits;
}

async function applyRoutes(
  agent: AgentContext,
  objects: readonly RouteConfiguration[],
  { gateway, waits: longWaits, guard, links }: RoutedHost,
  run: ReconcileRun,
): Promise<number | undefined> {
  const { kernel } = agent;
  const present = objects.filter(({ metadata }) => !metadata.deletionTimestamp);
  const rules = await kernel.rules();
  const routes = await kernel.routes();
  guard?.see(links, routes);
  const wanted = wantedTables(present, { own: gateway?.own, guard }, rules, routes);
  const ids = new Set(present.map(({ spec }) => routeTableId(spec.table.name)));
  const leftover = leftoverRemoval(ids, { rules, routes });
  const tables = present.map(({ spec }) => spec.table);
  const ofPeer = gateway === undefined ? [] : overlayLookupPlan(gateway.links, tables, routes);
  const lines = [...wanted.flatMap((want) => want.lines), ...ofPeer, ...leftover];
  const refused = await kernel.applyBatch(lines);
  if (lines.length > 0) run.log.debug("routes changed", { lines });
  for (const want of wanted) judge(want, refused);
  await writeTableNames(present.map(({ spec }) => spec.table.name)).catch((error: unknown) =>
    run.log.debug("names of tables not written", { error }),
  );
  longWaits.keep(new Set(wanted.filter(({ waits }) => waits).map(({ object }) => object.metadata.uid ?? "")));
  for (const { object, fault, waits } of wanted) {
    if (fault === undefined) continue;
    if (waits === true && !longWaits.isToBeTold(object.metadata.uid ?? "", fault.message)) continue;
    describe(agent, run, object, "RoutesNotApplied", fault);
  }
  const isReported = await reportAll(agent, RouteConfiguration, wanted);
  if (wanted.some(({ waits }) => waits)) return WAIT_MS;
  const isApplied = wanted.every(({ fault }) => fault === undefined);
  return isReported && isApplied ? undefined : RETRY_MS;
}

function wantedTables(
  objects: readonly RouteConfiguration[],
  { own, guard }: { own: string | undefined; guard: HostGuard | undefined },
  rules: readonly ObservedRule[],
  routes: readonly ObservedRoute[],
): Wanted[] {
  const byTable = Map.groupBy(routes, ({ table }) => table);
  const holders = new Map<string, RouteConfiguration>();
  return [...objects]
    .sort(byAge)
    .map((object): Wanted => {
      const guarded = guard?.routes(object) ?? { object };
      const { table } = guarded.object.spec;
      const holder = holders.get(table.name);
      try {
        if (holder !== undefined) {
          throw new Error(
            `spec.table.name "${table.name}" is that of RouteConfiguration ${keyOf(holder)}, which is older; choose another`,
          );
        }
        holders.set(table.name, object);
        const present = byTable.get(String(routeTableId(table.name))) ?? [];
        const routable = own === undefined ? table : tableInGateway(own, table);
        const lines = routeTablePlan(routable, { rules, routes: present });
        return { object, lines, ...(guarded.fault && { fault: guarded.fault }) };
      } catch (error) {
        return { object, lines: [], fault: asError(error) };
      }
    })
    .sort((a, b) => Number(holdsNextHops(b)) - Number(holdsNextHops(a)));
}

/** Tables with the ways to next hops come before those with the ways through them. */
function holdsNextHops({ object }: Wanted): boolean {
  return object.spec.table.rules.some(({ routes }) => routes.some(({ scope }) => scope === "link"));
}

/** Finds what of a table the kernel refused. What could not be removed was not there any more. */
function judge(want: Wanted, refused: readonly RefusedLine[]): void {
  const own = new Set(want.lines);
  const faults = refused.filter(({ line }) => own.has(line) && !/^(rule|route) del /.test(line));
  const [first] = faults;
  if (first === undefined) return;
  want.waits = faults.every(({ mayPass }) => mayPass);
  want.fault = new Error(`"ip ${first.line}" was refused: ${first.message}`);
}

/** Removes all routes, rules and interfaces of ours. */
export async function removeRoutes({ kernel }: Pick<AgentContext, "kernel">): Promise<void> {
  const left = { rules: await kernel.rules(), routes: await kernel.routes() };
  await kernel.applyBatch(leftoverRemoval(new Set(), left));
  const links = (await kernel.links()).filter(isOverlay);
  await kernel.applyBatch(links.map(({ name }) => `link del dev ${name}`));
  await writeTableNames([]).catch(() => undefined);
}

/** What waits for longer than this is told of, in milliseconds: interfaces and neighbours of a network that is being set up are there before. */
const PATIENCE_MS = 15_000;

/** Objects that wait for something that may come by itself: told once, when they have waited for long, and again when it is something else. */
export class LongWaits {
  private readonly waiting = new Map<string, { since: number; told?: string }>();

  constructor(private readonly monotonic: () => number) {}

  /** @returns whether it is time to tell that the object waits */
  isToBeTold(uid: string, what: string): boolean {
    const now = this.monotonic();
    const wait = this.waiting.get(uid) ?? { since: now };
    this.waiting.set(uid, wait);
    if (now - wait.since < PATIENCE_MS || wait.told === what) return false;
    wait.told = what;
    return true;
  }

  /** Forgets all but those that still wait. */
  keep(uids: ReadonlySet<string>): void {
    for (const uid of this.waiting.keys()) if (!uids.has(uid)) this.waiting.delete(uid);
  }
}
