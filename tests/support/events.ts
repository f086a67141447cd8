/** The Kubernetes events about an object. */
import { Event } from "../../runtime/api";
import type { KubeClient } from "../../runtime/kube";
import { until } from "./until";

/** Waits for an event of a reason about an object; returns its message. */
export async function eventAbout(
  client: KubeClient,
  object: { kind: string; name: string; namespace?: string },
  reason: string,
): Promise<string> {
  return await until(`event ${reason} about ${object.kind} ${object.name}`, async () => {
    const events = await client.list(Event, {
      namespace: object.namespace ?? "default",
      fieldSelector: `involvedObject.name=${object.name},involvedObject.kind=${object.kind},reason=${reason}`,
    });
    return events.at(-1)?.message;
  });
}
