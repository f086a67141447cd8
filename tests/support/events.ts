/** The Kubernetes events about an object. */
import { Event, type KubeObject } from "../../runtime/api";
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

/** Waits for an event of a reason about this very object, not one of its name before it, whose message has the words. */
export async function eventWith(
  client: KubeClient,
  object: KubeObject,
  reason: string,
  words: RegExp,
): Promise<void> {
  const { name, namespace, uid } = object.metadata;
  await until(`event ${reason} about ${object.kind} ${name} with ${words.source}`, async () => {
    const events = await client.list(Event, {
      namespace: namespace ?? "default",
      fieldSelector: `involvedObject.uid=${uid ?? ""},reason=${reason}`,
    });
    return events.some(({ message }) => words.test(message ?? ""));
  });
}
