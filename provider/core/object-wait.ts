import { setTimeout as pause } from "node:timers/promises";

import { Event, type Kind, type KubeObject, type ObjectRef } from "../../runtime/api";
import { ApiError, type KubeClient } from "../../runtime/kube";
import { type Made, PartialFailure, type ProviderContext } from "./definition";
import { conditionsOf, describeCondition } from "./expectation";
import { observe } from "./observation";

/** What one look at the object says. */
export type WaitResult<R> =
  | { is: "met"; value: R }
  | {
      is: "open";
      /** What was seen instead. */
      seen: string;
      /** When to judge again if nothing changes. */
      againMs?: number;
    }
  /** It cannot become true any more. */
  | { is: "refused"; seen: string };

export interface ObjectWait<T extends KubeObject, R> {
  client: KubeClient;
  /** The kind, or how to find out how it is served. */
  kind: Kind<T> | ((limits: { signal: AbortSignal; deadlineMs: number }) => Promise<Kind<T> | undefined>);
  /** For texts: `Tenant`. */
  kindName: string;
  ref: ObjectRef;
  timeoutSeconds: number;
  /** What is waited for, in words. */
  what: string;
  /** What to look at when it does not come. */
  nextStep: string;
  /** Called with undefined when there is no such object. */
  judge(object: T | undefined): WaitResult<R>;
}

/** The wait is over without success. The reasons are for people: the trail, the object's conditions and events, the next step. */
class WaitFailed extends Error {
  override name = "WaitFailed";

  constructor(
    message: string,
    readonly reasons: readonly string[],
    options?: ErrorOptions,
  ) {
    super(message, options);
  }
}

/** Longest time for one request, and longest time between two reads of the object. */
const answerMs = 10_000;
const lookAgainMs = 30_000;

/**
 * Waits until an object is as wanted. Reads it after each change, and retries every second while the API server does not answer.
 *
 * @throws WaitFailed after the deadline, at once when it cannot come true or the API server does not accept us
 */
export async function waitForObject<T extends KubeObject, R>(
  wait: ObjectWait<T, R>,
  context: ProviderContext,
): Promise<R> {
  const start = context.now();
  const elapsed = () => context.now() - start;
  const left = () => wait.timeoutSeconds * 1000 - elapsed();
  const trail = new Trail();
  const note = (seen: string) => {
    if (trail.add(elapsed(), seen)) context.progress(`${subject(wait)}: waiting for ${wait.what}; ${seen}`);
  };
  let object: T | undefined;
  const fail = async (what: string, cause?: unknown) => {
    const reasons = [
      `seen: ${trail.toString()}`,
      ...facts(object),
      ...(await eventsOf(wait, object, context)),
      `next: ${wait.nextStep}`,
    ];
    return new WaitFailed(`${subject(wait)}: ${what}`, reasons, { cause });
  };

  for (;;) {
    let cause: unknown;
    try {
      const limits = { signal: context.signal, deadlineMs: clamp(left(), 1_000, answerMs) };
      const kind = typeof wait.kind === "function" ? await wait.kind(limits) : wait.kind;
      const observation = kind && (await observe(wait.client, kind, wait.ref, limits));
      object = observation?.object;
      const result = wait.judge(object);
      if (result.is === "met") return result.value;
      note(observation === undefined ? `the cluster does not serve the kind ${wait.kindName}` : result.seen);
      if (result.is === "refused") throw await fail(`${wait.what} cannot come: ${result.seen}`);
      if (left() > 0 && observation !== undefined) {
        await observation.change(clamp(Math.min(left(), result.againMs ?? lookAgainMs), 100, lookAgainMs));
        continue;
      }
    } catch (error) {
      if (error instanceof WaitFailed) throw error;
      context.signal.throwIfAborted();
      cause = error;
      note(sentence(error));
      if (isFinal(error)) throw await fail(`the API server cannot be used: ${sentence(error)}`, error);
    }
    if (left() <= 0) {
      throw await fail(
        `waited ${seconds(wait.timeoutSeconds * 1000)} for ${wait.what}; last seen: ${trail.last}`,
        cause,
      );
    }
    const { signal } = context;
    await pause(clamp(left(), 10, 1_000), undefined, { signal }).catch(() => signal.throwIfAborted());
  }
}

/**
 * Creation and update of a resource that consists of what it waits for: both run the same wait. A wait that fails leaves the resource recorded as not
 * finished, so that the next run goes on waiting.
 *
 * @param wait also gets the computed values that the state has; none at creation
 */
export function createdByWait<Inputs, Computed extends object>(
  idOf: (inputs: Inputs) => string,
  wait: (inputs: Inputs, context: ProviderContext, olds: Partial<Computed>) => Promise<Computed>,
) {
  return {
    async create(news: Inputs, context: ProviderContext): Promise<Made<Computed>> {
      const id = idOf(news);
      return { id, computed: await recorded(id, () => wait(news, context, {})) };
    },
    update: (
      id: string,
      olds: Partial<Computed>,
      news: Inputs,
      context: ProviderContext,
    ): Promise<Computed> => recorded(id, () => wait(news, context, olds)),
  };
}

/** Records the resource where its wait fails, with no computed value. */
async function recorded<T>(id: string, wait: () => Promise<T>): Promise<T> {
  try {
    return await wait();
  } catch (error) {
    if (!(error instanceof WaitFailed)) throw error;
    throw new PartialFailure(error.message, { id, computed: {}, reasons: error.reasons }, { cause: error });
  }
}

/** `Tenant "liqo-tenant-rome/rome" at https://10.0.0.1:6443` */
function subject<T extends KubeObject, R>(wait: ObjectWait<T, R>): string {
  const { name, namespace } = wait.ref;
  return `${wait.kindName} "${namespace === undefined ? name : `${namespace}/${name}`}" at ${wait.client.server}`;
}

function facts(object: KubeObject | undefined): string[] {
  const conditions = conditionsOf(object);
  return conditions.length === 0 ? [] : [`conditions: ${conditions.map(describeCondition).join("; ")}`];
}

/** The last events of the object. A slow or forbidden list gives none. */
async function eventsOf<T extends KubeObject, R>(
  wait: ObjectWait<T, R>,
  object: T | undefined,
  context: ProviderContext,
): Promise<string[]> {
  const uid = object?.metadata.uid;
  if (uid === undefined) return [];
  const selection = {
    fieldSelector: `involvedObject.uid=${uid}`,
    namespace: wait.ref.namespace ?? "default",
  };
  try {
    const events = await wait.client.list(Event, selection, { signal: context.signal, deadlineMs: 5_000 });
    const told = events.map(({ type = "", reason = "", message = "" }) => `${type} ${reason}: ${message}`);
    return told.length === 0 ? [] : [`events: ${[...new Set(told)].slice(-3).join("; ")}`];
  } catch {
    return []; // the failure that is being reported matters more
  }
}

/** What an API server does that answers 401, and the way out. */
export const CREDENTIALS_REFUSED =
  "does not accept the kubeconfig's credentials (401); they are wrong or have expired, give a present kubeconfig";

/** Errors that do not go away with time. */
function isFinal(error: unknown): boolean {
  if (error instanceof ApiError) return error.status === 401;
  return codesOf(error).some((code) => /^(CERT_|ERR_TLS_|DEPTH_ZERO_|SELF_SIGNED_|UNABLE_TO_)/.test(code));
}

function codesOf(error: unknown): string[] {
  if (!(error instanceof Error)) return [];
  return ["code" in error && typeof error.code === "string" ? error.code : "", ...codesOf(error.cause)];
}

function sentence(error: unknown): string {
  const message = error instanceof Error ? error.message : String(error);
  if (error instanceof ApiError && error.status === 401) {
    return `it ${CREDENTIALS_REFUSED}`;
  }
  return message;
}

function clamp(value: number, low: number, high: number): number {
  return Math.min(high, Math.max(low, value));
}

/** What was seen while waiting: each change once, with the time at which it was seen first. */
export class Trail {
  private readonly entries: { afterMs: number; seen: string }[] = [];

  /** @returns whether this differs from what was seen last */
  add(afterMs: number, seen: string): boolean {
    if (this.entries.at(-1)?.seen === seen) return false;
    this.entries.push({ afterMs, seen });
    return true;
  }

  get last(): string {
    return this.entries.at(-1)?.seen ?? "nothing was seen";
  }

  /** The first entries and the last ones: `0 s: does not exist; 3 s: Ready=False (Pending)`. */
  toString(): string {
    const shown =
      this.entries.length <= 8
        ? this.entries
        : [...this.entries.slice(0, 3), undefined, ...this.entries.slice(-4)];
    return shown.map((entry) => (entry ? `${seconds(entry.afterMs)}: ${entry.seen}` : "…")).join("; ");
  }
}

/** `7 s`, `2 min 5 s` */
export function seconds(ms: number): string {
  const total = Math.round(ms / 1000);
  return total < 120 ? `${total} s` : `${Math.floor(total / 60)} min ${total % 60} s`;
}
