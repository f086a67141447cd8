import assert from "node:assert/strict";
import { once } from "node:events";
import { type AddressInfo, connect, createServer, type Socket } from "node:net";

import { joinStreams } from "../../../runtime/virtual-kubelet/kubelet/join-streams";

async function until(condition: () => boolean): Promise<void> {
  while (!condition()) await new Promise((resolve) => setTimeout(resolve, 5));
}

describe("joinStreams", () => {
  /** Two connected pairs of sockets; the inner ones get joined. */
  async function pairs(): Promise<{
    client: Socket;
    near: Socket;
    far: Socket;
    server: Socket;
    end: () => void;
  }> {
    const listener = createServer({ allowHalfOpen: true }).listen(0, "127.0.0.1");
    await once(listener, "listening");
    const { port } = listener.address() as AddressInfo;
    const pair = async (): Promise<[Socket, Socket]> => {
      const accepted = once(listener, "connection") as Promise<[Socket]>;
      const dialled = connect({ port, host: "127.0.0.1", allowHalfOpen: true });
      return [dialled, (await accepted)[0]];
    };
    const [client, near] = await pair();
    const [far, server] = await pair();
    return { client, near, far, server, end: () => listener.close() };
  }

  it("passes what is sent last before one side ends, and then closes both", async () => {
    const { client, near, far, server, end } = await pairs();
    const joined = joinStreams(near, far);
    const sent = Buffer.alloc(3_000_000, "x");
    client.end(sent);
    let received = 0;
    server.on("data", (chunk: Buffer) => (received += chunk.length));
    await once(server, "end");
    assert.equal(received, sent.length);
    server.end("bye");
    assert.equal(String((await once(client, "data"))[0]), "bye");
    await joined;
    assert.ok(near.destroyed && far.destroyed);
    end();
  });

  it("does not read faster than the other side takes it", async () => {
    const { client, near, far, server, end } = await pairs();
    const joined = joinStreams(near, far);
    server.pause();
    let sent = 0;
    const chunk = Buffer.alloc(65_536);
    while (client.writableLength < 64 * 1024 * 1024 && sent < 512) {
      client.write(chunk);
      sent++;
    }
    await new Promise((resolve) => setTimeout(resolve, 200));
    assert.ok(
      far.writableLength < 5 * 1024 * 1024,
      `${far.writableLength} bytes are held for a side that does not read`,
    );
    client.destroy();
    server.destroy();
    await joined;
    end();
  });

  it("delivers to a slow side all that the other sent before it was gone", async () => {
    const { client, near, far, server, end } = await pairs();
    const joined = joinStreams(near, far);
    client.pause();
    const sent = 3_000_000;
    server.end(Buffer.alloc(sent, "x"));
    await until(() => far.readableEnded);
    // As a client goes on sending what its protocol demands, to a side that is no more.
    for (let i = 0; i < 20; i++) {
      client.write("window update");
      await new Promise((resolve) => setTimeout(resolve, 5));
    }
    server.destroy();
    let received = 0;
    client.on("data", (chunk: Buffer) => (received += chunk.length));
    client.resume();
    await once(client, "end");
    assert.equal(received, sent);
    client.destroy();
    await joined;
    end();
  });

  it("ends when one side breaks", async () => {
    const { client, near, far, server, end } = await pairs();
    const joined = joinStreams(near, far);
    server.resetAndDestroy();
    client.on("error", () => undefined);
    await joined;
    client.destroy();
    end();
  });
});
