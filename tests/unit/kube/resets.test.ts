import assert from "node:assert/strict";
import { inspect } from "node:util";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { connect, createServer, type Server, type Socket } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";

import { InvalidObjectError } from "../../../runtime/api/invalid-object";
import { ConfigMap, Namespace } from "../../../runtime/api/kubernetes";
import { ConnectionError, InformerSet, KubeClient } from "../../../runtime/kube";
import { HostileApiServer } from "../../support/hostile-api-server";
import { listen } from "../../support/listen";

/** What becomes of a connection that is on its way to the API server. */
type Fault = (client: Socket, upstream: Socket) => void;

const passOn: Fault = (client, upstream) => {
  client.pipe(upstream);
  upstream.pipe(client);
};
/** Passes on what the server sends until so many of its chunks have come. */
const afterChunks =
  (chunks: number, end: (client: Socket) => void): Fault =>
  (client, upstream) => {
    let left = chunks;
    client.pipe(upstream);
    upstream.on("data", (chunk: Buffer) => {
      client.write(chunk);
      if ((left -= 1) <= 0) end(client);
    });
  };
const reset = (client: Socket) => void client.resetAndDestroy();
const close = (client: Socket) => void client.end();

describe("resets of a connection", function () {
  this.timeout(60_000);
  let milan: HostileApiServer;
  let front: Server;
  let fault: Fault;
  let kubeconfig: string;
  let directory: string;
  let clients: KubeClient[];
  const sockets = new Set<Socket>();

  beforeEach(async () => {
    milan = await HostileApiServer.start();
    milan.answer = (_url, response) => {
      response.write(" ");
      setTimeout(() => response.end("{}"), 1);
    };
    front = createServer((client) => {
      const upstream = connect(milan.port, "127.0.0.1");
      for (const socket of [client, upstream]) {
        sockets.add(socket);
        socket.on("error", () => undefined);
        socket.once("close", () => {
          client.destroy();
          upstream.destroy();
          sockets.delete(socket);
        });
      }
      fault(client, upstream);
    });
    const port = await listen(front);
    // Credentials in files are read while the connection is open already.
    directory = await mkdtemp(join(tmpdir(), "resets-"));
    const text = milan.kubeconfig(port);
    const certificate = /"certificate-authority-data":"([^"]*)"/.exec(text)?.[1] ?? "";
    const file = join(directory, "ca.pem");
    await writeFile(file, Buffer.from(certificate, "base64"));
    kubeconfig = text.replace(
      /"certificate-authority-data":"[^"]*"/,
      `"certificate-authority":${JSON.stringify(file)}`,
    );
    clients = [];
  });
  afterEach(async () => {
    for (const client of clients) client.close();
    for (const socket of sockets) socket.destroy();
    front.close();
    await milan.close();
    await rm(directory, { recursive: true });
  });

  const stages: [string, Fault][] = [
    ["as soon as it is accepted", reset],
    ["and closed as soon as it is accepted", close],
    ["a moment after it is accepted", (client) => void setTimeout(reset, 2, client)],
    ["after the ClientHello", (client) => void client.once("data", () => reset(client))],
    ["and closed after the ClientHello", (client) => void client.once("data", () => close(client))],
    ["in the middle of the handshake", afterChunks(1, reset)],
    ["in the middle of the head or before it", afterChunks(2, reset)],
    ["and closed in the middle of the head or before it", afterChunks(2, close)],
    ["in the middle of the body or before it", afterChunks(4, reset)],
    ["in the middle of the body or after it", afterChunks(5, reset)],
    [
      "at any moment",
      (client, upstream) => {
        passOn(client, upstream);
        setTimeout(reset, Math.random() * 15, client);
      },
    ],
    ["with bytes that are no TLS", (client) => void client.end("HTTP/1.1 400 Bad Request\r\n\r\n")],
  ];
  for (const [stage, of] of stages) {
    it(`${stage} is an error of that request and of nothing else`, async () => {
      fault = of;
      const settled: unknown[] = [];
      const outcome = async (work: Promise<unknown>) => {
        settled.push(await work.then(() => undefined).catch((error: unknown) => error));
      };
      for (let i = 0; i < 10; i++) {
        const client = KubeClient.fromKubeconfig(kubeconfig, { deadlineMs: 5_000 });
        clients.push(client);
        const head = { connection: "upgrade", upgrade: "websocket" };
        await Promise.all([
          outcome(client.get(Namespace, { name: "rome" })),
          outcome(client.create(ConfigMap, configMap)),
          outcome(
            client.stream({ path: "/log" }).then(({ body }) => body.on("error", () => undefined).resume()),
          ),
          outcome(client.upgrade({ path: "/exec", headers: head })),
        ]);
      }
      assert.equal(settled.length, 40);
      for (const error of settled) {
        if (error === undefined || error instanceof InvalidObjectError) continue;
        assert.ok(error instanceof ConnectionError, inspect(error));
      }
    });
  }

  it("leaves a watch that goes on once the connection stays", async () => {
    fault = reset;
    milan.answer = (_url, response) => {
      const metadata = { resourceVersion: "7", annotations: { "k8s.io/initial-events-end": "true" } };
      response.write(`${JSON.stringify({ type: "BOOKMARK", object: { metadata } })}\n`);
    };
    const client = KubeClient.fromKubeconfig(kubeconfig);
    clients.push(client);
    const informers = new InformerSet(client);
    const watch = informers.informer(ConfigMap);
    await pause(1_000);
    assert.match(watch.problem ?? "", /cannot connect to 127\.0\.0\.1:\d+/);
    fault = passOn;
    await watch.whenSynced();
    assert.equal(watch.problem, undefined);
    await informers.stop();
  });

  const configMap: ConfigMap = {
    apiVersion: "v1",
    kind: "ConfigMap",
    metadata: { name: "a", namespace: "rome" },
  };
});
