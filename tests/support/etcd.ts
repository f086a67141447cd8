/** The etcd of a control plane, by its process: what the API server would not do, or not as fast. */
import assert from "node:assert/strict";
import { randomUUID } from "node:crypto";
import { readFileSync } from "node:fs";

import { z } from "zod";

import { base64 } from "./base64";
import { until } from "./until";

/** Puts ConfigMaps of 2 kB into etcd as they look after a few writers, in the API server's own form: 10,000 creates would take half a minute. */
export async function fillEtcd(pid: number, namespace: string, count: number): Promise<void> {
  const managedFields = ["liqo", "kubectl"].map((manager) => ({
    manager,
    operation: "Update",
    apiVersion: "v1",
    time: "2024-01-02T03:04:05Z",
    fieldsType: "FieldsV1",
    fieldsV1: { "f:data": Object.fromEntries(Array.from({ length: 12 }, (_, i) => [`f:field-${i}`, {}])) },
  }));
  const stored = (i: number): StoredObject => {
    const metadata = {
      name: `many-${i}`,
      namespace,
      uid: randomUUID(),
      creationTimestamp: "2024-01-02T03:04:05Z",
      labels: { app: "many", part: String(i % 10) },
      managedFields,
    };
    const data = Object.fromEntries(
      Array.from({ length: 12 }, (_, field) => [`field-${field}`, `${i} `.repeat(16)]),
    );
    const object = { kind: "ConfigMap", apiVersion: "v1", metadata, data };
    const key = base64(`/registry/configmaps/${namespace}/many-${i}`);
    return { key, value: base64(JSON.stringify(object)) };
  };
  await putObjects(
    clientUrl(pid),
    Array.from({ length: count }, (_, i) => stored(i)),
  );
}

/** An object as an API server stored it; both are base64. */
export const storedObject = z.object({ key: z.string(), value: z.string() });
export type StoredObject = z.output<typeof storedObject>;

/** What is stored below a prefix. */
export async function objectsBelow(pid: number, prefix: string): Promise<StoredObject[]> {
  const end = prefix.slice(0, -1) + String.fromCharCode(prefix.charCodeAt(prefix.length - 1) + 1);
  const { kvs } = await request(clientUrl(pid), "/v3/kv/range", {
    key: base64(prefix),
    range_end: base64(end),
  });
  return kvs;
}

/** Stores objects in an etcd that may just have been started. @throws when it does not take them within `timeoutMs` */
export async function putObjects(
  url: string,
  objects: readonly StoredObject[],
  timeoutMs = 20_000,
): Promise<void> {
  for (const batch of batches(objects)) {
    const body = { success: batch.map((requestPut) => ({ requestPut })) };
    await until("etcd takes objects", () => request(url, "/v3/kv/txn", body), { timeoutMs });
  }
}

/** An etcd takes 128 operations and 1.5 MiB at once. */
function batches(objects: readonly StoredObject[]): StoredObject[][] {
  const batches: StoredObject[][] = [];
  let size = Infinity;
  for (const object of objects) {
    const length = object.key.length + object.value.length;
    if (size + length > 1_000_000 || batches.at(-1)?.length === 128) {
      batches.push([]);
      size = 0;
    }
    batches.at(-1)?.push(object);
    size += length;
  }
  return batches;
}

/** Forgets all history of an etcd, through the gateway on its client address. */
export async function compactEtcd(pid: number): Promise<void> {
  const url = clientUrl(pid);
  const { header } = await request(url, "/v3/kv/range", { key: base64("a") });
  await request(url, "/v3/kv/compaction", { revision: header.revision, physical: true });
}

const answer = z.object({
  header: z.object({ revision: z.string() }),
  kvs: z.array(storedObject).default([]),
});

/** A request to the gateway of an etcd. */
async function request(url: string, path: string, body: unknown): Promise<z.output<typeof answer>> {
  const response = await fetch(`${url}${path}`, { method: "POST", body: JSON.stringify(body) });
  assert.equal(response.status, 200, await response.clone().text());
  return answer.parse(await response.json());
}

function clientUrl(pid: number): string {
  const words = readFileSync(`/proc/${pid}/cmdline`, "utf8").split("\0");
  return words.find((word) => word.startsWith("--listen-client-urls="))?.split("=")[1] ?? "";
}
