import type { Readable } from "node:stream";

import { InvalidObjectError, isRecord } from "../api/invalid-object";
import type { Desired, Kind, KubeObject, ObjectRef, PostedKind } from "../api/meta";
import { ApiError, isNotFound } from "./api-error";
import { readPem } from "./credentials";
import { ConnectionError } from "./dial";
import type { Exchange, ResponseHandler, ResponseHeaders, WireRequest } from "./exchange";
import { inClusterConnection } from "./in-cluster";
import { type Connection, type KubeconfigOptions, parseKubeconfig } from "./kubeconfig";
import { collectionPath, describeRef, objectPath, type Served, withQuery } from "./resource-path";
import { streamed } from "./streamed";
import { Transport, type TransportOptions } from "./transport";
import { type Answer, isConnectionLoss, pathOnly, unary } from "./unary";
import { type Upgraded, upgrade, type UpgradeRequest } from "./upgrade";

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
}

const PATCH_CONTENT_TYPE = {
  merge: "application/merge-patch+json",
  json: "application/json-patch+json",
  strategic: "application/strategic-merge-patch+json",
} as const;
const DEFAULT_DEADLINE_MS = 30_000;
const PAGE_SIZE = 500;

/**
 * A client of one cluster's API server: many requests in flight over few connections, no rate limit of its own.
 *
 * The server's "too many requests" (429 with `Retry-After`) is obeyed: the request waits and is sent again within its deadline. Apart from
 * that, writes are never repeated; a read is repeated once when its connection breaks.
 */
export class KubeClient {
  private transport: Transport;
  /** Replaced, but with watches still open. */
  private readonly draining = new Set<Transport>();

  private constructor(
    connection: Connection,
    private readonly options: ClientOptions,
  ) {
    this.transport = new Transport(connection, transportOptions(options));
  }

  /** Connects to nothing yet. Throws `KubeconfigError` naming the field that is wrong. */
  static fromKubeconfig(text: string, options: ClientOptions & KubeconfigOptions = {}): KubeClient {
    return new KubeClient(parseKubeconfig(text, options), options);
  }

  /** With the service account of the pod that we run in. */
  static inCluster(options: ClientOptions = {}): KubeClient {
    return new KubeClient(inClusterConnection(process.env), options);
  }

  /** `https://host:port` of the API server. */
  get server(): string {
    return this.transport.connection.server.origin;
  }

  /** The namespace that the kubeconfig's context or the service account names. */
  get namespace(): string | undefined {
    return this.transport.connection.namespace;
  }

  /** PEM of the CA that the server's certificate is checked with, as it is now; undefined where the system's are. */
  async certificateAuthority(): Promise<string | undefined> {
    const { certificateAuthority, source } = this.transport.connection;
    if (certificateAuthority === undefined) return undefined;
    return await readPem(certificateAuthority, { source, field: "certificate-authority" });
  }

  /**
   * Uses another kubeconfig from now on, such as one with a renewed certificate: new connections use the new pair, watches and answers
   * under way go on to their end on the old one. A kubeconfig that cannot be read changes nothing.
   */
  replaceCredentials(kubeconfig: string, options: KubeconfigOptions = {}): void {
    const replaced = this.transport;
    this.transport = new Transport(parseKubeconfig(kubeconfig, options), transportOptions(this.options));
    this.draining.add(replaced);
    void replaced.drain().then(() => this.draining.delete(replaced));
  }

  /**
   * Another client of the same cluster with a connection of its own, for the few requests that must not wait behind many: renewals of leases, and
   * questions whether the server lives.
   */
  sibling(): KubeClient {
    return new KubeClient(this.transport.connection, { ...this.options, maxConnections: 1 });
  }

  /** Ends all connections, and all requests on them. */
  close(): void {
    this.transport.destroy();
    for (const transport of this.draining) transport.destroy();
  }

  /** `undefined`: there is no such object. */
  async get<T extends KubeObject>(kind: Kind<T>, ref: ObjectRef, call?: CallOptions): Promise<T | undefined> {
    try {
      return kind.fromApiServer(await this.json("get", kind, ref, readRequest(objectPath(kind, ref)), call));
    } catch (error) {
      if (isNotFound(error)) return undefined;
      throw error;
    }
  }

  /** All objects of a selection, fetched in pages of 500. A list that fails in the middle throws; it is never a part. */
  async list<T extends KubeObject>(
    kind: Kind<T>,
    options: ListOptions = {},
    call?: CallOptions,
  ): Promise<T[]> {
    const all: T[] = [];
    for await (const page of this.listPages(kind, options, call)) all.push(...page.items);
    return all;
  }

  /** The pages of a list, for callers that keep only a part of each object. Each page has the call's deadline to itself. */
  async *listPages<T extends KubeObject>(
    kind: Kind<T>,
    { namespace, labelSelector, fieldSelector }: ListOptions = {},
    call?: CallOptions & { pageSize?: number },
  ): AsyncGenerator<ListPage<T>, void> {
    let continueToken: string | undefined;
    do {
      const path = withQuery(collectionPath(kind, namespace), {
        limit: call?.pageSize ?? PAGE_SIZE,
        labelSelector,
        fieldSelector,
        continue: continueToken,
      });
      const page = readPage(kind, await this.json("list", kind, undefined, readRequest(path), call));
      yield page;
      continueToken = page.continueToken;
    } while (continueToken !== undefined);
  }

  async create<T extends KubeObject>(kind: Kind<T>, object: Desired<T>, call?: CallOptions): Promise<T> {
    const path = collectionPath(kind, this.namespaceOf(kind, object));
    return kind.fromApiServer(
      await this.json("create", kind, refOf(object), jsonRequest("POST", path, object), call),
    );
  }

  /** A whole object in the place of the one whose `resourceVersion` it carries; 409 where that is no longer the present one. */
  async replace<T extends KubeObject>(kind: Kind<T>, object: T, call?: CallOptions): Promise<T> {
    const path = objectPath(kind, object.metadata);
    return kind.fromApiServer(
      await this.json("replace", kind, object.metadata, jsonRequest("PUT", path, object), call),
    );
  }

  async replaceStatus<T extends KubeObject>(kind: Kind<T>, object: T, call?: CallOptions): Promise<T> {
    const path = objectPath(kind, object.metadata, "status");
    return kind.fromApiServer(
      await this.json("replace status of", kind, object.metadata, jsonRequest("PUT", path, object), call),
    );
  }

  /** Server-side apply: the fields given become ours and get these values; fields that we gave before and no longer give are removed. */
  apply<T extends KubeObject>(kind: Kind<T>, object: Desired<T>, options: ApplyOptions): Promise<T> {
    return this.applyTo(kind, object, options, undefined);
  }

  applyStatus<T extends KubeObject>(kind: Kind<T>, object: Desired<T>, options: ApplyOptions): Promise<T> {
    return this.applyTo(kind, object, options, "status");
  }

  async patch<T extends KubeObject>(
    kind: Kind<T>,
    ref: ObjectRef,
    body: unknown,
    options: PatchOptions,
  ): Promise<T> {
    const path = objectPath(kind, ref, options.subresource);
    const verb = options.subresource === undefined ? "patch" : `patch ${options.subresource} of`;
    const request = jsonRequest("PATCH", path, body, PATCH_CONTENT_TYPE[options.type]);
    return kind.fromApiServer(await this.json(verb, kind, ref, request, options));
  }

  /**
   * Asks for deletion; an object with finalizers or a grace period stays for a while.
   *
   * @returns false where there was no such object
   */
  async delete<T extends KubeObject>(
    kind: Kind<T>,
    ref: ObjectRef,
    options: DeleteOptions = {},
  ): Promise<boolean> {
    const { uid, resourceVersion, gracePeriodSeconds, propagationPolicy } = options;
    const body = {
      apiVersion: "v1",
      kind: "DeleteOptions",
      preconditions:
        uid === undefined && resourceVersion === undefined ? undefined : { uid, resourceVersion },
      gracePeriodSeconds,
      propagationPolicy,
    };
    try {
      await this.answer("delete", kind, ref, jsonRequest("DELETE", objectPath(kind, ref), body), options);
      return true;
    } catch (error) {
      if (isNotFound(error)) return false;
      throw error;
    }
  }

  /** Posts to a subresource such as `token`, `eviction` or `binding` and reads the answer with `parse`. */
  async createSubresource<R>(
    kind: Served,
    ref: ObjectRef,
    subresource: string,
    body: unknown,
    parse: (value: unknown) => R,
    call?: CallOptions,
  ): Promise<R> {
    const request = jsonRequest("POST", objectPath(kind, ref, subresource), body);
    return parse(await this.json(`create ${subresource} of`, kind, ref, request, call));
  }

  /** Posts a kind that is answered and never stored, such as a `SelfSubjectAccessReview`. */
  async post<T>(kind: PostedKind<T>, body: unknown, namespace?: string, call?: CallOptions): Promise<T> {
    const request = jsonRequest("POST", collectionPath(kind, namespace), body);
    return kind.parse(await this.json("post", kind, undefined, request, call));
  }

  /** Any path, any status; only connection failures throw. */
  async raw(options: RawRequest): Promise<RawResponse> {
    const { method = "GET", path, headers, body, ...call } = options;
    return await this.send({ method, path, headers: headers ?? {}, body }, call);
  }

  /** Like {@link raw}, with the body as it comes: followed logs, proxies. The deadline counts until the head arrives. */
  async stream(options: RawRequest): Promise<StreamedResponse> {
    const { method = "GET", path, headers = {}, body, signal, deadlineMs } = options;
    const authorized = await this.authorize({ method, path, headers, body, longLived: true });
    return await streamed(this.transport, authorized, deadlineMs ?? this.deadlineMs, signal);
  }

  /** Opens a protocol upgrade (`SPDY/3.1`, `websocket`) on a connection of its own, with our credentials. */
  async upgrade(options: UpgradeRequest): Promise<Upgraded> {
    const { transport } = this;
    const authorization = await transport.credentials.authorization();
    return await upgrade(transport, options, authorization, this.deadlineMs);
  }

  /** Sends a request whose answer goes on for long, such as a watch. The caller reads the status itself. */
  async open(path: string, handler: ResponseHandler): Promise<Exchange> {
    const request = await this.authorize({ method: "GET", path, headers: {}, longLived: true });
    return this.transport.send(request, handler);
  }

  /** After a 401 on a stream: the next request reads the credentials afresh. */
  forgetCredentials(): void {
    this.transport.credentials.forget();
  }

  private async applyTo<T extends KubeObject>(
    kind: Kind<T>,
    object: Desired<T>,
    { fieldManager, force, ...call }: ApplyOptions,
    subresource: string | undefined,
  ): Promise<T> {
    const ref = refOf(object);
    if (ref === undefined) throw new Error(`${kind.kind}: metadata.name is missing; apply names its object`);
    const path = withQuery(objectPath(kind, ref, subresource), { fieldManager, force });
    const request = jsonRequest("PATCH", path, object, "application/apply-patch+yaml");
    const verb = subresource === undefined ? "apply" : `apply ${subresource} of`;
    return kind.fromApiServer(await this.json(verb, kind, ref, request, call));
  }

  private namespaceOf<T extends KubeObject>(kind: Kind<T>, object: Desired<T>): string | undefined {
    const { namespace } = object.metadata;
    if (kind.namespaced && (namespace === undefined || namespace === "")) {
      const name = object.metadata.name ?? `${object.metadata.generateName ?? ""}…`;
      throw new Error(
        `${kind.kind} "${name}": metadata.namespace is missing; a ${kind.kind} lives in a namespace`,
      );
    }
    return namespace;
  }

  private async json(
    verb: string,
    kind: Served,
    ref: ObjectRef | undefined,
    request: WireRequest,
    call?: CallOptions,
  ): Promise<unknown> {
    const { body } = await this.answer(verb, kind, ref, request, call);
    try {
      const value: unknown = JSON.parse(body.toString("utf8"));
      return value;
    } catch {
      throw new InvalidObjectError(`answer to ${nameOf(verb, kind, ref)}`, ["is not JSON"]);
    }
  }

  private async answer(
    verb: string,
    kind: Served,
    ref: ObjectRef | undefined,
    request: WireRequest,
    call?: CallOptions,
  ): Promise<Answer> {
    const answer = await this.send(request, call);
    if (answer.status >= 200 && answer.status < 300) return answer;
    const retryAfter = headerOf(answer.headers, "retry-after");
    throw ApiError.fromBody(nameOf(verb, kind, ref), answer.status, answer.body.toString("utf8"), retryAfter);
  }

  private get deadlineMs(): number {
    return this.options.deadlineMs ?? DEFAULT_DEADLINE_MS;
  }

  /** Sends until there is an answer other than "come back later", within one deadline. */
  private async send(request: WireRequest, call: CallOptions = {}): Promise<Answer> {
    const allowedMs = call.deadlineMs ?? this.deadlineMs;
    const end = performance.now() + allowedMs;
    let mayRepeat = request.method === "GET";
    let authorization: string | undefined;
    for (;;) {
      const authorized = await this.authorize(request);
      const { transport } = this;
      try {
        const answer = await unary(transport, authorized, {
          deadlineMs: Math.max(1, end - performance.now()),
          allowedMs,
          signal: call.signal,
        });
        if (answer.status === 401) {
          transport.credentials.forget();
          const next = await transport.credentials.authorization();
          // A request that was not authenticated was not carried out; one more try if there is another credential by now.
          if (next === authorization || next === authorized.headers.authorization) return answer;
          authorization = authorized.headers.authorization;
          continue;
        }
        const waitMs = comeBackIn(request, answer);
        if (waitMs === undefined || performance.now() + waitMs > end) return answer;
        await pause(waitMs, call.signal);
      } catch (error) {
        // The credentials were replaced before the request left.
        if (transport !== this.transport && error instanceof ConnectionError && error.unprocessed) continue;
        if (!mayRepeat || !isConnectionLoss(error) || performance.now() > end) throw error;
        mayRepeat = false;
      }
    }
  }

  private async authorize(request: WireRequest): Promise<WireRequest> {
    const credential = this.transport.credentials.authorization();
    const authorization = credential instanceof Promise ? await credential : credential;
    const headers: Record<string, string> = {
      accept: "application/json",
      "user-agent": this.options.userAgent ?? "pulumi-liqo",
      ...request.headers,
    };
    if (authorization !== undefined) headers.authorization = authorization;
    return { ...request, headers };
  }
}

function transportOptions({ maxConnections, heartbeatMs = 10_000 }: ClientOptions): TransportOptions {
  return { maxConnections, heartbeatMs };
}

function readRequest(path: string): WireRequest {
  return { method: "GET", path, headers: {} };
}

function jsonRequest(
  method: string,
  path: string,
  body: unknown,
  contentType = "application/json",
): WireRequest {
  return { method, path, headers: { "content-type": contentType }, body: JSON.stringify(body) };
}

function refOf(object: { metadata: { name?: string; namespace?: string } }): ObjectRef | undefined {
  const { name, namespace } = object.metadata;
  return name === undefined ? undefined : { name, namespace };
}

function nameOf(verb: string, kind: Served, ref: ObjectRef | undefined): string {
  return `${verb} ${ref === undefined ? kind.plural : describeRef(kind, ref)}`;
}

function headerOf(headers: ResponseHeaders, name: string): string | undefined {
  const value = headers[name];
  return Array.isArray(value) ? value[0] : value;
}

/** How long the server asks us to wait. An eviction's 429 is an answer (a disruption budget stands against it), not a delay. */
function comeBackIn(request: WireRequest, answer: Answer): number | undefined {
  if (answer.status !== 429 || pathOnly(request.path).endsWith("/eviction")) return undefined;
  const seconds = Number(headerOf(answer.headers, "retry-after") ?? "1");
  if (!Number.isFinite(seconds)) return undefined;
  return Math.max(100, seconds * 1000) * (1 + Math.random() * 0.2);
}

function pause(ms: number, signal: AbortSignal | undefined): Promise<void> {
  return new Promise((resolve, reject) => {
    const stop = () => {
      clearTimeout(timer);
      reject(signal?.reason instanceof Error ? signal.reason : new Error("the request was aborted"));
    };
    const timer = setTimeout(() => {
      signal?.removeEventListener("abort", stop);
      resolve();
    }, ms);
    signal?.addEventListener("abort", stop, { once: true });
  });
}

function readPage<T extends KubeObject>(kind: Kind<T>, value: unknown): ListPage<T> {
  const fail = (issue: string): never => {
    throw new InvalidObjectError(`list of ${kind.plural}`, [issue]);
  };
  if (!isRecord(value)) return fail("is not an object");
  const { metadata, items } = value;
  if (!isRecord(metadata) || typeof metadata.resourceVersion !== "string") {
    return fail("metadata.resourceVersion: is missing");
  }
  // Go writes an empty list as null.
  if (items !== null && !Array.isArray(items)) return fail("items: is not a list");
  return {
    items: (items ?? []).map((item: unknown) => {
      // Lists of built-in kinds leave these out of their items.
      if (isRecord(item)) {
        item.apiVersion ??= kind.apiVersion;
        item.kind ??= kind.kind;
      }
      return kind.fromApiServer(item);
    }),
    resourceVersion: metadata.resourceVersion,
    continueToken:
      typeof metadata.continue === "string" && metadata.continue !== "" ? metadata.continue : undefined,
  };
}
