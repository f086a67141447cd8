import { z } from "zod";

import { InvalidObjectError } from "../../api/invalid-object";
import type { Desired, Kind, KubeObject, ObjectMeta, ObjectRef, PostedKind } from "../../api/meta";
import { type AnswerLimits, KeptBytes } from "./answer-limits";
import { ApiError, isNotFound } from "./api-error";
import type {
  ApplyOptions,
  CallOptions,
  ClientOptions,
  DeleteOptions,
  ListOptions,
  ListPage,
  PatchOptions,
  RawRequest,
  RawResponse,
  StreamedResponse,
  Term,
} from "./client-options";
import { readPem } from "./credentials";
import { type Connection, inClusterConnection, type KubeconfigOptions, parseKubeconfig } from "./kubeconfig";
import { readPages } from "./list-pages";
import { collectionPath, objectPath, type Served, withQuery } from "./object-reference";
import { headerOf, Requester } from "./requester";
import { type Answer, requestName } from "./round-trip";
import type { Upgraded, UpgradeRequest } from "./upgrade";
import {
  type Exchange,
  jsonRequest,
  metadataOf,
  metadataRequest,
  nameOf,
  patchRequest,
  patchVerb,
  readRequest,
  refOf,
  type ResponseHandler,
  type WireRequest,
} from "./wire-request";

/**
 * A client of one cluster's API server: many requests in flight over few connections, no rate limit of its own.
 *
 * The server's "too many requests" (429 with `Retry-After`) is obeyed: the request waits and is sent again within its deadline. Apart from
 * that, writes are never repeated; a read is repeated once when its connection breaks.
 */
export class KubeClient {
  private constructor(
    private readonly requester: Requester,
    private readonly options: ClientOptions,
    /** What the watches of this client keep. */
    readonly kept: KeptBytes,
    private readonly term?: Term,
  ) {}

  private static connectedTo(connection: Connection, options: ClientOptions): KubeClient {
    const requester = new Requester(connection, options);
    return new KubeClient(requester, options, new KeptBytes(requester.limits.keptBytes));
  }

  /** Connects to nothing yet. Throws `KubeconfigError` naming the field that is wrong. */
  static fromKubeconfig(text: string, options: ClientOptions & KubeconfigOptions = {}): KubeClient {
    return KubeClient.connectedTo(parseKubeconfig(text, options), options);
  }

  /** With the service account of the pod that we run in. */
  static inCluster(options: ClientOptions = {}): KubeClient {
    return KubeClient.connectedTo(inClusterConnection(process.env), options);
  }

  /** `https://host:port` of the API server. */
  get server(): string {
    return this.requester.connection.server.origin;
  }

  /** How much the API server may make us hold. */
  get limits(): Readonly<AnswerLimits> {
    return this.requester.limits;
  }

  /** Method, server and path of a read, for error texts. */
  nameOf(path: string): string {
    return requestName(this.requester, { method: "GET", path });
  }

  /** The namespace that the kubeconfig's context or the service account names. */
  get namespace(): string | undefined {
    return this.requester.connection.namespace;
  }

  /** PEM of the CA that the server's certificate is checked with, as it is now; undefined where the system's are. */
  async certificateAuthority(): Promise<string | undefined> {
    const { certificateAuthority, source } = this.requester.connection;
    if (certificateAuthority === undefined) return undefined;
    return await readPem(certificateAuthority, { source, field: "certificate-authority" });
  }

  /**
   * Uses another kubeconfig from now on, such as one with a renewed certificate: new connections use the new pair, watches and answers
   * under way go on to their end on the old one. A kubeconfig that cannot be read changes nothing.
   */
  replaceCredentials(kubeconfig: string, options: KubeconfigOptions = {}): void {
    this.requester.replace(parseKubeconfig(kubeconfig, options));
  }

  /**
   * Another client of the same cluster with a connection of its own, for the few requests that must not wait behind many: renewals of leases, and
   * questions whether the server lives.
   */
  sibling(): KubeClient {
    return KubeClient.connectedTo(this.requester.connection, { ...this.options, maxConnections: 1 });
  }

  /**
   * The same client for one term of a leader: its requests end with the term, and none begins after it. Watches are not bound to it; whoever opened
   * them stops them.
   */
  during(term: Term): KubeClient {
    return new KubeClient(this.requester, this.options, this.kept, term);
  }

  /** Ends all connections, and all requests on them. */
  close(): void {
    this.requester.close();
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

  /** All objects of a selection, fetched in pages of 500, of fewer where they are large. A list that fails in the middle throws; it is never a part. */
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
  listPages<T extends KubeObject>(
    kind: Kind<T>,
    { namespace, labelSelector, fieldSelector }: ListOptions = {},
    call?: CallOptions & { pageSize?: number },
  ): AsyncGenerator<ListPage<T>, void> {
    const { limits } = this;
    const collection = collectionPath(kind, namespace);
    return readPages({
      kind,
      what: this.nameOf(collection),
      limits,
      pageSize: call?.pageSize,
      fetch: async (limit, continueToken) => {
        const path = withQuery(collection, { limit, labelSelector, fieldSelector, continue: continueToken });
        const { body } = await this.answer("list", kind, undefined, readRequest(path), {
          maxAnswerBytes: limits.pageBytes,
          ...call,
        });
        return { value: jsonOf(body, "list", kind, undefined), bytes: body.length };
      },
    });
  }

  async create<T extends KubeObject>(kind: Kind<T>, object: Desired<T>, call?: CallOptions): Promise<T> {
    const path = collectionPath(kind, this.namespaceOf(kind, object));
    return kind.fromApiServer(
      await this.json("create", kind, refOf(object), jsonRequest("POST", path, object), call),
    );
  }

  /** Like {@link create} where only the answer's metadata is of use: less for the API server to encode and for us to read. */
  async createForMetadata<T extends KubeObject>(
    kind: Kind<T>,
    object: Desired<T>,
    call?: CallOptions,
  ): Promise<ObjectMeta> {
    const path = collectionPath(kind, this.namespaceOf(kind, object));
    const request = metadataRequest(jsonRequest("POST", path, object));
    return metadataOf(await this.json("create", kind, refOf(object), request, call));
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
    const request = patchRequest(kind, ref, body, options);
    return kind.fromApiServer(await this.json(patchVerb(options), kind, ref, request, options));
  }

  /** Like {@link patch} where only the answer's metadata is of use. */
  async patchForMetadata<T extends KubeObject>(
    kind: Kind<T>,
    ref: ObjectRef,
    body: unknown,
    options: PatchOptions,
  ): Promise<ObjectMeta> {
    const request = metadataRequest(patchRequest(kind, ref, body, options));
    return metadataOf(await this.json(patchVerb(options), kind, ref, request, options));
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
    // Some kinds are answered with the whole object.
    const request = metadataRequest(jsonRequest("DELETE", objectPath(kind, ref), body));
    try {
      await this.answer("delete", kind, ref, request, options);
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
    return await this.requester.stream(options);
  }

  /** Opens a protocol upgrade (`SPDY/3.1`, `websocket`) on a connection of its own, with our credentials. */
  async upgrade(options: UpgradeRequest): Promise<Upgraded> {
    return await this.requester.upgrade(options);
  }

  /** Sends a request whose answer goes on for long, such as a watch. The caller reads the status itself. */
  async open(path: string, handler: ResponseHandler): Promise<Exchange> {
    return await this.requester.open(path, handler);
  }

  /** After a 401 on a stream: the next request reads the credentials afresh. */
  forgetCredentials(): void {
    this.requester.forgetCredentials();
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
    return jsonOf(body, verb, kind, ref);
  }

  private async send(request: WireRequest, call: CallOptions = {}): Promise<Answer> {
    const { term } = this;
    if (term === undefined) return await this.requester.send(request, call);
    const signal = call.signal === undefined ? term.signal : AbortSignal.any([term.signal, call.signal]);
    if (!term.current) throw new TermEndedError(requestName(this.requester, request));
    return await this.requester.send(request, { ...call, signal });
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
}

/** Another candidate may lead by now, so the request was not sent. */
class TermEndedError extends Error {
  override readonly name = "TermEndedError";

  constructor(request: string) {
    super(`${request}: not sent, because this process no longer leads`);
  }
}

function jsonOf(body: Buffer, verb: string, kind: Served, ref: ObjectRef | undefined): unknown {
  try {
    const value: unknown = JSON.parse(body.toString("utf8"));
    return value;
  } catch {
    throw new InvalidObjectError(`answer to ${nameOf(verb, kind, ref)}`, ["is not JSON"]);
  }
}

const versionAnswer = z.object({ gitVersion: z.string() });

/** The version of the API server, such as `v1.34.4`. */
export async function serverVersion(client: KubeClient, signal: AbortSignal): Promise<string> {
  const { body } = await client.raw({ path: "/version", signal });
  return versionAnswer.parse(JSON.parse(body.toString("utf8"))).gitVersion;
}
