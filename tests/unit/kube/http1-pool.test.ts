import assert from "node:assert/strict";
import { once } from "node:events";
import { type AddressInfo, connect, createServer, type Server, type Socket } from "node:net";

import type { Exchange } from "../../../runtime/kube/client/wire-request";
import { Http1Pool } from "../../../runtime/kube/client/http1-pool";

/** What became of a request: its body, or the error. */
interface Sent {
  exchange: Exchange;
  body: Promise<string>;
}

const OK = "HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello";
const CHUNKED = "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n0\r\nTrailer: 1\r\n\r\n";

describe("a pool of HTTP/1.1 connections", () => {
  let server: Server;
  let pool: Http1Pool;
  const sockets = new Set<Socket>();
  /** What the server does with a request, by its path. */
  let answer: (socket: Socket, path: string) => void;
  let dials: number;
  /** The error of the next attempts to connect. */
  let refusals: Error[];
  let maxConnections: number;

  beforeEach(async () => {
    dials = 0;
    refusals = [];
    maxConnections = 4;
    answer = (socket) => void socket.write(OK);
    server = createServer((socket) => {
      sockets.add(socket);
      socket.on("error", () => undefined).once("close", () => sockets.delete(socket));
      socket.on("data", (bytes: Buffer) => answer(socket, bytes.toString().split(" ")[1] ?? ""));
    }).listen(0, "127.0.0.1");
    await once(server, "listening");
    const { port } = server.address() as AddressInfo;
    pool = new Http1Pool({
      server: new URL(`http://127.0.0.1:${port}`),
      maxConnections: () => maxConnections,
      dial: async () => {
        dials += 1;
        const refusal = refusals.shift();
        if (refusal !== undefined) throw refusal;
        const socket = connect(port, "127.0.0.1");
        await once(socket, "connect");
        return socket;
      },
    });
  });

  afterEach(async () => {
    pool.destroy();
    for (const socket of sockets) socket.destroy();
    server.close();
    await once(server, "close");
  });

  function send(path: string, onData: (exchange: Exchange) => void = () => undefined): Sent {
    let text = "";
    let exchange: Exchange | undefined;
    const body = new Promise<string>((resolve, reject) => {
      exchange = pool.start(
        { method: "GET", path, headers: {} },
        {
          onHead: () => undefined,
          onData: (chunk) => {
            text += chunk.toString();
            if (exchange !== undefined) onData(exchange);
          },
          onEnd: () => resolve(text),
          onError: reject,
        },
        reject,
      );
    });
    assert.ok(exchange !== undefined);
    return { exchange, body };
  }

  it("gives no paused connection to the next request", async () => {
    // The receiver is full with the last chunk, and has nothing to resume once the answer has ended.
    assert.equal(await send("/first", (exchange) => exchange.pause()).body, "hello");
    assert.equal(await send("/second").body, "hello");
    assert.equal(dials, 1);
  });

  it("lets an exchange that has ended neither pause nor resume the next one", async () => {
    const first = send("/first");
    await first.body;
    const second = send("/second");
    first.exchange.pause();
    assert.equal(await second.body, "hello");
    const third = send("/third", (exchange) => {
      exchange.pause();
      first.exchange.resume();
    });
    answer = (socket) => {
      socket.write("HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nhello");
      setTimeout(() => socket.write("hello"), 20);
    };
    assert.equal(await Promise.race([third.body, after(100)]), "still waiting");
    third.exchange.resume();
    assert.equal(await third.body, "hellohello");
    assert.equal(dials, 1);
  });

  it("serves a request whose first attempt to connect failed while a watch holds the only connection", async () => {
    answer = (socket, path) => {
      if (path !== "/watch") socket.write(OK);
    };
    const watch = send("/watch");
    watch.body.catch(() => undefined);
    while (sockets.size === 0) await after(5);
    refusals = [new Error("no route to rome")];
    assert.equal(await send("/read").body, "hello");
    assert.equal(dials, 3);
  });

  it("fails a request with the reason where no connection can be had beside one that a watch holds", async () => {
    answer = () => undefined;
    const watch = send("/watch");
    watch.body.catch(() => undefined);
    while (sockets.size === 0) await after(5);
    refusals = Array.from({ length: 10 }, () => new Error("no route to rome"));
    await assert.rejects(send("/read").body, /no route to rome/);
    assert.equal(dials, 5);
    refusals = [];
    answer = (socket) => void socket.write(OK);
    assert.equal(await send("/later").body, "hello");
  });

  it("fails at once where it has no connection at all", async () => {
    refusals = [new Error("no route to rome"), new Error("no route to rome")];
    const [one, two] = [send("/one"), send("/two")];
    await assert.rejects(one.body, /no route to rome/);
    await assert.rejects(two.body, /no route to rome/);
    assert.equal(await send("/three").body, "hello");
  });

  for (const [name, text] of [
    ["with a length", OK],
    ["in chunks", CHUNKED],
  ] as const) {
    for (const end of ["ends", "resets"] as const) {
      it(`outlives a server that ${end} the connection after any byte of an answer ${name}`, async () => {
        maxConnections = 1;
        for (let length = 0; length < text.length; length++) {
          answer = (socket, path) => {
            if (path !== "/cut") return void socket.write(OK);
            socket.write(text.slice(0, length), () =>
              end === "ends" ? socket.end() : socket.resetAndDestroy(),
            );
          };
          const cut = send("/cut");
          // The next request waits for the same connection.
          const next = send("/next");
          await assert.rejects(cut.body, Error, `cut after ${length} bytes`);
          assert.equal(await next.body, "hello", `cut after ${length} bytes`);
        }
      });
    }
  }
});

function after(ms: number): Promise<string> {
  return new Promise((resolve) => setTimeout(() => resolve("still waiting"), ms));
}
