/** The etcd of a control plane, by its process: what the API server would not do, or not as fast. */
import assert from "node:assert/strict";
import { randomUUID } from "node:crypto";
import { readFileSync } from "node:fs";

import { z } from "zod";

/** Puts ConfigMaps of 2 kB into etcd as they look after a few writers, in the API server's own form: 10,000 creates would take half a minute. */
export async function fillEtcd(pid: number, namespace: string, count: number): Promise<void> {
  const base64 = (text: string) => Buffer.from(text).toString("base64");
  const managedFields = ["liqo", "kubectl"].map((manager) => ({
    manager,
    operation: "Update",
    apiVersion: "v1",
    time: "2024-01-02T03:04:05Z",
    fieldsType: "FieldsV1",
    fieldsV1: { "f:data": Object.fromEntries(Array.from({ length: 12 }, (_, i) => [`f:field-${i}`, {}])) },
  }));
  const put = (i: number) => {
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
    return { requestPut: { key, value: base64(JSON.stringify(object)) } };
  };
  for (let i = 0; i < count; i += 100) {
    await etcd(pid, "/v3/kv/txn", {
      success: Array.from({ length: Math.min(100, count - i) }, (_, j) => put(i + j)),
    });
  }
}

/** Forgets all history of an etcd, through the gateway on its client address. */
export async function compactEtcd(pid: number): Promise<void> {
  const revision = await etcd(pid, "/v3/kv/range", { key: Buffer.from("a").toString("base64") });
  await etcd(pid, "/v3/kv/compaction", { revision, physical: true });
}

/** A request to the gateway of an etcd. Returns its revision. */
async function etcd(pid: number, path: string, body: unknown): Promise<string> {
  const words = readFileSync(`/proc/${pid}/cmdline`, "utf8").split("\0");
  const url = words.find((word) => word.startsWith("--listen-client-urls="))?.split("=")[1] ?? "";
  const response = await fetch(`${url}${path}`, { method: "POST", body: JSON.stringify(body) });
  assert.equal(response.status, 200, await response.clone().text());
  return z.object({ header: z.object({ revision: z.string() }) }).parse(await response.json()).header
    .revision;
}
