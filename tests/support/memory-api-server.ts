/**
 * An API server that keeps its objects in memory, for tests of whole controllers: lists, watches, optimistic concurrency, the status
 * subresource, finalizers, garbage collection, and the schemas of our kinds. Processes that use it can be made to die between any two of their writes. What
 * it does not have (admission, CEL, defaults of Kubernetes' own kinds) is for the tests on real ones.
 */
import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";

import { InvalidObjectError, isRecord } from "../../runtime/api/invalid-object";
import type { Desired, Kind, KubeObject } from "../../runtime/api/meta";
import { kindOf } from "./kind-of";
import { keyOf, merged, MemoryStore, Refusal, type Stored, type StoreEvent } from "./memory-store";

interface Target {
  resource: string;
  namespace?: string;
  name?: string;
  subresource?: string;
  query: URLSearchParams;
}

export class MemoryApiServer {
  /** Each write that changed something, such as `PATCH ipam.liqo.io/networks liqo/pod-cidr status`. */
  readonly writes: string[] = [];
  private readonly store = new MemoryStore();
  private readonly responses = new Set<ServerResponse>();
  private writesLeft = Number.POSITIVE_INFINITY;
  private died: (() => void) | undefined;

  private constructor(private readonly server: Server) {}

  static async start(): Promise<MemoryApiServer> {
    const server = createServer();
    const started = new MemoryApiServer(server);
    server.on("request", (request, response) => void started.answer(request, response));
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
    return started;
  }

  get kubeconfig(): string {
    const address = this.server.address();
    if (address === null || typeof address === "string") throw new Error("the server does not listen");
    return JSON.stringify({
      apiVersion: "v1",
      kind: "Config",
      clusters: [{ name: "memory", cluster: { server: `http://127.0.0.1:${address.port}` } }],
      users: [{ name: "memory", user: {} }],
      contexts: [{ name: "memory", context: { cluster: "memory", user: "memory" } }],
      "current-context": "memory",
    });
  }

  async close(): Promise<void> {
    for (const response of this.responses) response.destroy();
    this.server.closeAllConnections();
    await new Promise((resolve) => this.server.close(resolve));
  }

  /** What a user creates: no write of a process. The status is stored as given. */
  create<T extends KubeObject>(kind: Kind<T>, object: Desired<T> & { status?: unknown }): void {
    const resource = resourceOf(kind);
    const { name, namespace } = this.store.create(
      resource,
      checked(object),
      object.metadata.namespace,
    ).metadata;
    if (object.status !== undefined) {
      this.store.update(resource, keyOf(name, namespace), { status: object.status }, "status");
    }
  }

  /** What a user changes. */
  change<T extends KubeObject>(
    kind: Kind<T>,
    key: string,
    patch: object,
    part: "main" | "status" = "main",
  ): void {
    const resource = resourceOf(kind);
    const before = this.store.get(resource, key);
    this.store.update(resource, key, checked(merged(before, patch)), part);
  }

  /** What a user deletes. */
  delete(kind: Kind<KubeObject>, key: string): void {
    this.store.delete(resourceOf(kind), key, {});
  }

  list<T extends KubeObject>(kind: Kind<T>): T[] {
    const objects = [...this.store.collection(resourceOf(kind)).objects.values()];
    return objects.map((object) => kind.fromApiServer(structuredClone(object)));
  }

  get<T extends KubeObject>(kind: Kind<T>, key: string): T | undefined {
    const object = this.store.collection(resourceOf(kind)).objects.get(key);
    return object && kind.fromApiServer(structuredClone(object));
  }

  /** After this many writes that change something, the process that makes the next one is dead: nothing of it arrives any more. */
  dieAfter(writes: number): Promise<void> {
    this.writesLeft = writes;
    return new Promise((resolve) => (this.died = resolve));
  }

  /** Writes arrive again. */
  revive(): void {
    this.writesLeft = Number.POSITIVE_INFINITY;
    this.died = undefined;
  }

  private async answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    this.responses.add(response);
    response.on("close", () => this.responses.delete(response));
    const { method = "GET" } = request;
    try {
      const target = targetOf(request.url ?? "/");
      if (method === "GET" && target.query.get("watch") === "true") return this.watch(target, response);
      if (method === "GET") return send(response, 200, this.read(target));
      const body = await bodyOf(request);
      if (this.writesLeft <= 0) {
        this.died?.();
        return void response.destroy();
      }
      const version = this.store.currentVersion;
      const result = this.write(method, target, body);
      if (this.store.currentVersion > version && target.resource !== "/events") {
        this.writesLeft -= 1;
        const key = keyOf(result.metadata.name, result.metadata.namespace);
        this.writes.push([method, target.resource, key, target.subresource ?? ""].join(" ").trim());
      }
      send(response, method === "POST" ? 201 : 200, result);
    } catch (error) {
      refuse(response, error);
    }
  }

  private read({ resource, namespace, name, query }: Target): unknown {
    if (name !== undefined) return this.store.get(resource, keyOf(name, namespace));
    const items = this.selected(resource, namespace, query);
    return {
      kind: "List",
      apiVersion: "v1",
      metadata: { resourceVersion: String(this.store.currentVersion) },
      items,
    };
  }

  private write(method: string, { resource, namespace, name, subresource }: Target, body: unknown): Stored {
    if (method === "POST") return this.store.create(resource, checked(body), namespace);
    const key = keyOf(name ?? "", namespace);
    const part = subresource === "status" ? "status" : "main";
    if (method === "DELETE") {
      const preconditions = isRecord(body) && isRecord(body.preconditions) ? body.preconditions : {};
      return this.store.delete(resource, key, preconditions);
    }
    const before = this.store.get(resource, key);
    const wanted = method === "PATCH" ? merged(before, body) : body;
    return this.store.update(resource, key, checked(wanted), part);
  }

  private selected(resource: string, namespace: string | undefined, query: URLSearchParams): Stored[] {
    const wanted = selector(namespace, query);
    return [...this.store.collection(resource).objects.values()].filter(wanted);
  }

  private watch({ resource, namespace, query }: Target, response: ServerResponse): void {
    const collection = this.store.collection(resource);
    const wanted = selector(namespace, query);
    const emit = (type: string, object: unknown) => response.write(`${JSON.stringify({ type, object })}\n`);
    const tell = ({ before, after }: StoreEvent) => {
      const [was, is] = [before !== undefined && wanted(before), after !== undefined && wanted(after)];
      if (is) emit(was ? "MODIFIED" : "ADDED", after);
      else if (was) emit("DELETED", after ?? before);
    };
    response.writeHead(200, { "content-type": "application/json" });
    if (query.get("sendInitialEvents") === "true") {
      for (const object of this.selected(resource, namespace, query)) emit("ADDED", object);
      emit("BOOKMARK", {
        kind: "Bookmark",
        apiVersion: "v1",
        metadata: {
          resourceVersion: String(this.store.currentVersion),
          annotations: { "k8s.io/initial-events-end": "true" },
        },
      });
    } else {
      const since = Number(query.get("resourceVersion") ?? 0);
      for (const event of collection.history) if (event.version > since) tell(event);
    }
    collection.listeners.add(tell);
    response.on("close", () => collection.listeners.delete(tell));
  }
}

function resourceOf({ group, plural }: { group: string; plural: string }): string {
  return `${group}/${plural}`;
}

function targetOf(url: string): Target {
  const { pathname, searchParams: query } = new URL(url, "http://memory");
  const parts = pathname
    .split("/")
    .filter((part) => part !== "")
    .map(decodeURIComponent);
  const group = parts.shift() === "api" ? "" : (parts.shift() ?? "");
  parts.shift(); // version
  let namespace: string | undefined;
  if (parts[0] === "namespaces" && parts.length > 2) {
    parts.shift();
    namespace = parts.shift();
  }
  const [plural = "", name, subresource] = parts;
  return {
    resource: `${group}/${plural}`,
    query,
    ...(namespace !== undefined && { namespace }),
    ...(name !== undefined && { name }),
    ...(subresource !== undefined && { subresource }),
  };
}

/** As the API server takes an object: of our kinds checked, with its defaults and without unknown fields. */
function checked(value: unknown): Record<string, unknown> {
  if (!isRecord(value)) throw new Refusal(400, "BadRequest", "the body is no object");
  const { apiVersion, kind } = value;
  if (typeof apiVersion !== "string" || typeof kind !== "string" || !/liqo\.io\//.test(apiVersion))
    return value;
  const { metadata } = value;
  const parsed: unknown = kindOf({ apiVersion, kind }).parse(structuredClone(value));
  return isRecord(parsed) ? { ...parsed, metadata } : value;
}

function selector(namespace: string | undefined, query: URLSearchParams): (object: Stored) => boolean {
  const labels = query.get("labelSelector") ?? "";
  const name = /^metadata\.name=(.*)$/.exec(query.get("fieldSelector") ?? "")?.[1];
  const terms = labels === "" ? [] : labels.split(",").map((term) => term.split(/=+/));
  return ({ metadata }) =>
    (namespace === undefined || metadata.namespace === namespace) &&
    (name === undefined || metadata.name === name) &&
    terms.every(([key = "", value]) =>
      value === undefined ? metadata.labels?.[key] !== undefined : metadata.labels?.[key] === value,
    );
}

async function bodyOf(request: IncomingMessage): Promise<unknown> {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(Buffer.from(chunk as Uint8Array));
  const text = Buffer.concat(chunks).toString("utf8");
  return text === "" ? {} : JSON.parse(text);
}

function send(response: ServerResponse, status: number, body: unknown): void {
  response.writeHead(status, { "content-type": "application/json" });
  response.end(JSON.stringify(body));
}

function refuse(response: ServerResponse, error: unknown): void {
  const refusal =
    error instanceof Refusal
      ? error
      : error instanceof InvalidObjectError
        ? new Refusal(422, "Invalid", error.message)
        : new Refusal(500, "InternalError", String(error));
  const { status: code, reason, message } = refusal;
  send(response, code, { kind: "Status", apiVersion: "v1", status: "Failure", code, reason, message });
}
