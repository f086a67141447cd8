import { request as httpRequest } from "node:http";
import type { Duplex } from "node:stream";

import { AnswerLimitError } from "./answer-limits";
import { HeldBytes } from "./held-bytes";
import { ConnectionError } from "./dial";
import { DeadlineError, requestName } from "./round-trip";
import type { Transport } from "./transport";
import type { ResponseHeaders } from "./wire-request";

export interface UpgradeRequest {
  /** Default: `GET`. */
  method?: string;
  /** Path and query, such as `/api/v1/namespaces/rome/pods/web-0/exec?command=ls`. */
  path: string;
  /** The upgrade's own headers: `Upgrade`, `Connection`, `X-Stream-Protocol-Version`, `Sec-WebSocket-…`. */
  headers: Record<string, string | string[]>;
  signal?: AbortSignal;
}

/** What came of it: the joined connection, or the answer that refused it. */
export type Upgraded =
  | { upgraded: true; status: number; headers: ResponseHeaders; socket: Duplex; head: Buffer }
  | { upgraded: false; status: number; headers: ResponseHeaders; body: Buffer };

/** Asks for a protocol upgrade on a connection of its own; the socket is the caller's afterwards. */
export async function upgrade(
  transport: Transport,
  { method = "GET", path, headers, signal }: UpgradeRequest,
  authorization: string | undefined,
  { deadlineMs, maxBytes }: { deadlineMs: number; maxBytes: number },
): Promise<Upgraded> {
  const { server } = transport.connection;
  const socket = await transport.dialHttp1();
  return await new Promise<Upgraded>((resolve, reject) => {
    const fail = (error: Error) => {
      clearTimeout(timer);
      socket.destroy();
      reject(error);
    };
    const lost = (error: Error) =>
      fail(new ConnectionError(`connection to ${server.host}: ${error.message}`, false, { cause: error }));
    const what = requestName(transport, { method, path });
    const timer = setTimeout(
      () => fail(new DeadlineError(`${what}: no answer in ${deadlineMs / 1000} s`)),
      deadlineMs,
    );
    const outgoing = httpRequest({
      method,
      host: server.hostname,
      path: `${server.pathname.replace(/\/$/, "")}${path}`,
      headers: { host: server.host, ...(authorization === undefined ? {} : { authorization }), ...headers },
      createConnection: () => socket,
      signal,
    });
    outgoing.once("upgrade", (response, upgradedSocket, head) => {
      clearTimeout(timer);
      resolve({
        upgraded: true,
        status: response.statusCode ?? 101,
        headers: response.headers,
        socket: upgradedSocket,
        head,
      });
    });
    outgoing.once("response", (response) => {
      const held = new HeldBytes();
      response.on("data", (chunk: Buffer) => {
        held.push(chunk);
        if (held.length > maxBytes) fail(new AnswerLimitError(what, "the answer", maxBytes, held.length));
      });
      response.on("error", lost);
      response.once("end", () => {
        clearTimeout(timer);
        socket.destroy();
        const body = held.take();
        resolve({ upgraded: false, status: response.statusCode ?? 0, headers: response.headers, body });
      });
    });
    outgoing.on("error", lost);
    outgoing.end();
  });
}
