import assert from "node:assert/strict";
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { createServer, type Server, type Socket } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";

const entry = require.resolve("../../../runtime/main");

/** Loaded before the entry point: sends the signal as soon as somebody takes it, and tells how much had been loaded by then. */
const atFirstMoment = `
  process.on("newListener", (name) => {
    if (name !== "SIGTERM") return;
    const loaded = Object.keys(require.cache).filter((file) => file !== __filename);
    process.stderr.write("loaded before: " + loaded.length + "\\n");
    process.kill(process.pid, "SIGTERM");
  });`;

describe("a process of the runtime that is told to end", function () {
  this.timeout(180_000);
  let folder: string;
  let server: Server;
  const sockets = new Set<Socket>();

  before(async () => {
    folder = await mkdtemp(join(tmpdir(), "pulumi-liqo-component-"));
    // Takes connections and never says a word.
    server = createServer((socket) => {
      sockets.add(socket);
      socket.on("error", () => undefined);
    });
    server.listen(0, "127.0.0.1");
    await once(server, "listening");
    const address = server.address();
    assert.ok(typeof address === "object" && address !== null);
    const kubeconfig = {
      apiVersion: "v1",
      kind: "Config",
      "current-context": "silent",
      contexts: [{ name: "silent", context: { cluster: "silent", user: "nobody" } }],
      clusters: [{ name: "silent", cluster: { server: `https://127.0.0.1:${address.port}` } }],
      users: [{ name: "nobody", user: { token: "none" } }],
    };
    await writeFile(join(folder, "kubeconfig"), JSON.stringify(kubeconfig));
    await writeFile(join(folder, "at-first-moment.cjs"), atFirstMoment);
  });
  after(async () => {
    for (const socket of sockets) socket.destroy();
    server.close();
    await rm(folder, { recursive: true });
  });

  function start(...nodeFlags: string[]): { child: ChildProcess; said: () => string } {
    return run(nodeFlags, [
      "controller-manager",
      "--cluster-id=rome",
      "--liqo-namespace=liqo",
      "--metrics-address=",
      "--health-probe-address=",
    ]);
  }

  function run(nodeFlags: string[], words: string[]): { child: ChildProcess; said: () => string } {
    const kubeconfig = `--kubeconfig=${join(folder, "kubeconfig")}`;
    const child = spawn(process.execPath, [...nodeFlags, entry, ...words, kubeconfig], {
      stdio: ["ignore", "pipe", "pipe"],
    });
    let text = "";
    for (const stream of [child.stdout, child.stderr])
      stream.on("data", (chunk: Buffer) => (text += chunk.toString()));
    return { child, said: () => text };
  }

  async function endOf(child: ChildProcess): Promise<unknown> {
    await once(child, "close");
    return { status: child.exitCode, signal: child.signalCode };
  }

  it("hears it from the first moment on, and then starts nothing", async () => {
    const { child, said } = start("--require", join(folder, "at-first-moment.cjs"));
    assert.deepEqual(await endOf(child), { status: 0, signal: null });
    // The entry point itself, and what takes the signal.
    assert.equal(said(), "loaded before: 2\n");
    assert.equal(sockets.size, 0);
  });

  it("does not wait for a start that hangs", async () => {
    const { child, said } = start();
    await once(server, "connection");
    child.kill("SIGTERM");
    assert.deepEqual(await endOf(child), { status: 0, signal: null });
    assert.match(said(), /"message":"ending"/);
    assert.doesNotMatch(said(), /"message":"started"|cannot start/);
  });

  it("needs no telling where it cannot start, though it serves probes already", async () => {
    const address = "127.0.0.1:0";
    const words = ["fabric", `--metrics-address=${address}`, `--health-probe-address=${address}`];
    const { child, said } = run([], words);
    assert.deepEqual(await endOf(child), { status: 1, signal: null });
    assert.match(said(), /"message":"cannot start"/);
    assert.match(said(), /--nodename is missing/);
  });
});
