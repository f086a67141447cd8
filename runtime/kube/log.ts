import { AsyncLocalStorage } from "node:async_hooks";

import { type DestinationStream, type Logger as PinoLogger, pino } from "pino";

export type Fields = Record<string, unknown>;
export type LogLevel = "debug" | "info" | "warn" | "error";

/**
 * Structured log: the message is a constant, what varies stands in the fields, the same thing always under the same name.
 * Fields that hold keys, tokens or kubeconfigs are never printed.
 */
export interface Logger {
  debug(message: string, fields?: Fields): void;
  info(message: string, fields?: Fields): void;
  /** Something failed and will be tried again. */
  warn(message: string, fields?: Fields): void;
  /** Something failed that a human should look at. An error goes into the field `error`. */
  error(message: string, fields?: Fields): void;
  /** A logger that adds these fields to each line. */
  child(fields: Fields): Logger;
}

export interface LogOptions {
  /** Default: `info`. */
  level?: LogLevel;
  /** Default: standard output. */
  destination?: DestinationStream;
  /** In each line, such as the component. */
  fields?: Fields;
}

/** Names that hold secrets, on the first three levels of a line's fields. */
const SECRET_FIELDS = [
  "authorization",
  "client-certificate-data",
  "client-key-data",
  "clientKeyData",
  "data",
  "kubeconfig",
  "password",
  "presharedKey",
  "privateKey",
  "signedNonce",
  "nonce",
  "secret",
  "stringData",
  "token",
];

/** A logger that writes one JSON object a line; within a reconcile with its controller, key and id. */
export function createLogger(options: LogOptions = {}): Logger {
  const quoted = SECRET_FIELDS.map((field) => `["${field}"]`);
  const settings = {
    level: options.level ?? "info",
    base: options.fields ?? {},
    timestamp: () => `,"time":"${new Date().toISOString()}"`,
    formatters: { level: (label: string) => ({ level: label }) },
    redact: { paths: quoted.flatMap((path) => [path, `*${path}`, `*.*${path}`]), censor: "…" },
    serializers: { error: describeError },
    messageKey: "message",
    mixin: () => ({ ...reconcileScope() }),
  };
  return new PinoAdapter(
    options.destination === undefined ? pino(settings) : pino(settings, options.destination),
  );
}

/** A logger that says nothing. */
export const silentLogger: Logger = {
  debug: () => undefined,
  info: () => undefined,
  warn: () => undefined,
  error: () => undefined,
  child: () => silentLogger,
};

class PinoAdapter implements Logger {
  constructor(private readonly pino: PinoLogger) {}

  debug(message: string, fields?: Fields): void {
    this.pino.debug(fields ?? {}, message);
  }

  info(message: string, fields?: Fields): void {
    this.pino.info(fields ?? {}, message);
  }

  warn(message: string, fields?: Fields): void {
    this.pino.warn(fields ?? {}, message);
  }

  error(message: string, fields?: Fields): void {
    this.pino.error(fields ?? {}, message);
  }

  child(fields: Fields): Logger {
    return new PinoAdapter(this.pino.child(fields));
  }
}

/** An error as a line shows it: its sentence and those of its causes; the stack only of what looks like a fault of ours. */
function describeError(error: unknown): unknown {
  if (!(error instanceof Error)) return error;
  const causes: string[] = [];
  for (let cause = error.cause; cause instanceof Error && causes.length < 5; cause = cause.cause) {
    causes.push(cause.message);
  }
  const fault = error instanceof TypeError || error instanceof RangeError || error instanceof ReferenceError;
  return {
    type: error.name,
    message: error.message,
    ...(causes.length === 0 ? {} : { causes }),
    ...(fault ? { stack: error.stack } : {}),
  };
}

/** One reconcile: what every line that is logged on its behalf carries, wherever in the code that is. */
interface ReconcileScope {
  readonly controller: string;
  readonly key: string;
  /** Unique among all processes, practically. */
  readonly reconcileID: string;
}

interface Held extends ReconcileScope {
  /** What a reconcile started and left running is no part of it any more. */
  over: boolean;
}

const scopes = new AsyncLocalStorage<Held>();

/** Runs a reconcile within its scope. */
export async function inReconcileScope<T>(scope: ReconcileScope, work: () => Promise<T>): Promise<T> {
  const held: Held = { ...scope, over: false };
  return await scopes.run(held, async () => {
    try {
      return await work();
    } finally {
      held.over = true;
    }
  });
}

/** The reconcile that the present call belongs to. */
function reconcileScope(): ReconcileScope | undefined {
  const held = scopes.getStore();
  if (held === undefined || held.over) return undefined;
  const { controller, key, reconcileID } = held;
  return { controller, key, reconcileID };
}
