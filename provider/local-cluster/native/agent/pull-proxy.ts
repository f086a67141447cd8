import { createServer, request as httpRequest, type Server } from "node:http";
import { connect } from "node:net";

/**
 * An HTTP proxy on the fabric for the nodes' container runtimes: they pull images through the host's own network, so that the host need
 * not forward or translate anything.
 */
export async function startPullProxy(address: string, port: number): Promise<Server> {
  const server = createServer((incoming, outgoing) => {
    const target = URL.parse(incoming.url ?? "");
    if (target?.protocol !== "http:") {
      outgoing.writeHead(400).end("this is a proxy\n");
      return;
    }
    const forwarded = httpRequest(
      target,
      { method: incoming.method, headers: incoming.headers },
      (answer) => {
        outgoing.writeHead(answer.statusCode ?? 502, answer.headers);
        answer.pipe(outgoing);
      },
    );
    forwarded.on("error", (error) => {
      if (!outgoing.headersSent) outgoing.writeHead(502);
      outgoing.end(`${error.message}\n`);
    });
    incoming.pipe(forwarded);
  });
  server.on("connect", (request, near, head: Buffer) => {
    const target = URL.parse(`tcp://${request.url ?? ""}`);
    const far = connect(Number(target?.port ?? 443), target?.hostname ?? "", () => {
      near.write("HTTP/1.1 200 Connection Established\r\n\r\n");
      far.write(head);
      far.pipe(near);
      near.pipe(far);
    });
    far.on("error", () => near.destroy());
    near.on("error", () => far.destroy());
  });
  await new Promise<void>((resolve, reject) => {
    server.once("error", reject);
    server.listen(port, address, resolve);
  });
  return server;
}
