import assert from "node:assert/strict";
import { once } from "node:events";
import {
  constants,
  createSecureServer,
  type Http2SecureServer,
  type ServerHttp2Session,
  type ServerHttp2Stream,
} from "node:http2";
import type { IncomingMessage, ServerResponse } from "node:http";
import type { AddressInfo, Socket } from "node:net";

import { CertificateAuthority } from "../../../provider/local-cluster/certificate-authority";
import { Namespace } from "../../../runtime/api/kubernetes";
import { ConnectionError, KubeClient } from "../../../runtime/kube";
import { TcpProxy } from "../../support/tcp-proxy";
import { until } from "../../support/until";

describe("connections of a kube client", function () {
  this.timeout(180_000);
  let server: Http2SecureServer;
  let proxy: TcpProxy;
  let client: KubeClient;
  /** Answers watches, which come over HTTP/2. */
  let onStream: (stream: ServerHttp2Stream) => void;
  /** Answers everything else, which comes over HTTP/1.1. */
  let onRequest: (request: IncomingMessage, response: ServerResponse) => void;
  const sessions = new Set<ServerHttp2Session>();
  const sockets = new Set<Socket>();
  const namespace = JSON.stringify({ apiVersion: "v1", kind: "Namespace", metadata: { name: "rome" } });

  beforeEach(async () => {
    const authority = await CertificateAuthority.create("rome-ca");
    const { certificate, privateKey } = await authority.issue({
      commonName: "rome",
      addresses: ["127.0.0.1"],
    });
    server = createSecureServer({
      cert: certificate,
      key: privateKey,
      allowHTTP1: true,
      settings: { maxConcurrentStreams: 10 },
    });
    server.on("connection", (socket: Socket) => {
      sockets.add(socket);
      socket.once("close", () => sockets.delete(socket));
    });
    server.on("session", (session) => {
      sessions.add(session);
      session.on("error", () => undefined).on("close", () => sessions.delete(session));
    });
    onStream = (stream) => {
      stream.respond({ ":status": 200 });
      stream.write("first\n");
    };
    onRequest = (_request, response) => void response.end(namespace);
    server.on("stream", (stream) => {
      stream.on("error", () => undefined);
      onStream(stream);
    });
    server.on("request", (request, response) => {
      // The same event tells of HTTP/2 requests, which `stream` has told of.
      if (request.httpVersionMajor === 1)
        onRequest(request as unknown as IncomingMessage, response as unknown as ServerResponse);
    });
    server.listen(0, "127.0.0.1");
    await once(server, "listening");
    proxy = await TcpProxy.start({ host: "127.0.0.1", port: (server.address() as AddressInfo).port });
    const kubeconfig = {
      "current-context": "rome",
      clusters: [
        {
          name: "rome",
          cluster: {
            server: `https://127.0.0.1:${proxy.port}`,
            "certificate-authority-data": Buffer.from(authority.pem.certificate).toString("base64"),
          },
        },
      ],
      contexts: [{ name: "rome", context: { cluster: "rome" } }],
    };
    client = KubeClient.fromKubeconfig(JSON.stringify(kubeconfig), { heartbeatMs: 150, maxConnections: 4 });
  });
  afterEach(async () => {
    client.close();
    await proxy.close();
    for (const socket of sockets) socket.destroy();
    server.close();
  });

  it("queue short requests in their order, on as many connections as allowed", async () => {
    let most = 0;
    let open = 0;
    const order: string[] = [];
    onRequest = (request, response) => {
      order.push(request.url?.split("/").at(-1) ?? "");
      most = Math.max(most, (open += 1));
      setTimeout(() => {
        open -= 1;
        response.end(namespace);
      }, 5);
    };
    const names = Array.from({ length: 40 }, (_, i) => `n${i}`);
    const answers = await Promise.all(names.map((name) => client.get(Namespace, { name })));
    assert.ok(answers.every((object) => object?.metadata.name === "rome"));
    assert.deepEqual([most, sockets.size], [4, 4]);
    assert.deepEqual([...order].sort(), [...names].sort());
    // Four at a time: nobody is overtaken by more than those who travel with it.
    for (const [at, name] of order.entries())
      assert.ok(Math.abs(at - names.indexOf(name)) <= 4, order.join());
  });

  it("share HTTP/2 among watches, as many as the server allows on one", async () => {
    const streams = await Promise.all(Array.from({ length: 25 }, () => client.stream({ path: "/watch" })));
    assert.ok(streams.every(({ status }) => status === 200));
    assert.equal(sessions.size, 3);
    for (const { body } of streams) body.destroy();
  });

  it("leave a server that is going away: what is open goes on, what is new goes elsewhere", async () => {
    const { body } = await client.stream({ path: "/watch" });
    const [old] = [...sessions];
    old?.goaway(constants.NGHTTP2_NO_ERROR);
    await until("a watch on a new connection", async () => {
      (await client.stream({ path: "/watch" })).body.destroy();
      return sessions.size === 2;
    });
    const [first] = (await once(body, "data")) as [Buffer];
    assert.equal(first.toString(), "first\n");
    assert.equal(body.destroyed, false);
    body.destroy();
    await until("the end of the old connection", () => sessions.size === 1);
  });

  it("open a refused watch again, elsewhere or later", async () => {
    let refusals = 0;
    const answer = onStream;
    onStream = (stream) => {
      if ((refusals += 1) <= 2) stream.close(constants.NGHTTP2_REFUSED_STREAM);
      else answer(stream);
    };
    const { status, body } = await client.stream({ path: "/watch" });
    assert.deepEqual([status, refusals], [200, 3]);
    body.destroy();
  });

  it("repeat a read whose connection broke, never a write", async () => {
    const seen: string[] = [];
    onRequest = (request, response) => {
      const line = `${request.method} ${request.url?.split("/").at(-1)}`;
      seen.push(line);
      if (seen.filter((each) => each === line).length > 1) response.end(namespace);
      else request.socket.destroy();
    };
    await client.get(Namespace, { name: "broken" });
    await assert.rejects(
      client.patch(Namespace, { name: "broken-too" }, {}, { type: "merge" }),
      ConnectionError,
    );
    assert.deepEqual(seen, ["GET broken", "GET broken", "PATCH broken-too"]);
  });

  it("are not used again after an answer that broke off or went on too long", async () => {
    onRequest = (request, response) => {
      if (request.url?.endsWith("short") === true) {
        response.writeHead(200, { "content-length": 500 });
        response.write("{");
        request.socket.destroy();
      } else if (request.url?.endsWith("long") === true) {
        request.socket.write(
          `HTTP/1.1 200 OK\r\nContent-Length: ${namespace.length}\r\n\r\n${namespace}HTTP/1.1 200 OK\r\n`,
        );
      } else response.end(namespace);
    };
    await assert.rejects(client.get(Namespace, { name: "short" }), /closed in the middle of an answer/);
    assert.ok(await client.get(Namespace, { name: "long" }));
    await until("the end of the connection", () => sockets.size === 0);
    assert.ok(await client.get(Namespace, { name: "fine" }));
  });

  it("carry no header and no path that would end their line", async () => {
    await assert.rejects(client.raw({ path: "/livez HTTP/1.1\r\nx: y" }), /the path of a GET request holds/);
    await assert.rejects(
      client.raw({ path: "/livez", headers: { "x-a": "1\r\nx-b: 2" } }),
      /the header x-a holds a line break/,
    );
    assert.equal((await client.raw({ path: "/livez" })).status, 200);
  });

  it("are dropped when they no longer answer, and everything on them at once", async () => {
    await client.get(Namespace, { name: "rome" });
    const { body } = await client.stream({ path: "/watch" });
    body.resume();
    proxy.freezeOpen();
    const begin = performance.now();
    const [error] = (await once(body, "error")) as [Error];
    assert.match(error.message, /no answer to a ping in 0\.15 s/);
    // The idle connection of the first request is as dead, and nobody waits for it.
    assert.ok(await client.get(Namespace, { name: "rome" }));
    assert.ok(performance.now() - begin < 2_000);
  });

  it("may be cut at any moment, and answer again", async () => {
    let running = true;
    const answers = Array.from({ length: 5 }, () => 0);
    const asking = answers.map(async (_, i) => {
      while (running) {
        try {
          if (i === 0)
            (await client.stream({ path: "/watch", deadlineMs: 3_000 })).body
              .on("error", () => undefined)
              .destroy();
          else await client.get(Namespace, { name: "rome" }, { deadlineMs: 3_000 });
          answers[i] = (answers[i] ?? 0) + 1;
        } catch (error) {
          assert.ok(error instanceof ConnectionError, String(error));
        }
        await new Promise((resolve) => setTimeout(resolve, 1));
      }
    });
    for (let cuts = 0; cuts < 60; cuts++) {
      await new Promise((resolve) => setTimeout(resolve, Math.random() * 60));
      proxy.cut();
    }
    const whenCut = [...answers];
    await until("an answer for each, once nothing is cut any more", () =>
      answers.every((count, i) => count > (whenCut[i] ?? 0)),
    );
    running = false;
    await Promise.all(asking);
  });
});
