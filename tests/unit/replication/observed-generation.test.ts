import assert from "node:assert/strict";

import {
  CertificateSigningRequest,
  DataKey,
  type Desired,
  Label,
  Namespace,
  ResourceSlice,
  Secret,
  Tenant,
} from "../../../runtime/api";
import { readFlags, splitCommandLine } from "../../../runtime/component/command-line";
import { startControllers } from "../../../runtime/controller-manager/component";
import { controllerManagerFlags } from "../../../runtime/controller-manager/flags";
import { createCertificateAuthority } from "../../../runtime/identity/serving-certificate";
import { MemoryApiServer } from "../../support/memory-api-server";
import { type TestContext, testContext } from "../../support/runtime-context";
import { until } from "../../support/until";

const base64 = (text: string) => Buffer.from(text).toString("base64");

describe("status.observedGeneration of a slice, which counts on both sides by itself", function () {
  this.timeout(180_000);
  let rome: MemoryApiServer;
  let milan: MemoryApiServer;
  const contexts: TestContext[] = [];
  let signing: NodeJS.Timeout;

  before(async () => {
    [rome, milan] = await Promise.all([MemoryApiServer.start(), MemoryApiServer.start()]);
    namespace(rome, "to-milan", "milan");
    namespace(milan, "guests-from-rome", "rome");
    milan.create(Tenant, {
      apiVersion: "authentication.liqo.io/v1beta1",
      kind: "Tenant",
      metadata: { name: "rome", namespace: "guests-from-rome", labels: { [Label.remoteClusterID]: "rome" } },
      spec: { clusterID: "rome", authzPolicy: "TolerateNoHandshake" },
    });
    rome.create(Secret, {
      apiVersion: "v1",
      kind: "Secret",
      metadata: {
        name: "cplane",
        namespace: "to-milan",
        labels: { [Label.identityType]: "ControlPlane", [Label.remoteClusterID]: "milan" },
        annotations: { "liqo.io/remote-tenant-namespace": "guests-from-rome" },
      },
      data: { [DataKey.kubeconfig]: base64(milan.kubeconfig) },
    });
    const now = Date.now();
    const { certificate } = createCertificateAuthority(
      { commonName: "pool", organization: "rome" },
      { notBefore: new Date(now), notAfter: new Date(now + 3_600_000) },
    );
    signing = setInterval(() => {
      for (const { metadata, status } of milan.list(CertificateSigningRequest))
        if (!status?.certificate)
          milan.change(
            CertificateSigningRequest,
            metadata.name,
            {
              status: {
                conditions: [{ type: "Approved", status: "True" }],
                certificate: base64(certificate),
              },
            },
            "status",
          );
    }, 20);
    await Promise.all([start(rome, "rome"), start(milan, "milan")]);
  });
  after(async () => {
    clearInterval(signing);
    for (const context of contexts) await context.end();
    await Promise.all([rome.close(), milan.close()]);
  });

  function namespace(server: MemoryApiServer, name: string, peer: string): void {
    const labels = { [Label.tenantNamespace]: "true", [Label.remoteClusterID]: peer };
    server.create(Namespace, { apiVersion: "v1", kind: "Namespace", metadata: { name, labels } });
  }

  async function start(server: MemoryApiServer, clusterId: string): Promise<void> {
    const context = testContext(server.kubeconfig, clusterId);
    contexts.push(context);
    const line = splitCommandLine([
      "controller-manager",
      `--cluster-id=${clusterId}`,
      "--liqo-namespace=liqo",
      "--api-server-address-override=https://10.0.0.2:6443",
      "--networking-enabled=false",
      "--offloading-enabled=false",
      "--foreign-cluster-ping-interval=0",
    ]);
    await startControllers(context, readFlags(line, controllerManagerFlags));
  }

  it("is that of the consumer's spec as soon as the provider has answered that, and no sooner", async () => {
    const slice: Desired<ResourceSlice> = {
      apiVersion: "authentication.liqo.io/v1beta1",
      kind: "ResourceSlice",
      metadata: {
        name: "pool",
        namespace: "to-milan",
        labels: {
          [Label.replication]: "true",
          [Label.replicationDestination]: "milan",
          [Label.remoteClusterID]: "milan",
        },
      },
      spec: { class: "default", providerClusterID: "milan", resources: { cpu: "7" } },
    };
    rome.create(ResourceSlice, slice);
    for (const cpu of ["7", "6", "5"]) {
      rome.change(ResourceSlice, "to-milan/pool", { spec: { resources: { cpu } } });
      await until(`${cpu} CPUs are granted`, () => {
        const { metadata, status } = rome.get(ResourceSlice, "to-milan/pool") ?? {};
        if (status?.observedGeneration !== metadata?.generation) return false;
        assert.equal(status?.resources?.cpu, cpu);
        return true;
      });
    }
    const [source, copy] = [
      rome.get(ResourceSlice, "to-milan/pool"),
      milan.get(ResourceSlice, "guests-from-rome/pool"),
    ];
    assert.equal(copy?.status?.observedGeneration, copy?.metadata.generation);
    assert.notEqual(source?.metadata.generation, copy?.metadata.generation);
  });
});
