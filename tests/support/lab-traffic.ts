/** Traffic between hosts of a network lab, made and measured by small programs on them. */
import type { LabHost } from "./network-lab";

const node = (script: string, ...args: (string | number)[]) =>
  `'${process.execPath}' -e '${script}' ${args.map((arg) => `'${arg}'`).join(" ")}`;

/** Whether a sink answers within two seconds. */
export async function answers(from: LabHost, address: string, port: number): Promise<boolean> {
  return await from
    .run(
      `timeout 2 bash --norc -c 'exec 3<>/dev/tcp/${address}/${port} && read -r -u 3 source && [ -n "$source" ]'`,
    )
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

/** A UDP server that sends back what it is sent. */
export async function startDatagramEcho(host: LabHost, port: number): Promise<void> {
  const script = `const socket = require("node:dgram").createSocket("udp4");
    socket.on("message", (datagram, from) => socket.send(datagram, from.port, from.address));
    socket.bind(${port});`;
  host.spawn(process.execPath, ["-e", script]);
  await host.run(
    `for i in $(seq 100); do ss -Hlun "sport = :${port}" | grep -q . && exit 0; sleep 0.1; done; exit 1`,
  );
}

const DATAGRAM = `
  const [address, port, size] = process.argv.slice(1);
  const socket = require("node:dgram").createSocket("udp4");
  const send = () => socket.send(Buffer.alloc(Number(size), 7), Number(port), address);
  socket.on("message", (datagram) => { console.log(datagram.length); process.exit(0); });
  socket.bind(0, () => { send(); setInterval(send, 500); setTimeout(() => process.exit(1), 10000); });
`;

/** Sends a datagram to an echo, again until an answer comes; returns the bytes of that. */
export async function echoDatagram(
  from: LabHost,
  address: string,
  port: number,
  bytes: number,
): Promise<number> {
  return Number(await from.run(node(DATAGRAM, address, port, bytes)));
}

const DATAGRAMS = `
  const [address, port, size, count] = process.argv.slice(1);
  const socket = require("node:dgram").createSocket("udp4");
  let sent = 0, echoed = 0;
  const end = () => { console.log(echoed); process.exit(0); };
  socket.on("message", (datagram) => {
    if (datagram.length === Number(size) && (echoed += 1) === Number(count)) end();
  });
  socket.bind(0, () => {
    const timer = setInterval(() => {
      socket.send(Buffer.alloc(Number(size), 7), Number(port), address);
      if ((sent += 1) === Number(count)) { clearInterval(timer); setTimeout(end, 3000); }
    }, 5);
  });
`;

/** Sends datagrams to an echo, one each 5 ms; returns how many came back whole. */
export async function echoDatagrams(
  from: LabHost,
  address: string,
  port: number,
  { bytes, count }: { bytes: number; count: number },
): Promise<number> {
  return Number(await from.run(node(DATAGRAMS, address, port, bytes, count)));
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

const BLAST = `
  const [address, port, flows, seconds] = process.argv.slice(1);
  const net = require("node:net");
  const chunk = Buffer.alloc(128 * 1024, 7);
  const begin = performance.now();
  const deadline = begin + Number(seconds) * 1000;
  const flow = () => new Promise((resolve, reject) => {
    let text = "";
    const socket = net.connect({ host: address, port: Number(port), allowHalfOpen: true }, function pump() {
      while (performance.now() < deadline) if (!socket.write(chunk)) { socket.once("drain", pump); return; }
      socket.end();
    });
    socket.setTimeout(30000, () => reject(new Error("silent for 30 s")));
    socket.on("error", reject);
    socket.on("data", (data) => { text += data; });
    socket.on("end", () => { socket.end(); resolve(Number(text.split("\\n")[1])); });
  });
  Promise.all(Array.from({ length: Number(flows) }, flow)).then((counts) => {
    const bytes = counts.reduce((sum, count) => sum + count, 0);
    console.log(bytes * 8 / 1e6 / ((performance.now() - begin) / 1000));
    process.exit(0);
  });
`;

/** Sends as much as there is room for to a sink, over several connections at once; returns Mbit/s. */
export async function blast(
  from: LabHost,
  address: string,
  port: number,
  { flows, seconds }: { flows: number; seconds: number },
): Promise<number> {
  return Number(await from.run(node(BLAST, address, port, flows, seconds)));
}

/** A TCP server that sends back what it is sent. */
export async function startEcho(host: LabHost, port: number): Promise<void> {
  const script = `require("node:net").createServer((socket) => {
    socket.setNoDelay(true);
    socket.on("error", () => undefined);
    socket.pipe(socket);
  }).listen(${port});`;
  host.spawn(process.execPath, ["-e", script]);
  await host.run(
    `for i in $(seq 100); do ss -Hltn "sport = :${port}" | grep -q . && exit 0; sleep 0.1; done; exit 1`,
  );
}

const REQUESTS = `
  const [address, port, rate, seconds] = process.argv.slice(1);
  const socket = require("node:net").connect(Number(port), address);
  const message = Buffer.alloc(64, 7);
  const sent = [], times = [];
  let received = 0;
  socket.setNoDelay(true);
  socket.on("data", (data) => {
    received += data.length;
    while (received >= message.length) { received -= message.length; times.push(performance.now() - sent.shift()); }
  });
  socket.on("connect", () => {
    const begin = performance.now(), every = 1000 / Number(rate);
    let next = 0;
    const timer = setInterval(() => {
      const now = performance.now();
      if (now - begin > Number(seconds) * 1000) { clearInterval(timer); setTimeout(end, 500); return; }
      for (; begin + next * every <= now; next++) { sent.push(performance.now()); socket.write(message); }
    }, 1);
  });
  const end = () => {
    times.sort((a, b) => a - b);
    const at = (q) => times[Math.min(times.length - 1, Math.floor(q * times.length))];
    console.log(JSON.stringify({ p50: at(0.5), p99: at(0.99) }));
    process.exit(0);
  };
`;

/** Milliseconds. */
export interface Latencies {
  p50: number;
  p99: number;
}

/** Requests of 64 bytes to an echo at a fixed rate, whether or not earlier ones were answered. */
export async function requestAtRate(
  from: LabHost,
  address: string,
  port: number,
  { rate, seconds }: { rate: number; seconds: number },
): Promise<Latencies> {
  return JSON.parse(await from.run(node(REQUESTS, address, port, rate, seconds))) as Latencies;
}
