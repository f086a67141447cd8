import assert from "node:assert/strict";
import { once } from "node:events";
import {
  constants,
  createSecureServer,
  type Http2SecureServer,
  type ServerHttp2Session,
  type ServerHttp2Stream,
} from "node:http2";
import type { AddressInfo } from "node:net";

import { CertificateAuthority } from "../../../provider/local-cluster/certificate-authority";
import { Namespace } from "../../../runtime/api/kubernetes";
import { ConnectionError, KubeClient } from "../../../runtime/kube";
import { TcpProxy } from "../../support/tcp-proxy";
import { until } from "../../support/until";

type Handler = (stream: ServerHttp2Stream, method: string, path: string) => void;

describe("HTTP/2 connections", () => {
  let server: Http2SecureServer;
  let proxy: TcpProxy;
  let client: KubeClient;
  let handle: Handler;
  const sessions = new Set<ServerHttp2Session>();
  const namespace = JSON.stringify({ apiVersion: "v1", kind: "Namespace", metadata: { name: "rome" } });
  const answer = (stream: ServerHttp2Stream) => {
    stream.respond({ ":status": 200 });
    stream.end(namespace);
  };

  beforeEach(async () => {
    const authority = await CertificateAuthority.create("rome-ca");
    const { certificate, privateKey } = await authority.issue({
      commonName: "rome",
      addresses: ["127.0.0.1"],
    });
    server = createSecureServer({
      cert: certificate,
      key: privateKey,
      settings: { maxConcurrentStreams: 10 },
    });
    server.on("session", (session) => {
      sessions.add(session);
      session.on("error", () => undefined).on("close", () => sessions.delete(session));
    });
    handle = answer;
    server.on("stream", (stream, headers) => {
      stream.on("error", () => undefined);
      handle(stream, String(headers[":method"]), String(headers[":path"]));
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
    client = KubeClient.fromKubeconfig(JSON.stringify(kubeconfig), { heartbeatMs: 150 });
  });
  afterEach(async () => {
    client.close();
    await proxy.close();
    for (const session of sessions) session.destroy();
    server.close();
  });

  it("queues what the server has no room for, on two connections", async () => {
    let most = 0;
    let open = 0;
    handle = (stream) => {
      most = Math.max(most, (open += 1));
      stream.once("close", () => (open -= 1));
      setTimeout(() => answer(stream), 20);
    };
    const answers = await Promise.all(
      Array.from({ length: 60 }, () => client.get(Namespace, { name: "rome" })),
    );
    assert.ok(answers.every((object) => object?.metadata.name === "rome"));
    assert.ok(most > 10 && most <= 20, `${most} at a time`);
    assert.equal(sessions.size, 2);
  });

  it("leaves a server that is going away: what is open goes on, what is new goes elsewhere", async () => {
    handle = (stream, _method, path) => {
      stream.respond({ ":status": 200 });
      if (path !== "/watch") stream.end(namespace);
      else stream.write("first\n");
    };
    const { body } = await client.stream({ path: "/watch" });
    const [old] = [...sessions];
    old?.goaway(constants.NGHTTP2_NO_ERROR);
    await until("the news of it", async () => {
      await client.get(Namespace, { name: "rome" });
      return sessions.size === 2;
    });
    const [first] = (await once(body, "data")) as [Buffer];
    assert.equal(first.toString(), "first\n");
    assert.equal(body.destroyed, false);
    body.destroy();
    await until("the end of the old connection", () => sessions.size === 1);
  });

  it("sends a write again only where the server certainly did not take it", async () => {
    const seen: string[] = [];
    handle = (stream, method, path) => {
      seen.push(`${method} ${path.split("/").at(-1)}`);
      const again = seen.filter((line) => line === seen.at(-1)).length > 1;
      if (path.includes("refused") && !again) stream.close(constants.NGHTTP2_REFUSED_STREAM);
      else if (path.includes("broken") && !again) stream.close(constants.NGHTTP2_INTERNAL_ERROR);
      else answer(stream);
    };
    await client.patch(Namespace, { name: "refused" }, {}, { type: "merge" });
    await client.get(Namespace, { name: "broken" });
    await assert.rejects(
      client.patch(Namespace, { name: "broken-too" }, {}, { type: "merge" }),
      ConnectionError,
    );
    assert.deepEqual(seen, [
      "PATCH refused",
      "PATCH refused",
      "GET broken",
      "GET broken",
      "PATCH broken-too",
    ]);
  });

  it("drops a connection that no longer answers, and everything on it at once", async () => {
    handle = (stream) => {
      stream.respond({ ":status": 200 });
      stream.write("first\n");
    };
    const { body } = await client.stream({ path: "/watch" });
    body.resume();
    proxy.freezeOpen();
    const begin = performance.now();
    const [error] = (await once(body, "error")) as [Error];
    assert.match(error.message, /no answer to a ping in 0\.15 s/);
    assert.ok(performance.now() - begin < 2_000);
    handle = answer;
    assert.ok(await client.get(Namespace, { name: "rome" }));
  });

  it("survives connections that are cut at any moment", async () => {
    let running = true;
    let answered = 0;
    let failed = 0;
    const asking = Array.from({ length: 5 }, async () => {
      while (running) {
        try {
          await client.get(Namespace, { name: "rome" }, { deadlineMs: 3_000 });
          answered += 1;
        } catch (error) {
          assert.ok(error instanceof ConnectionError, String(error));
          failed += 1;
        }
        await new Promise((resolve) => setTimeout(resolve, 1));
      }
    });
    for (let cuts = 0; cuts < 100; cuts++) {
      await new Promise((resolve) => setTimeout(resolve, Math.random() * 15));
      proxy.cut();
    }
    running = false;
    await Promise.all(asking);
    assert.ok(answered > 20, `${answered} answered, ${failed} failed`);
  });
});
