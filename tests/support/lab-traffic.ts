/** Traffic between hosts of a network lab, made and measured by small programs on them. */
import type { LabHost } from "./network-lab";

const node = (script: string, ...args: (string | number)[]) =>
  `'${process.execPath}' -e '${script}' ${args.map((arg) => `'${arg}'`).join(" ")}`;

/** Whether a sink answers within two seconds. */
export async function answers(from: LabHost, address: string, port: number): Promise<boolean> {
  return await from
    .run(`timeout 2 bash -c 'exec 3<>/dev/tcp/${address}/${port} && read -r -u 3 source && [ -n "$source" ]'`)
    .then(
      () => true,
      () => false,
    );
}

const ECHO = `
  const [port] = process.argv.slice(1);
  require("node:net").createServer({ allowHalfOpen: true }, (socket) => {
    socket.write(socket.remoteAddress.replace("::ffff:", "") + "\\n");
    let bytes = 0;
    socket.on("data", (chunk) => { bytes += chunk.length; });
    socket.on("end", () => socket.end(String(bytes)));
    socket.on("error", () => undefined);
  }).listen(Number(port));
`;

/** A TCP server that says which address it sees, and after the end of what it is sent, how many bytes those were. */
export async function startSink(host: LabHost, port: number): Promise<void> {
  host.spawn(process.execPath, ["-e", ECHO, String(port)]);
  await host.run(
    `for i in $(seq 100); do ss -Hltn "sport = :${port}" | grep -q . && exit 0; sleep 0.1; done; exit 1`,
  );
}

const SEND = `
  const [address, port, size] = process.argv.slice(1);
  const chunk = Buffer.alloc(256 * 1024, 7);
  let left = Number(size), text = "";
  const begin = performance.now();
  const socket = require("node:net").connect({ host: address, port: Number(port), allowHalfOpen: true }, function pump() {
    while (left > 0) {
      const part = chunk.subarray(0, Math.min(left, chunk.length));
      left -= part.length;
      if (!socket.write(part)) { socket.once("drain", pump); return; }
    }
    socket.end();
  });
  socket.setTimeout(30000, () => { console.error("silent for 30 s"); process.exit(1); });
  socket.on("data", (data) => { text += data; });
  socket.on("end", () => {
    const [source, bytes] = text.split("\\n");
    console.log(JSON.stringify({ source, bytes: Number(bytes), seconds: (performance.now() - begin) / 1000 }));
  });
`;

export interface Sent {
  /** The sender's address as the receiver saw it. */
  source: string;
  /** That arrived. */
  bytes: number;
  seconds: number;
}

/** Sends bytes over TCP to a sink. */
export async function sendBytes(from: LabHost, address: string, port: number, bytes: number): Promise<Sent> {
  return JSON.parse(await from.run(node(SEND, address, port, bytes))) as Sent;
}
