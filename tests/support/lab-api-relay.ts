import { connect, createServer, type Server, type Socket } from "node:net";

import type { LabHost } from "./network-lab";
import { until } from "./until";

/** Hosts of a lab reach an API server at the address of its kubeconfig, by a socket file that leads out of their namespace. */
export class LabApiRelay {
  private readonly relayed = new Set<Socket>();

  private constructor(
    private readonly server: Server,
    private readonly url: URL,
    private readonly socketFile: string,
  ) {}

  static async open(url: string, socketFile: string): Promise<LabApiRelay> {
    const server = createServer();
    const relay = new LabApiRelay(server, new URL(url), socketFile);
    server.on("connection", (socket) => relay.pass(socket));
    await new Promise<void>((resolve) => server.listen(socketFile, resolve));
    server.unref();
    return relay;
  }

  /** Makes the address lead there on a host. */
  async openTo(host: LabHost): Promise<void> {
    const { port } = this.url;
    const script = `const net = require("node:net");
      net.createServer((socket) => {
        const upstream = net.connect(${JSON.stringify(this.socketFile)});
        socket.pipe(upstream).pipe(socket);
        socket.on("error", () => upstream.destroy());
        upstream.on("error", () => socket.destroy());
      }).listen(${port}, "127.0.0.1");`;
    host.spawn(process.execPath, ["-e", script]);
    await until(`the API server from ${host.name}`, async () => {
      await host.run(`(ss -Hltn "sport = :${port}" | grep -q .)`);
      return true;
    });
  }

  close(): void {
    this.server.close();
    for (const end of this.relayed) end.destroy();
  }

  private pass(socket: Socket): void {
    const upstream = connect(Number(this.url.port), this.url.hostname);
    socket.pipe(upstream).pipe(socket);
    socket.on("error", () => upstream.destroy());
    upstream.on("error", () => socket.destroy());
    for (const end of [socket, upstream]) {
      this.relayed.add(end);
      end.once("close", () => this.relayed.delete(end));
    }
  }
}
