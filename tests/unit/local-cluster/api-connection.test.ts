import assert from "node:assert/strict";
import { once } from "node:events";
import { createServer, type Server } from "node:https";
import type { AddressInfo } from "node:net";

import { CertificateAuthority } from "../../../provider/local-cluster/certificate-authority";
import { ApiConnection } from "../../../provider/local-cluster/native/api-connection";

describe("requests that bring a cluster up", () => {
  let server: Server;
  let api: ApiConnection;
  const asked: string[] = [];
  const answers: Array<number | "none"> = [];

  before(async () => {
    const ca = await CertificateAuthority.create("test-ca");
    const { certificate, privateKey } = await ca.issue({ commonName: "server", addresses: ["127.0.0.1"] });
    server = createServer({ cert: certificate, key: privateKey }, (incoming, response) => {
      asked.push(`${incoming.method} ${incoming.url}`);
      const answer = answers.shift() ?? 200;
      if (answer === "none") incoming.socket.destroy();
      else response.writeHead(answer).end(JSON.stringify({ message: `said ${answer}` }));
    }).listen(0, "127.0.0.1");
    await once(server, "listening");
    const { port } = server.address() as AddressInfo;
    api = new ApiConnection({
      url: `https://127.0.0.1:${port}`,
      ca: ca.pem.certificate,
      certificate,
      privateKey,
    });
  });
  beforeEach(() => asked.splice(0));
  after(async () => {
    await api.close();
    server.close();
  });

  it("are repeated when a busy API server drops or refuses them", async () => {
    answers.push("none", 503, 200);
    assert.deepEqual(await api.get("/api/v1/nodes"), { message: "said 200" });
    assert.deepEqual(
      asked,
      Array.from({ length: 3 }, () => "GET /api/v1/nodes"),
    );
    answers.push(429, 200);
    assert.deepEqual(await api.apply("/api/v1/nodes/rome-1", {}), { message: "said 200" });
  });

  it("are not when they are wrong", async () => {
    answers.push(422);
    await assert.rejects(api.get("/api/v1/nodes"), /GET \/api\/v1\/nodes: 422 said 422/);
    assert.equal(asked.length, 1);
  });
});
