/** Reads an API server's audit log (JSON lines, level Metadata, stage ResponseComplete). */
import { readFileSync } from "node:fs";
import { z } from "zod";

const auditEvent = z.object({
  verb: z.string(),
  user: z.object({ username: z.string() }),
  userAgent: z.string().optional(),
  objectRef: z
    .object({
      resource: z.string().optional(),
      subresource: z.string().optional(),
      namespace: z.string().optional(),
      name: z.string().optional(),
    })
    .optional(),
  responseStatus: z.object({ code: z.number().optional() }).optional(),
  requestReceivedTimestamp: z.string(),
});

export type AuditEvent = z.infer<typeof auditEvent>;

/** The events received in [from, to) (milliseconds since the epoch). */
export function auditEvents(path: string, from = 0, to = Infinity): AuditEvent[] {
  const events: AuditEvent[] = [];
  for (const line of readFileSync(path, "utf8").split("\n")) {
    if (line === "") continue;
    let value: unknown;
    try {
      value = JSON.parse(line);
    } catch {
      continue; // the last line may be half written
    }
    const event = auditEvent.parse(value);
    const at = Date.parse(event.requestReceivedTimestamp);
    if (at >= from && at < to) events.push(event);
  }
  return events;
}

/** What a request did, for grouping: `patch pods/status`. */
export function describeRequest(event: AuditEvent): string {
  const { resource = "-", subresource } = event.objectRef ?? {};
  return `${event.verb} ${resource}${subresource === undefined ? "" : `/${subresource}`}`;
}

/** How often each kind of request occurs, most frequent first. */
export function countRequests(events: readonly AuditEvent[], of = describeRequest): Array<[string, number]> {
  const counts = new Map<string, number>();
  for (const event of events) counts.set(of(event), (counts.get(of(event)) ?? 0) + 1);
  return [...counts].sort((a, b) => b[1] - a[1]);
}
