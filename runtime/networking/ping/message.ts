import { z } from "zod";

/**
 * The probe that two gateways send each other through the tunnel, over UDP: part of the wire contract (networking reference 10.4). A ping
 * names the cluster that is probed, not the one that asks; a pong is the ping with another type.
 */
export interface PingMessage {
  clusterID: string;
  msgType: "PING" | "PONG";
  /** RFC 3339 with up to nine digits of a second. Peers send back the same time, not always in the same digits. */
  timeStamp: string;
}

export const PING_PORT = 12345;
/** Bytes that a message has at most. */
export const LONGEST_MESSAGE = 1024;

const message = z.object({
  clusterID: z.string(),
  msgType: z.enum(["PING", "PONG"]),
  timeStamp: z.string().refine((text) => nanoseconds(text) !== undefined),
});

export function encodeMessage({ clusterID, msgType, timeStamp }: PingMessage): Buffer {
  return Buffer.from(JSON.stringify({ clusterID, msgType, timeStamp }));
}

/** Reads a datagram; undefined where it is no message of this protocol. */
export function decodeMessage(datagram: Uint8Array): PingMessage | undefined {
  if (datagram.length > LONGEST_MESSAGE) return undefined;
  let content: unknown;
  try {
    content = JSON.parse(Buffer.from(datagram).toString("utf8"));
  } catch {
    return undefined;
  }
  return message.safeParse(content).data;
}

/** The answer to a ping: the time as it came, to the last digit. */
export function pongTo(ping: PingMessage): PingMessage {
  return { ...ping, msgType: "PONG" };
}

/** A wall-clock time in milliseconds as messages carry it. */
export function messageTime(ms: number): string {
  return new Date(ms).toISOString().replace(/Z$/, "000000Z");
}

/** Nanoseconds since 1970 of a time in a message, whatever its zone and number of digits; undefined where it is no time. */
export function nanoseconds(timeStamp: string): bigint | undefined {
  const parts = /^(\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d)(?:\.(\d{1,9}))?(Z|[+-]\d\d:\d\d)$/.exec(timeStamp);
  if (parts === null) return undefined;
  const [, seconds = "", fraction = "", zone = ""] = parts;
  const ms = Date.parse(seconds + zone);
  // Days and hours that there are not, such as 30 February, would count on into the next ones.
  const exists = new Date(Date.parse(`${seconds}Z`)).toJSON()?.startsWith(seconds) === true;
  return Number.isNaN(ms) || !exists ? undefined : BigInt(ms) * 1_000_000n + BigInt(fraction.padEnd(9, "0"));
}
