import type { Socket } from "node:net";

import { asError } from "./api-error";
import { ConnectionError } from "./dial";
import type { Exchange, ResponseHandler, WireRequest } from "./exchange";
import { Http1Response } from "./http1-response";

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
