import assert from "node:assert/strict";
import { createServer, get, request, type Server } from "node:http";

import { freePorts } from "../../../provider/local-cluster/free-port";
import { startPullProxy } from "../../../provider/local-cluster/native/agent/pull-proxy";

describe("the proxy for image pulls", () => {
  let target: Server;
  let proxy: Server;
  let targetPort = 0;
  let proxyPort = 0;
  before(async () => {
    [targetPort = 0, proxyPort = 0] = await freePorts(2);
    target = createServer((incoming, outgoing) =>
      outgoing.end(`${incoming.url} for ${incoming.headers.host}`),
    );
    await new Promise<void>((resolve) => target.listen(targetPort, "127.0.0.1", resolve));
    proxy = await startPullProxy("127.0.0.1", proxyPort);
  });
  after(() => {
    target.close();
    proxy.close();
  });
  const read = (stream: AsyncIterable<unknown>) =>
    (async () => {
      let text = "";
      for await (const chunk of stream) text += String(chunk);
      return text;
    })();

  it("forwards plain requests", async () => {
    const host = `127.0.0.1:${targetPort}`;
    const answer = await new Promise<string>((resolve, reject) => {
      get(
        { host: "127.0.0.1", port: proxyPort, path: `http://${host}/v2/`, headers: { host } },
        (response) => {
          read(response).then(resolve, reject);
        },
      );
    });
    assert.equal(answer, `/v2/ for ${host}`);
  });

  it("joins tunnels, as TLS needs them", async () => {
    const answer = await new Promise<string>((resolve, reject) => {
      const opening = request({
        host: "127.0.0.1",
        port: proxyPort,
        method: "CONNECT",
        path: `127.0.0.1:${targetPort}`,
      });
      opening.on("connect", (response, socket) => {
        assert.equal(response.statusCode, 200);
        socket.end("GET /blob HTTP/1.1\r\nhost: registry\r\nconnection: close\r\n\r\n");
        read(socket).then(resolve, reject);
      });
      opening.end();
    });
    assert.match(answer, /^HTTP\/1\.1 200 OK[^]*\/blob for registry$/);
  });

  it("is no server of its own", async () => {
    const status = await new Promise((resolve) =>
      get(`http://127.0.0.1:${proxyPort}/`, (response) => resolve(response.resume().statusCode)),
    );
    assert.equal(status, 400);
  });
});
