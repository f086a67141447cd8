import type { Tool } from "./tool";

/** What is known of the time that tools take, in minutes. */
export interface PlanProgress {
  /** What was built: the minutes that the catalogue names, and those that it took. */
  readonly built: readonly { readonly minutes: number; readonly took: number }[];
  /** What is being built. */
  readonly current?: { readonly minutes: number; readonly elapsed: number } | undefined;
  /** The minutes that the catalogue names of each tool that waits. */
  readonly waiting: readonly number[];
}

/** Minutes left, of the present build and of all. */
export interface MinutesLeft {
  readonly current: number;
  readonly all: number;
}

/**
 * Estimates how long the builds will take. The catalogue's minutes are those of two cores; what was built so far tells how much faster or
 * slower this machine is, and so does a present build that takes longer than it should.
 */
export function minutesLeft({ built, current, waiting }: PlanProgress): MinutesLeft {
  const named = sum(built.map(({ minutes }) => minutes));
  const took = sum(built.map((tool) => tool.took));
  let slowdown = named > 0 ? took / named : 1;
  let ofCurrent = 0;
  if (current !== undefined) {
    const expected = current.minutes * slowdown;
    if (current.elapsed > expected) {
      slowdown = (took + current.elapsed) / (named + current.minutes);
      ofCurrent = current.elapsed * OVERDUE_SHARE;
    } else {
      ofCurrent = Math.max(expected - current.elapsed, expected * OVERDUE_SHARE);
    }
  }
  return { current: ofCurrent, all: ofCurrent + sum(waiting) * slowdown };
}

/** Of a build that takes longer than it should, this share of its time so far is taken to be left. */
const OVERDUE_SHARE = 0.1;

type State =
  | { readonly kind: "waiting" }
  | { readonly kind: "building"; readonly since: number }
  | { readonly kind: "built"; readonly took: number }
  /** It was had without a build. */
  | { readonly kind: "had" };

/** The tools that are not there yet, in the order in which they will be made, and how far that has come. */
export class ToolPlan {
  private readonly states: Map<string, State>;

  /** @param now minutes */
  constructor(
    private readonly tools: readonly Tool[],
    private readonly now: () => number = () => performance.now() / 60_000,
  ) {
    this.states = new Map(tools.map(({ name }) => [name, { kind: "waiting" }]));
  }

  /** `etcd 3.6.16 (2 of 6)`; without numbers for a tool outside the plan. */
  label(tool: Tool): string {
    const index = this.tools.findIndex(({ name }) => name === tool.name);
    const place = index < 0 ? "" : ` (${index + 1} of ${this.tools.length})`;
    return `${tool.name} ${tool.version}${place}`;
  }

  buildBegins(tool: Tool): void {
    this.set(tool, { kind: "building", since: this.now() });
  }

  buildEnds(tool: Tool): void {
    const state = this.states.get(tool.name);
    if (state?.kind === "building") this.set(tool, { kind: "built", took: this.now() - state.since });
  }

  /** The tool is there, whichever way it came. */
  done(tool: Tool): void {
    if (this.states.get(tool.name)?.kind !== "built") this.set(tool, { kind: "had" });
  }

  /** `about 4 min left, 15 min for all tools`. */
  estimate(): string {
    const { current, all } = minutesLeft(this.progress());
    const whole = `${inMinutes(all)} for all tools`;
    return this.tools.length < 2 || all === current
      ? `about ${inMinutes(current)} left`
      : `about ${inMinutes(current)} left, ${whole}`;
  }

  /** What is to be made and how long it takes if all of it has to be built; undefined for nothing. */
  summary(): string | undefined {
    if (this.tools.length === 0) return undefined;
    const names = this.tools.map(({ name, version }) => `${name} ${version}`).join(", ");
    const { all } = minutesLeft(this.progress());
    return `${this.tools.length} of the tools are not here yet: ${names}; downloading them takes a minute or two, building them where that fails about ${inMinutes(all)}`;
  }

  private progress(): PlanProgress {
    const states = this.tools.map(({ name, build }) => ({
      state: this.states.get(name),
      minutes: build.minutes,
    }));
    const now = this.now();
    return {
      built: states.flatMap(({ state, minutes }) =>
        state?.kind === "built" ? [{ minutes, took: state.took }] : [],
      ),
      current: states.flatMap(({ state, minutes }) =>
        state?.kind === "building" ? [{ minutes, elapsed: now - state.since }] : [],
      )[0],
      waiting: states.flatMap(({ state, minutes }) => (state?.kind === "waiting" ? [minutes] : [])),
    };
  }

  private set(tool: Tool, state: State): void {
    if (this.states.has(tool.name)) this.states.set(tool.name, state);
  }
}

function sum(numbers: readonly number[]): number {
  return numbers.reduce((total, number) => total + number, 0);
}

function inMinutes(minutes: number): string {
  return `${Math.max(1, Math.round(minutes))} min`;
}
