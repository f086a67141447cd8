import type { Readable } from "node:stream";

import type { Registry } from "prom-client";

import type { AnswerLimits } from "./answer-limits";
import type { ResponseHeaders } from "./wire-request";

export interface ClientOptions {
  /** For each request, waiting for the server's "come back later" included. Default: 30,000 ms. */
  deadlineMs?: number;
  /** Connections for short requests. Default: 16, and 64 where a round trip takes longer than 3 ms. */
  maxConnections?: number;
  /**
   * How long a connection with open watches may be silent before it is asked whether it lives; one that does not answer
   * for as long again is dropped (HTTP/2). Default: 10,000 ms.
   */
  heartbeatMs?: number;
  /** `User-Agent`, which audit logs and priority levels show. Default: `pulumi-liqo`. */
  userAgent?: string;
  /** How much the API server may make us hold. Default: `OWN_CLUSTER_LIMITS`; `PEER_LIMITS` for that of a stranger. */
  limits?: Readonly<AnswerLimits>;
  /** Where requests are counted. */
  metrics?: Registry;
}

/** A time during which one candidate alone holds a lease, see `LeaderElection`. */
export interface Term {
  /** Aborted when the term ends. */
  readonly signal: AbortSignal;
  /** Judged by the time since the last renewal, so that it is right even in the first moment after the process was held up. */
  readonly current: boolean;
}

export interface ListOptions {
  /** Default: all namespaces. */
  namespace?: string;
  labelSelector?: string;
  fieldSelector?: string;
}

/** Limits of one call. */
export interface CallOptions {
  signal?: AbortSignal;
  deadlineMs?: number;
  /** Of the body of the answer. Default: `answerBytes` of the client's limits. */
  maxAnswerBytes?: number;
}

export interface DeleteOptions extends CallOptions {
  /** Delete only this incarnation; a re-created object of the same name stays (409). */
  uid?: string;
  resourceVersion?: string;
  gracePeriodSeconds?: number;
  propagationPolicy?: "Background" | "Foreground" | "Orphan";
}

export interface ApplyOptions extends CallOptions {
  fieldManager: string;
  /** Take fields over from other managers. Default: false, which makes it a conflict (409). */
  force?: boolean;
}

export interface PatchOptions extends CallOptions {
  type: "merge" | "json" | "strategic";
  subresource?: string;
}

export interface RawRequest extends CallOptions {
  /** Default: `GET`. */
  method?: string;
  /** Path and query, such as `/livez`. */
  path: string;
  headers?: Record<string, string>;
  body?: string | Buffer;
}

/** An answer as it came, whatever its status. */
export interface RawResponse {
  status: number;
  headers: ResponseHeaders;
  body: Buffer;
}

/** An answer whose body is still coming. Destroy the body to give up. */
export interface StreamedResponse {
  status: number;
  headers: ResponseHeaders;
  body: Readable;
}

/** One page of a list. */
export interface ListPage<T> {
  items: T[];
  resourceVersion: string;
  continueToken?: string;
  /** Size of the answer. */
  bytes: number;
}
