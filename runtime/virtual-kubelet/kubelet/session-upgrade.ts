import { type IncomingMessage, STATUS_CODES } from "node:http";
import type { Duplex } from "node:stream";

/** A session is created, and rights are given for creating it; only WebSockets demand that it looks like a reading. */
export function methodOf({ headers }: IncomingMessage): string {
  return headers.upgrade?.toLowerCase() === "websocket" ? "GET" : "POST";
}

/** The headers that make up the upgrade; the client's credentials are not among them. */
export function upgradeHeaders({ headersDistinct }: IncomingMessage): Record<string, string[]> {
  const headers: Record<string, string[]> = {};
  for (const [name, values] of Object.entries(headersDistinct)) {
    const isPart = /^(connection|upgrade|x-stream-protocol-version|sec-websocket-.*)$/.test(name);
    if (isPart && values !== undefined) headers[name] = values;
  }
  return headers;
}

export function switchingHead(headers: Record<string, string | string[] | undefined>): string {
  let head = "HTTP/1.1 101 Switching Protocols\r\n";
  for (const [name, value] of Object.entries(headers)) {
    for (const one of [value ?? []].flat()) head += `${name}: ${one}\r\n`;
  }
  return `${head}\r\n`;
}

/** Answers on a bare connection, as where an upgrade was asked for, and ends it. */
export function refuseUpgrade(
  socket: Duplex,
  code: number,
  contentType: string,
  body: string | Buffer,
): void {
  const head = [
    `HTTP/1.1 ${code} ${STATUS_CODES[code] ?? "Error"}`,
    `Content-Type: ${contentType}`,
    `Content-Length: ${Buffer.byteLength(body)}`,
    "Connection: close",
  ];
  socket.write(`${head.join("\r\n")}\r\n\r\n`);
  socket.end(body);
}
