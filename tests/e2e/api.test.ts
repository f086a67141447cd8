import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { join } from "node:path";

import type { PodSpec } from "kubernetes-types/core/v1";
import { parseAllDocuments } from "yaml";

import {
  Configuration,
  Connection,
  crds,
  CustomResourceDefinition,
  Namespace,
  NamespaceMap,
  OWN_KINDS,
  packageRoot,
  Pod,
  ResourceSlice,
  VirtualNode,
  type Kind,
  type KubeObject,
} from "../../runtime/api";
import { collectionPath, KubeClient, objectPath } from "../../runtime/kube";

import { withoutDefaults } from "../../runtime/virtual-kubelet/pods/shadow-pod-spec";
import { kindOf } from "../support/kind-of";
import { until } from "../support/until";
import { withControlPlanes } from "../support/with-control-planes";
import { CHANGES, CONTRADICTIONS } from "../support/api-samples/changes";
import type { Manifest } from "../support/api-samples/manifest";
import { REFUSALS } from "../support/api-samples/refusals";
import { SAMPLES } from "../support/api-samples/samples";

interface Answer {
  status: number;
  message: string;
  object: Record<string, unknown>;
}

describe("the CRDs in a real API server", function () {
  this.timeout(60_000);
  const controlPlane = withControlPlanes({ rome: { definitions: "absent" } });
  let client: KubeClient;

  /** Sends an object with strict field validation. */
  async function send(
    method: "POST" | "PUT",
    object: Manifest,
    query = "",
    subresource?: string,
  ): Promise<Answer> {
    const kind: Kind<KubeObject> = kindOf(object);
    const path =
      method === "POST"
        ? collectionPath(kind, object.metadata.namespace)
        : objectPath(kind, object.metadata, subresource);
    const { status, body } = await client.raw({
      method,
      path: `${path}?fieldValidation=Strict${query}`,
      headers: { "content-type": "application/json" },
      body: JSON.stringify(object),
    });
    const answer = JSON.parse(body.toString()) as Record<string, unknown>;
    return { status, message: typeof answer.message === "string" ? answer.message : "", object: answer };
  }

  before(async () => {
    client = KubeClient.fromKubeconfig(controlPlane("rome").kubeconfig);
    for (const crd of crds()) {
      const { status, message } = await send("POST", crd);
      assert.equal(status, 201, `${crd.metadata.name}: ${message}`);
    }
    for (const name of ["liqo-tenant-milan", "liqo-tenant-rome"]) {
      await client.create(Namespace, { apiVersion: "v1", kind: "Namespace", metadata: { name } });
    }
  });
  after(() => client.close());

  for (const crd of crds()) {
    it(`serves ${crd.metadata.name} with a structural schema`, async () => {
      const conditions = await until(`${crd.metadata.name} established`, async () => {
        const found = await client.get(CustomResourceDefinition, crd.metadata);
        const all = found?.status?.conditions ?? [];
        return all.some(({ type, status }) => type === "Established" && status === "True") && all;
      });
      assert.deepEqual(conditions.map(({ type, status }) => `${type}=${status}`).sort(), [
        "Established=True",
        "NamesAccepted=True",
      ]);
    });
  }

  it("has a sample for every kind", () => {
    assert.deepEqual(
      SAMPLES.map(({ kind }) => kind).sort(),
      OWN_KINDS.map(({ definition }) => definition.kind).sort(),
    );
  });

  for (const sample of SAMPLES) {
    it(`takes a ${sample.kind} with every field, and keeps each of them`, async () => {
      const kind = kindOf(sample);
      const created = await send("POST", sample);
      assert.equal(created.status, 201, created.message);
      let stored = kind.fromApiServer(created.object);
      if (sample.status !== undefined) {
        const answer = await send("PUT", { ...stored, status: sample.status }, "", "status");
        assert.equal(answer.status, 200, answer.message);
        stored = kind.fromApiServer(answer.object);
      }
      // What our own validation makes of the sample is what the API server stored: same defaults, nothing pruned.
      const { spec, status } = kind.parse(sample) as Manifest;
      assert.deepEqual((stored as Manifest).spec, spec);
      assert.deepEqual((stored as Manifest).status, status);
    });
  }

  for (const { what, object, subresource, message } of REFUSALS) {
    it(`refuses ${object.kind}: ${what}`, async () => {
      const answer =
        subresource === undefined
          ? await send("POST", object, "&dryRun=All")
          : await send("PUT", await withVersion(object), "&dryRun=All", subresource);
      assert.equal(answer.status, 422, JSON.stringify(answer.object));
      assert.match(answer.message, message);
    });
  }

  /** The stored sample's identity with the object's fields. */
  async function withVersion(object: Manifest): Promise<Manifest> {
    const stored = await client.get(kindOf(object), object.metadata);
    assert.ok(stored, `${object.kind} is not stored`);
    return { ...stored, ...object, metadata: stored.metadata };
  }

  for (const { kind, field, change, message } of CHANGES) {
    it(`refuses to change ${kind} ${field}`, async () => {
      const sample = SAMPLES.find((candidate) => candidate.kind === kind);
      assert.ok(sample);
      const changed = structuredClone(await withVersion(sample));
      change(changed);
      const subresource = field.startsWith("status.") ? "status" : undefined;
      const answer = await send("PUT", changed, "&dryRun=All", subresource);
      assert.equal(answer.status, 422, JSON.stringify(answer.object));
      assert.match(answer.message, message);
    });
  }

  for (const { object, message } of CONTRADICTIONS) {
    it(`names values and way out of ${object.kind}: ${message.source}`, async () => {
      const answer = await send("POST", object, "&dryRun=All");
      assert.equal(answer.status, 422, JSON.stringify(answer.object));
      assert.match(answer.message, message);
    });
  }

  for (const name of ["rome", "milan"]) {
    it(`takes every object of the declarative peering at ${name}`, async () => {
      for (const document of parseAllDocuments(
        readFileSync(
          join(packageRoot(), `tests/fixtures/manifests/declarative-peering-${name}.yaml`),
          "utf8",
        ),
      )) {
        const object = document.toJS() as Manifest;
        if (object.kind === "Namespace") continue; // made before the tests
        const { status, message, object: stored } = await send("POST", object, "&dryRun=All");
        assert.equal(status, 201, `${object.kind} ${object.metadata.name}: ${message}`);
        if (object.apiVersion.includes("liqo.io")) {
          const kind = kindOf(object);
          assert.deepEqual(
            (kind.fromApiServer(stored) as Manifest).spec,
            (kind.parse(object) as Manifest).spec,
          );
        }
      }
    });
  }

  it("refuses a NamespaceOffloading of another name", async () => {
    const sample = SAMPLES.find(({ kind }) => kind === "NamespaceOffloading");
    const object = {
      ...structuredClone(sample),
      metadata: { name: "other", namespace: "liqo-tenant-rome" },
    } as Manifest;
    const { status, message } = await send("POST", object, "&dryRun=All");
    assert.equal(status, 422);
    assert.match(message, /NamespaceOffloading name must match offloading/);
  });

  it("drops null where there is no value, as upstream's gateways write it", async () => {
    const stored = await client.get(Connection, { name: "gw-milan", namespace: "liqo-tenant-milan" });
    const status = { value: "Error", latency: { value: "N/A", timestamp: null } };
    const answer = await send("PUT", { ...stored, status } as Manifest, "&dryRun=All", "status");
    assert.equal(answer.status, 200, answer.message);
    assert.deepEqual(answer.object.status, { value: "Error", latency: { value: "N/A" } });
  });

  it("shows the columns of each kind", async () => {
    const cells = async (kind: Kind<KubeObject>) => {
      const { body } = await client.raw({
        path: collectionPath(kind),
        headers: { accept: "application/json;as=Table;v=v1;g=meta.k8s.io" },
      });
      const table = JSON.parse(body.toString()) as {
        columnDefinitions: { name: string; priority: number }[];
        rows: { cells: unknown[] }[];
      };
      return table.columnDefinitions.map(({ name }, index): [string, unknown] => [
        name,
        table.rows[0]?.cells[index],
      ]);
    };
    assert.deepEqual(withoutAge(await cells(ResourceSlice)), [
      ["Name", "mypool"],
      ["Authentication", "Accepted"],
      ["Resources", "Denied"],
    ]);
    assert.deepEqual(withoutAge(await cells(NamespaceMap)), [
      ["Name", "milan"],
      ["Local", "true"],
    ]);
    assert.deepEqual(withoutAge(await cells(VirtualNode)), [
      ["Name", "milan"],
      ["ClusterID", "milan"],
      ["Create Node", true],
      ["VirtualKubelet", "Running"],
      ["Node", "Draining"],
    ]);
    assert.deepEqual(withoutAge(await cells(Configuration)), [
      ["Name", "milan-networks"],
      ["Desired Pod CIDR ", '["10.201.0.0/16"]'],
      ["Remapped Pod CIDR", '["10.73.0.0/16",""]'],
      ["Desired External CIDR", '["10.71.0.0/16"]'],
      ["Remapped External CIDR", '["10.74.0.0/16"]'],
      ["ClusterID", "milan"],
    ]);
  });

  function withoutAge(row: [string, unknown][]): [string, unknown][] {
    return row.filter(([name]) => name !== "Age");
  }

  it("prunes nothing and refuses unknown fields within a pod of a ShadowPod", async () => {
    const sample = SAMPLES.find(({ kind }) => kind === "ShadowPod");
    const object = structuredClone(sample) as Manifest & { spec: { pod: Record<string, unknown> } };
    object.metadata.name = "unknown-field";
    object.spec.pod.hostNetwrok = true;
    const { status, message } = await send("POST", object, "&dryRun=All");
    assert.equal(status, 400);
    assert.match(message, /unknown field "spec\.pod\.hostNetwrok"/);
  });

  it("makes the same pod of a spec without its defaults", async () => {
    const namespace = "liqo-tenant-milan";
    const account: Manifest = {
      apiVersion: "v1",
      kind: "ServiceAccount",
      metadata: { name: "default", namespace },
    };
    await send("POST", account);
    const stored = await storedPod(namespace, {
      containers: [
        {
          name: "app",
          image: "app:1",
          ports: [{ containerPort: 80 }, { containerPort: 53, protocol: "UDP" }],
          livenessProbe: { httpGet: { port: 80 } },
          readinessProbe: { tcpSocket: { port: 80 } },
          startupProbe: { exec: { command: ["true"] } },
        },
      ],
      initContainers: [{ name: "init", image: "init:1", resources: { limits: { cpu: "1" } } }],
      volumes: [
        { name: "secret", secret: { secretName: "s" } },
        { name: "config", configMap: { name: "c" } },
        {
          name: "downward",
          downwardAPI: { items: [{ path: "x", fieldRef: { fieldPath: "metadata.name" } }] },
        },
        { name: "projected", projected: { sources: [{ serviceAccountToken: { path: "token" } }] } },
      ],
    });
    const lean = withoutDefaults(stored);
    assert.ok(JSON.stringify(lean).length < 0.8 * JSON.stringify(stored).length);
    assert.deepEqual(await storedPod(namespace, lean), stored);
  });

  /** The spec that the API server would store. */
  async function storedPod(namespace: string, spec: PodSpec): Promise<PodSpec> {
    const manifest = { apiVersion: "v1", kind: "Pod", metadata: { name: "pod", namespace }, spec };
    const { status, message, object } = await send("POST", manifest, "&dryRun=All");
    assert.equal(status, 201, message);
    return Pod.fromApiServer(object).spec;
  }
});
