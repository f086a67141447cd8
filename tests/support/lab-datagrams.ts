/** Datagrams of a network lab from any address to any address, and a record of those that arrive. */
import type { LabHost } from "./network-lab";
import { until } from "./until";

/** Each host of a lab has this folder for itself. */
const RECORD = "/var/run/wireguard/datagrams";

const RECORDER = `
  const [port, file] = process.argv.slice(1);
  const { appendFileSync, writeFileSync } = require("node:fs");
  const socket = require("node:dgram").createSocket("udp4");
  socket.on("message", (datagram, from) => appendFileSync(file, datagram + " " + from.address + "\\n"));
  socket.bind(Number(port), () => writeFileSync(file, ""));
`;

/** Records what comes to a port of a host, whichever of its addresses it comes to. */
export async function recordDatagrams(host: LabHost, port: number): Promise<void> {
  host.spawn(process.execPath, ["-e", RECORDER, String(port), RECORD]);
  await until(`${host.name} records`, () =>
    host.run(`test -e ${RECORD}`).then(
      () => true,
      () => false,
    ),
  );
}

/** The datagrams that came to a host, each with the address that it came from; the later one of two that say the same. */
export async function recorded(host: LabHost): Promise<Map<string, string>> {
  const lines = (await host.run(`cat ${RECORD}`)).split("\n").filter((line) => line !== "");
  return new Map(
    lines.map((line): [string, string] => {
      const [text = "", address = ""] = line.split(" ");
      return [text, address];
    }),
  );
}

export interface Datagram {
  /** One word. */
  text: string;
  /** An address that the host need not have. */
  from: string;
  fromPort?: number;
  to: string;
  port: number;
}

const SENDER = `
  const [text, from, fromPort, to, port] = process.argv.slice(1);
  const socket = require("node:dgram").createSocket("udp4");
  let left = 3;
  const send = () => socket.send(text, Number(port), to, () => {
    if ((left -= 1) === 0) process.exit(0);
    setTimeout(send, 50);
  });
  socket.bind({ address: from, port: Number(fromPort) }, send);
`;

/** Sends a datagram three times by a device, with any address as its source. */
export async function sendDatagram(
  host: LabHost,
  device: string,
  { text, from, fromPort = 0, to, port }: Datagram,
): Promise<void> {
  // By a rule for the pair alone: what carries the tunnel may go to the same address.
  await host.run(`
    ip route replace default dev ${device} table 77
    ip rule add priority 50 from ${from} to ${to} lookup 77
    if ip -o addr show to ${from} | grep -q .; then borrowed=; else borrowed=${from}/32; fi
    if [ -n "$borrowed" ]; then ip addr add $borrowed dev lo; fi
    '${process.execPath}' -e '${SENDER}' ${text} ${from} ${fromPort} ${to} ${port}
    if [ -n "$borrowed" ]; then ip addr del $borrowed dev lo; fi
    ip rule del priority 50`);
}
