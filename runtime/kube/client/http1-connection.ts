import type { Socket } from "node:net";

import { asError } from "./api-error";
import { ConnectionError } from "./dial";
import type { Exchange, ResponseHandler, ResponseHeaders, WireRequest } from "./wire-request";

interface Running {
  response: Http1Response;
  handler: ResponseHandler;
}

/** One HTTP/1.1 connection: one request at a time, written at once and read without an object for each of its parts. */
export class Http1Connection {
  private running: Running | undefined;
  private cause: Error | undefined;

  /**
   * @param onIdle the answer is complete and the connection takes the next request
   * @param onClose it takes no more requests; told once
   */
  constructor(
    private readonly socket: Socket,
    private readonly server: URL,
    private readonly onIdle: (connection: Http1Connection) => void,
    private readonly onClose: (connection: Http1Connection) => void,
  ) {
    socket.on("data", (bytes: Buffer) => this.read(bytes));
    socket.on("error", (error: Error) => (this.cause ??= error));
    socket.once("end", () => socket.destroy());
    socket.once("timeout", () => socket.destroy());
    socket.once("close", () => this.ended());
    if (socket.destroyed) queueMicrotask(() => this.ended());
  }

  get usable(): boolean {
    return this.running === undefined && !this.socket.destroyed && this.socket.writable;
  }

  /** @throws Error where the request cannot be written as HTTP/1.1 */
  start(request: WireRequest, handler: ResponseHandler): Exchange {
    const head = headOf(request, this.server);
    const running = {
      handler,
      response: new Http1Response(request.method, {
        onHead: (status, headers) => handler.onHead(status, headers),
        onData: (chunk) => handler.onData(chunk),
        onEnd: (reusable) => this.answered(reusable),
      }),
    };
    this.running = running;
    this.socket.setTimeout(0);
    // Head and body in one write are one packet and one TLS record.
    if (typeof request.body === "object") {
      this.socket.cork();
      this.socket.write(head, "latin1");
      this.socket.write(request.body);
      this.socket.uncork();
    } else this.socket.write(head + (request.body ?? ""), "utf8");
    return {
      cancel: () => {
        if (this.running !== running) return;
        // There is no other way to stop an answer.
        this.running = undefined;
        this.destroy();
      },
      // An exchange that has ended says nothing about the one that has the connection now.
      pause: () => {
        if (this.running === running) this.socket.pause();
      },
      resume: () => {
        if (this.running === running) this.socket.resume();
      },
    };
  }

  /** Closes it when it has been idle for so long. */
  closeWhenIdleFor(ms: number): void {
    this.socket.setTimeout(ms);
  }

  destroy(): void {
    this.socket.destroy();
  }

  private read(bytes: Buffer): void {
    const { running } = this;
    try {
      if (running === undefined) throw new Error("the server sent bytes that nobody asked for");
      running.response.push(bytes);
    } catch (error) {
      this.cause ??= asError(error);
      this.destroy();
    }
  }

  private answered(reusable: boolean): void {
    const handler = this.running?.handler;
    this.running = undefined;
    if (!reusable) this.destroy();
    // Whoever paused the last chunk does not resume an exchange that has ended.
    else if (this.socket.isPaused()) this.socket.resume();
    handler?.onEnd();
    if (reusable && this.usable) this.onIdle(this);
  }

  private ended(): void {
    const { running } = this;
    // An answer without a length ends with the connection.
    if (running !== undefined && this.cause === undefined && running.response.close())
      return this.onClose(this);
    this.running = undefined;
    this.onClose(this);
    if (running === undefined) return;
    const reason = this.cause?.message ?? "it was closed in the middle of an answer";
    running.handler.onError(
      new ConnectionError(`connection to ${this.server.host}: ${reason}`, false, { cause: this.cause }),
    );
  }
}

function headOf({ method, path, headers, body }: WireRequest, server: URL): string {
  const prefix = server.pathname.replace(/\/$/, "");
  // Anything else would end the line, and begin a request of somebody else's making.
  if (/[^\x21-\x7e]/.test(path))
    throw new Error(`the path of a ${method} request holds a blank or a control character`);
  let head = `${method} ${prefix}${path} HTTP/1.1\r\nhost: ${server.host}\r\n`;
  for (const [name, value] of Object.entries(headers)) {
    if (/[^\t\x20-\x7e\x80-\xff]/.test(value))
      throw new Error(`the header ${name} holds a line break or a character that headers cannot`);
    head += `${name}: ${value}\r\n`;
  }
  if (body !== undefined) head += `content-length: ${Buffer.byteLength(body)}\r\n`;
  return `${head}\r\n`;
}

interface ResponseEvents {
  onHead(status: number, headers: ResponseHeaders): void;
  onData(chunk: Buffer): void;
  /** @param reusable whether another request may be sent on the connection */
  onEnd(reusable: boolean): void;
}

/** The bytes are not HTTP/1.1, or more than allowed. */
export class MalformedResponseError extends Error {
  override readonly name = "MalformedResponseError";
}

const MAX_HEAD = 65_536;
const CRLF = "\r\n";
const HEAD_END = "\r\n\r\n";

/**
 * Reads one HTTP/1.1 response out of bytes as they arrive (RFC 9112).
 *
 * As strict as a client of an API server can be: what is unclear about where a body ends is an error, never a guess.
 */
export class Http1Response {
  private state: "head" | "counted" | "chunk-size" | "chunk-data" | "trailers" | "until-close" | "done" =
    "head";
  private held: Buffer | undefined;
  private left = 0;
  private reusable = true;

  constructor(
    private readonly method: string,
    private readonly events: ResponseEvents,
  ) {}

  get done(): boolean {
    return this.state === "done";
  }

  /** Takes the next bytes. Bytes after the end of the response are an error: nothing was asked. */
  push(bytes: Buffer): void {
    let rest = this.held === undefined ? bytes : Buffer.concat([this.held, bytes]);
    this.held = undefined;
    while (rest.length > 0) {
      const next = this.step(rest);
      if (next === undefined) {
        if (rest.length > MAX_HEAD) throw new MalformedResponseError("a head or a line has no end");
        this.held = rest;
        return;
      }
      rest = next;
    }
  }

  /** The connection ended. Returns whether that ended the response in an orderly way. */
  close(): boolean {
    if (this.state === "until-close") this.end(false);
    return this.state === "done";
  }

  /** Consumes some of the bytes and returns the others; undefined where it needs more to go on. */
  private step(bytes: Buffer): Buffer | undefined {
    switch (this.state) {
      case "head":
        return this.readHead(bytes);
      case "counted":
      case "chunk-data":
        return this.readCounted(bytes);
      case "chunk-size":
        return this.readChunkSize(bytes);
      case "trailers":
        return this.readTrailer(bytes);
      case "until-close":
        this.events.onData(bytes);
        return bytes.subarray(bytes.length);
      case "done":
        throw new MalformedResponseError("there are bytes after the end of the response");
    }
  }

  private readHead(bytes: Buffer): Buffer | undefined {
    const end = bytes.indexOf(HEAD_END);
    if (end < 0) return undefined;
    const [statusLine = "", ...lines] = bytes.toString("latin1", 0, end).split(CRLF);
    const match = /^HTTP\/1\.([01]) (\d{3})(?: |$)/.exec(statusLine);
    if (match === null) throw new MalformedResponseError("the answer is not HTTP/1.1");
    const rest = bytes.subarray(end + HEAD_END.length);
    const status = Number(match[2]);
    // Informational answers stand before the real one.
    if (status < 200 && status !== 101) return rest;
    const headers = readHeaders(lines);
    this.reusable = match[1] === "1" && !mentions(headers.connection, "close");
    this.frame(status, headers);
    this.events.onHead(status, headers);
    if (this.left === 0 && this.state === "counted") this.end(this.reusable);
    return rest;
  }

  /** Decides where the body ends. */
  private frame(status: number, headers: ResponseHeaders): void {
    const coding = headers["transfer-encoding"];
    const length = headers["content-length"];
    this.left = 0;
    this.state = "counted";
    if (this.method === "HEAD" || status === 204 || status === 304) return;
    if (coding !== undefined) {
      if (coding.toString().trim().toLowerCase() !== "chunked" || length !== undefined) {
        throw new MalformedResponseError("it is unclear where the body ends");
      }
      this.state = "chunk-size";
    } else if (length !== undefined) {
      if (typeof length !== "string" || !/^\d{1,15}$/.test(length)) {
        throw new MalformedResponseError("the length of the body is not a number");
      }
      this.left = Number(length);
    } else {
      this.state = "until-close";
    }
  }

  private readCounted(bytes: Buffer): Buffer | undefined {
    if (this.left > 0) {
      const part = bytes.length > this.left ? bytes.subarray(0, this.left) : bytes;
      this.left -= part.length;
      this.events.onData(part);
      if (this.left === 0 && this.state === "counted") this.end(this.reusable);
      return bytes.subarray(part.length);
    }
    // The line end after the data of a chunk.
    if (bytes.length < CRLF.length) return undefined;
    if (bytes.toString("latin1", 0, CRLF.length) !== CRLF)
      throw new MalformedResponseError("a chunk has no end");
    this.state = "chunk-size";
    return bytes.subarray(CRLF.length);
  }

  private readChunkSize(bytes: Buffer): Buffer | undefined {
    const end = bytes.indexOf(CRLF);
    if (end < 0) return undefined;
    const match = /^([0-9A-Fa-f]{1,12})[ \t]*(?:;.*)?$/.exec(bytes.toString("latin1", 0, end));
    if (match?.[1] === undefined) throw new MalformedResponseError("a chunk has no size");
    this.left = parseInt(match[1], 16);
    this.state = this.left === 0 ? "trailers" : "chunk-data";
    return bytes.subarray(end + CRLF.length);
  }

  private readTrailer(bytes: Buffer): Buffer | undefined {
    const end = bytes.indexOf(CRLF);
    if (end < 0) return undefined;
    if (end === 0) this.end(this.reusable);
    return bytes.subarray(end + CRLF.length);
  }

  private end(reusable: boolean): void {
    this.state = "done";
    this.events.onEnd(reusable);
  }
}

function readHeaders(lines: string[]): ResponseHeaders {
  const headers: Record<string, string | string[]> = {};
  for (const line of lines) {
    const colon = line.indexOf(":");
    if (colon <= 0 || line.startsWith(" ") || line.startsWith("\t")) {
      throw new MalformedResponseError("a header has no name");
    }
    const name = line.slice(0, colon).toLowerCase();
    const value = line.slice(colon + 1).trim();
    const before = headers[name];
    if (Array.isArray(before)) before.push(value);
    else headers[name] = before === undefined ? value : [before, value];
  }
  return headers;
}

function mentions(header: string | string[] | undefined, token: string): boolean {
  if (header === undefined) return false;
  return header
    .toString()
    .split(",")
    .some((part) => part.trim().toLowerCase() === token);
}
