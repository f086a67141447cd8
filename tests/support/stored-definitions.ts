/**
 * What an API server stores when it first starts and when our definitions come, kept from one control plane and put into the etcd of each later
 * one: the API server finds its roles and definitions there, and serves our kinds as soon as it is ready. That saves most of the processor time
 * that a test's clusters take to start. Nothing of it is a cluster's own: no namespace, so no UID that tells clusters apart, no Service and no address.
 */
import { createHash } from "node:crypto";
import {
  access,
  constants,
  mkdir,
  readdir,
  readFile,
  rename,
  rm,
  stat,
  utimes,
  writeFile,
} from "node:fs/promises";
import { join } from "node:path";

import { z } from "zod";

import { startControlPlane } from "../../provider/local-cluster/control-plane";
import { cacheFolder } from "../../provider/local-cluster/folders";
import { withLock } from "../../provider/local-cluster/process-lock";
import { ensureTools } from "../../provider/local-cluster/toolchain";
import { APIService, CustomResourceDefinition } from "../../runtime/api/kubernetes";
import { OWN_KINDS } from "../../runtime/api/crd";
import { KubeClient } from "../../runtime/kube";
import { definitionsDigest } from "../../runtime/plan/installation";
import { objectsBelow, putObjects, storedObject, type StoredObject } from "./etcd";
import { installDefinitions } from "./install-definitions";
import { until } from "./until";

/** Where the API server stores its defaults, which are the same in every cluster. */
const DEFAULTS = [
  "clusterrolebindings",
  "clusterroles",
  "flowschemas",
  "priorityclasses",
  "prioritylevelconfigurations",
  "rolebindings",
  "roles",
].map((plural) => `/registry/${plural}/`);

/** Where it stores which kinds there are. */
const KINDS = ["apiextensions.k8s.io/customresourcedefinitions", "apiregistration.k8s.io/apiservices"].map(
  (kind) => `/registry/${kind}/`,
);

const KEPT_FOR_MS = 7 * 24 * 60 * 60_000;
const content = z.array(storedObject);

/** Puts Kubernetes' defaults and our definitions into the etcd of a control plane before its API server starts; nothing where that fails. */
export async function storeDefinitions(etcdUrl: string): Promise<void> {
  await store(etcdUrl, () => true);
}

/** The same without our definitions. */
export async function storeDefaults(etcdUrl: string): Promise<void> {
  await store(etcdUrl, ({ key }) => !Buffer.from(key, "base64").toString().endsWith("liqo.io"));
}

async function store(etcdUrl: string, wanted: (object: StoredObject) => boolean): Promise<void> {
  try {
    await putObjects(etcdUrl, (await storedObjects()).filter(wanted));
  } catch (error) {
    console.log("the control plane starts without stored definitions:", error);
  }
}

let objects: Promise<StoredObject[]> | undefined;

function storedObjects(): Promise<StoredObject[]> {
  objects ??= keptObjects();
  return objects;
}

/** From the cache; the first process that needs them makes them, and others wait for it. */
async function keptObjects(): Promise<StoredObject[]> {
  const folder = join(cacheFolder(), "stored-definitions");
  const file = join(folder, `${await version()}.json`);
  try {
    await mkdir(folder, { recursive: true });
    await access(folder, constants.W_OK);
  } catch {
    return (await read(file)) ?? (await dump()); // a cache for reading only
  }
  return (
    (await read(file)) ??
    (await withLock(`${file}.lock`, { purpose: "stored definitions" }, async () => {
      const made = await read(file);
      if (made !== undefined) return made;
      const dumped = await dump();
      await writeFile(`${file}.draft`, JSON.stringify(dumped));
      await rename(`${file}.draft`, file);
      await removeUnused(folder);
      return dumped;
    }))
  );
}

/** Changes with the API server, our definitions, and what is kept of both. */
async function version(): Promise<string> {
  const path = (await ensureTools(["kubernetes"])).of("kube-apiserver");
  const { size, mtimeMs } = await stat(path);
  const parts = [path, size, mtimeMs, definitionsDigest(), DEFAULTS, KINDS];
  return createHash("sha256").update(JSON.stringify(parts)).digest("hex").slice(0, 16);
}

async function read(file: string): Promise<StoredObject[] | undefined> {
  try {
    const found = content.parse(JSON.parse(await readFile(file, "utf8")));
    await utimes(file, new Date(), new Date());
    return found;
  } catch {
    return undefined; // not made yet, or damaged
  }
}

/** Of a control plane without controllers, which would add their own. */
async function dump(): Promise<StoredObject[]> {
  const controlPlane = await startControlPlane({ name: "definitions" });
  const client = KubeClient.fromKubeconfig(controlPlane.kubeconfig);
  try {
    await installDefinitions(client);
    await until("the definitions are established and registered", () => areSettled(client));
    const etcd = controlPlane.pids().etcd ?? 0;
    const found = await Promise.all([...DEFAULTS, ...KINDS].map((prefix) => objectsBelow(etcd, prefix)));
    return found.flat();
  } finally {
    client.close();
    await controlPlane.stop();
  }
}

/** Whether each definition and each version of a group has the conditions that it will keep. */
async function areSettled(client: KubeClient): Promise<boolean> {
  const definitions = await client.list(CustomResourceDefinition);
  const services = await client.list(APIService);
  const available = new Set(
    services.filter((service) => isTrue(service, "Available")).map(({ metadata }) => metadata.name),
  );
  return (
    definitions.length === OWN_KINDS.length &&
    definitions.every((each) => isTrue(each, "Established") && isTrue(each, "NamesAccepted")) &&
    OWN_KINDS.every(({ definition: { group, version } }) => available.has(`${version}.${group}`))
  );
}

function isTrue(object: CustomResourceDefinition | APIService, condition: string): boolean {
  const conditions: readonly { type: string; status: string }[] = object.status?.conditions ?? [];
  return conditions.some(({ type, status }) => type === condition && status === "True");
}

/** Of other versions. */
async function removeUnused(folder: string): Promise<void> {
  for (const name of await readdir(folder)) {
    const file = join(folder, name);
    if (Date.now() - (await stat(file)).mtimeMs > KEPT_FOR_MS) await rm(file, { force: true });
  }
}
