import { once } from "node:events";
import { connect as connectTcp, isIP, type Socket } from "node:net";
import { Duplex } from "node:stream";
import { connect as connectTls, type ConnectionOptions, type TLSSocket } from "node:tls";

import { type Credentials, readPem } from "./credentials";
import type { Connection } from "./kubeconfig";

/** No answer, or none that is HTTP: the request may or may not have been carried out. */
export class ConnectionError extends Error {
  override readonly name = "ConnectionError";

  /** @param unprocessed true where it is certain that the server did nothing, so that any request may be sent again */
  constructor(
    message: string,
    readonly unprocessed: boolean,
    options?: ErrorOptions,
  ) {
    super(message, options);
  }
}

/** There is no way to the server at the moment; nothing was sent. */
export class CannotConnectError extends ConnectionError {
  constructor(message: string, options?: ErrorOptions) {
    super(message, true, options);
  }
}

const DIAL_DEADLINE_MS = 10_000;

interface DialOptions {
  /** For ALPN, most wanted first. */
  protocols: ("h2" | "http/1.1")[];
  /** Told how long the TCP connection took, which is one round trip. */
  onConnected?: (ms: number) => void;
}

/**
 * Opens a connection to the API server, through its proxy if it has one, with the credentials of this moment.
 *
 * @throws CannotConnectError naming the server and the cause
 */
export async function dial(
  connection: Connection,
  credentials: Credentials,
  { protocols, onConnected }: DialOptions,
): Promise<Socket> {
  const deadline = AbortSignal.timeout(DIAL_DEADLINE_MS);
  try {
    const { server } = connection;
    const raw = await openTcp(connection, deadline, onConnected);
    if (server.protocol === "http:") return raw;
    const under = protocols.includes("h2") ? new SurfacedSocket(raw) : raw;
    const options = await serverTls(connection, credentials, protocols);
    return await secure(under, options, deadline);
  } catch (error) {
    if (error instanceof Error && error.name === "KubeconfigError") throw error;
    const via = connection.proxy === undefined ? "" : ` through the proxy ${connection.proxy.host}`;
    const reason = deadline.aborted ? `no connection in ${DIAL_DEADLINE_MS / 1000} s` : reasonOf(error);
    throw new CannotConnectError(`cannot connect to ${connection.server.host}${via}: ${reason}`, {
      cause: error,
    });
  }
}

async function serverTls(
  connection: Connection,
  credentials: Credentials,
  protocols: string[],
): Promise<ConnectionOptions> {
  const pair = await credentials.clientCertificate();
  const host = bareHost(connection.server);
  return {
    ca:
      connection.certificateAuthority === undefined
        ? undefined
        : await readPem(connection.certificateAuthority, {
            source: connection.source,
            field: "certificate-authority",
          }),
    cert: pair && chainOf(pair.certificate),
    key: pair?.key,
    rejectUnauthorized: !connection.insecureSkipTlsVerify,
    // Without a name the check falls back to `host`, which also covers addresses (a name must not be an IP address).
    servername: connection.tlsServerName ?? (isIP(host) === 0 ? host : undefined),
    host: connection.tlsServerName ?? host,
    ALPNProtocols: protocols,
  };
}

/**
 * What the server gets to see. Beside a lone certificate OpenSSL sends the authorities that it finds in `ca`, down to the root, and an API server
 * checks two more signatures on each request for it. With a second certificate it sends what it was given, and one that it has already costs no check.
 */
function chainOf(certificate: string): string {
  const lone = certificate.split("-----BEGIN CERTIFICATE-----").length === 2;
  return lone ? `${certificate.trimEnd()}\n${certificate}` : certificate;
}

async function openTcp(
  connection: Connection,
  signal: AbortSignal,
  onConnected: ((ms: number) => void) | undefined,
): Promise<Socket> {
  const { server, proxy } = connection;
  const target = { host: bareHost(server), port: portOf(server) };
  if (proxy === undefined) return await connected(target, signal, onConnected);
  if (proxy.protocol === "socks5:") return await throughSocks(proxy, target);
  const plain = await connected({ host: bareHost(proxy), port: portOf(proxy) }, signal);
  const socket =
    proxy.protocol === "https:"
      ? await secure(plain, { servername: bareHost(proxy), ALPNProtocols: ["http/1.1"] }, signal)
      : plain;
  return await throughConnect(socket, proxy, target, signal);
}

async function connected(
  target: { host: string; port: number },
  signal: AbortSignal,
  onConnected?: (ms: number) => void,
): Promise<Socket> {
  const begin = performance.now();
  const socket = connectTcp({ ...target, noDelay: true, keepAlive: true, keepAliveInitialDelay: 30_000 });
  surviveErrors(socket);
  try {
    await once(socket, "connect", { signal });
    onConnected?.(performance.now() - begin);
    return socket;
  } catch (error) {
    socket.destroy();
    throw error;
  }
}

/**
 * An error of a socket between two steps, when nobody listens to it, would end the process. Whoever uses the socket next finds it destroyed.
 */
function surviveErrors(socket: Socket): void {
  socket.on("error", () => undefined);
}

async function secure(socket: Duplex, options: ConnectionOptions, signal: AbortSignal): Promise<TLSSocket> {
  // It may have been reset while the credentials were read.
  if (socket.destroyed) throw socket.errored ?? new Error("the connection broke at once");
  const tls = connectTls({ ...options, socket });
  surviveErrors(tls);
  try {
    await once(tls, "secureConnect", { signal });
    return tls;
  } catch (error) {
    tls.destroy();
    socket.destroy();
    throw error;
  }
}

/** HTTP CONNECT, as the API server proxy of a peer speaks it. */
async function throughConnect(
  socket: Socket,
  proxy: URL,
  target: { host: string; port: number },
  signal: AbortSignal,
): Promise<Socket> {
  const authority = `${isIP(target.host) === 6 ? `[${target.host}]` : target.host}:${target.port}`;
  const user = decodeURIComponent(proxy.username);
  const basic = Buffer.from(`${user}:${decodeURIComponent(proxy.password)}`).toString("base64");
  const authorization = user === "" ? "" : `Proxy-Authorization: Basic ${basic}\r\n`;
  socket.write(`CONNECT ${authority} HTTP/1.1\r\nHost: ${authority}\r\n${authorization}\r\n`);
  try {
    let head = Buffer.alloc(0);
    while (!head.includes("\r\n\r\n")) {
      if (head.length > 16_384) throw new Error("the proxy's answer has no end");
      const chunk = await nextChunk(socket, signal);
      head = Buffer.concat([head, chunk]);
    }
    const end = head.indexOf("\r\n\r\n") + 4;
    const status = /^HTTP\/1\.[01] (\d{3})/.exec(head.toString("latin1"))?.[1];
    if (status === undefined || !status.startsWith("2")) {
      throw new Error(`the proxy answered ${status ?? "something else than HTTP"} to CONNECT ${authority}`);
    }
    if (head.length > end) socket.unshift(head.subarray(end));
    return socket;
  } catch (error) {
    socket.destroy();
    throw error;
  }
}

async function nextChunk(socket: Socket, signal: AbortSignal): Promise<Buffer> {
  for (;;) {
    const chunk: unknown = socket.read();
    if (Buffer.isBuffer(chunk)) return chunk;
    if (socket.readableEnded || socket.destroyed) throw new Error("the proxy closed the connection");
    const ended = new AbortController();
    try {
      const either = AbortSignal.any([signal, ended.signal]);
      await Promise.race([
        once(socket, "readable", { signal: either }),
        once(socket, "end", { signal: either }),
        once(socket, "close", { signal: either }),
      ]);
    } finally {
      ended.abort();
    }
  }
}

async function throughSocks(proxy: URL, target: { host: string; port: number }): Promise<Socket> {
  const { SocksClient } = await import("socks");
  const { socket } = await SocksClient.createConnection({
    proxy: {
      host: bareHost(proxy),
      port: proxy.port === "" ? 1080 : Number(proxy.port),
      type: 5,
      userId: proxy.username === "" ? undefined : decodeURIComponent(proxy.username),
      password: proxy.password === "" ? undefined : decodeURIComponent(proxy.password),
    },
    command: "connect",
    destination: target,
    timeout: DIAL_DEADLINE_MS,
  });
  surviveErrors(socket);
  return socket;
}

function bareHost(url: URL): string {
  return url.hostname.replace(/^\[|\]$/g, "");
}

function portOf(url: URL): number {
  if (url.port !== "") return Number(url.port);
  return url.protocol === "https:" ? 443 : 80;
}

function reasonOf(error: unknown): string {
  if (!(error instanceof Error)) return "unknown cause";
  if (error instanceof AggregateError && error.message === "") {
    return error.errors.map((inner) => (inner instanceof Error ? inner.message : String(inner))).join("; ");
  }
  return error.message;
}

/**
 * A TCP socket to put TLS on.
 *
 * With nothing between them, Node hands bytes from TCP to TLS to HTTP/2 below JavaScript, and a reset that a write meets there is told to
 * nobody: the session stays open and silent (2 of 100 connections that are reset while they are set up, Node 24). Here
 * each error passes through a stream, which tells it. It costs no measurable CPU.
 */
class SurfacedSocket extends Duplex {
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
