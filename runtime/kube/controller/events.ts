import { createHash } from "node:crypto";

import { Event } from "../../api/kubernetes";
import type { KubeObject } from "../../api/meta";
import { isNotFound } from "../client/api-error";
import type { KubeClient } from "../client/client";
import { type Clock, systemClock, timestamp } from "../clock";
import { type Logger, silentLogger } from "../log";

export interface EventRecorderOptions {
  client: KubeClient;
  /** Stands as the event's source, such as `virtual-kubelet`. */
  component: string;
  clock?: Clock;
  log?: Logger;
  /** The pod we are, as the source's host. */
  host?: string;
}

type EventType = "Normal" | "Warning";

interface Recorded {
  readonly name: string;
  readonly namespace: string;
  readonly firstSeen: number;
  count: number;
  /** What the API server knows. */
  written: number;
  lastWrite: number;
  busy: boolean;
}

/** The same event within this time is counted, not told again. */
const WINDOW_MS = 10 * 60_000;
/** How often, at most, a count is written. */
const WRITE_EVERY_MS = 60_000;
/** How many events are remembered; of the older ones only the counting is lost. */
const REMEMBERED = 2_000;
/** Events that may be under way at a time; more are dropped, so that a storm costs neither memory nor the API server. */
const IN_FLIGHT = 50;
/** The API server refuses longer ones. */
const MAX_MESSAGE = 1_024;

/**
 * Tells users what happens to an object (`kubectl describe`).
 *
 * Never waits, never throws: an event that cannot be written is lost. The same event again within ten minutes raises a count, written
 * at most once a minute. The message must hold no secret.
 */
export class EventRecorder {
  private readonly recorded = new Map<string, Recorded>();
  private readonly clock: Clock;
  private readonly log: Logger;
  private inFlight = 0;

  constructor(private readonly options: EventRecorderOptions) {
    this.clock = options.clock ?? systemClock;
    this.log = options.log ?? silentLogger;
  }

  normal(about: KubeObject, reason: string, message: string): void {
    this.record(about, "Normal", reason, message);
  }

  warning(about: KubeObject, reason: string, message: string): void {
    this.record(about, "Warning", reason, message);
  }

  private record(about: KubeObject, type: EventType, reason: string, message: string): void {
    const text = message.length > MAX_MESSAGE ? `${message.slice(0, MAX_MESSAGE - 1)}…` : message;
    const { uid, name, namespace } = about.metadata;
    const key = [about.kind, namespace, name, uid, type, reason, text].join("\n");
    const now = this.clock.now();
    const known = this.recorded.get(key);
    if (known === undefined || now - known.firstSeen > WINDOW_MS) {
      this.begin(key, about, { type, reason, message: text, now });
      return;
    }
    known.count += 1;
    if (!known.busy && now - known.lastWrite >= WRITE_EVERY_MS) this.raise(key, known, now);
  }

  private begin(
    key: string,
    about: KubeObject,
    event: { type: EventType; reason: string; message: string; now: number },
  ): void {
    const { metadata } = about;
    const unique = createHash("sha256")
      .update(`${key}\n${event.now}\n${Math.random()}`)
      .digest("hex")
      .slice(0, 16);
    const recorded: Recorded = {
      // Names of objects may be as long as those of events.
      name: `${metadata.name.slice(0, 230)}.${unique}`,
      namespace: metadata.namespace ?? "default",
      firstSeen: event.now,
      count: 1,
      written: 1,
      lastWrite: event.now,
      busy: false,
    };
    this.recorded.delete(key);
    this.recorded.set(key, recorded);
    if (this.recorded.size > REMEMBERED) {
      for (const oldest of this.recorded.keys()) {
        this.recorded.delete(oldest);
        break;
      }
    }
    const at = timestamp(this.clock);
    const { component, host } = this.options;
    this.send(key, recorded, () =>
      this.options.client.create(Event, {
        apiVersion: "v1",
        kind: "Event",
        metadata: { name: recorded.name, namespace: recorded.namespace },
        involvedObject: {
          apiVersion: about.apiVersion,
          kind: about.kind,
          name: metadata.name,
          namespace: metadata.namespace,
          uid: metadata.uid,
          resourceVersion: metadata.resourceVersion,
        },
        type: event.type,
        reason: event.reason,
        message: event.message,
        source: host === undefined ? { component } : { component, host },
        reportingComponent: component,
        firstTimestamp: at,
        lastTimestamp: at,
        count: 1,
      }),
    );
  }

  private raise(key: string, recorded: Recorded, now: number): void {
    const { count, name, namespace } = recorded;
    recorded.lastWrite = now;
    this.send(key, recorded, async () => {
      const patch = { count, lastTimestamp: timestamp(this.clock) };
      await this.options.client.patch(Event, { name, namespace }, patch, { type: "merge" });
      recorded.written = count;
    });
  }

  private send(key: string, recorded: Recorded, write: () => Promise<unknown>): void {
    if (this.inFlight >= IN_FLIGHT) {
      this.recorded.delete(key);
      this.log.debug("event dropped, too many under way");
      return;
    }
    this.inFlight += 1;
    recorded.busy = true;
    write()
      .catch((error: unknown) => {
        // Expired on the server, or never made: the next one begins anew.
        this.recorded.delete(key);
        if (!isNotFound(error)) this.log.debug("event not written", { error });
      })
      .finally(() => {
        recorded.busy = false;
        this.inFlight -= 1;
      });
  }
}
