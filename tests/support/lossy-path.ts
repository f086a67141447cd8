/** A path for UDP that is slow and loses datagrams, made by a process on a host: kernels without netem have none. */
import type { LabHost } from "./network-lab";

const RELAY = `
  const [port, address, delay, loss] = process.argv.slice(1);
  const dgram = require("node:dgram");
  const front = dgram.createSocket({ type: "udp4", recvBufferSize: 4 << 20, sendBufferSize: 4 << 20 });
  const callers = new Map();
  // The same datagrams in each run: a linear congruential sequence.
  let state = 1;
  const isLost = () => (state = (Math.imul(state, 1664525) + 1013904223) >>> 0) / 2 ** 32 < Number(loss);
  const pass = (send) => { if (!isLost()) setTimeout(send, Number(delay)); };
  front.on("message", (datagram, from) => {
    const key = from.address + " " + from.port;
    let back = callers.get(key);
    if (back === undefined) {
      back = dgram.createSocket({ type: "udp4", recvBufferSize: 4 << 20, sendBufferSize: 4 << 20 });
      callers.set(key, back);
      back.on("message", (answer) => pass(() => front.send(answer, from.port, from.address)));
    }
    pass(() => back.send(datagram, Number(port), address));
  });
  front.bind(Number(port));
`;

export interface LossyPath {
  port: number;
  /** Where the datagrams go that come to the host's port of the same number. */
  address: string;
  /** Milliseconds, each way. */
  delayMs: number;
  /** Share of the datagrams, each way. */
  loss: number;
}

/** Makes a host such a path; it lasts as long as the host. */
export async function startLossyPath(
  host: LabHost,
  { port, address, delayMs, loss }: LossyPath,
): Promise<void> {
  host.spawn(process.execPath, ["-e", RELAY, ...[port, address, delayMs, loss].map(String)]);
  await host.run(
    `for i in $(seq 100); do ss -Hlun "sport = :${port}" | grep -q . && exit 0; sleep 0.1; done; exit 1`,
  );
}
