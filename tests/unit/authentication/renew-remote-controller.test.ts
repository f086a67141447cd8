import assert from "node:assert/strict";
import { Label, Namespace, Renew, Tenant } from "../../../runtime/api";
import { AuthenticationCaches } from "../../../runtime/authentication/context";
import { runRemoteRenewer } from "../../../runtime/authentication/renew-remote-controller";
import { readFlags, splitCommandLine } from "../../../runtime/component/command-line";
import { authenticationOptions, controllerManagerFlags } from "../../../runtime/controller-manager/flags";
import {
  controlPlaneSubject,
  createCertificateRequest,
  generateKeyPair,
  type KeyPair,
} from "../../../runtime/identity";
import { MemoryApiServer } from "../../support/memory-api-server";
import { type TestContext, testContext } from "../../support/runtime-context";
import { until } from "../../support/until";

const namespace = "guests-from-rome";
const base64 = (text: string) => Buffer.from(text).toString("base64");
const credentials = ({ publicKey, privateKey }: KeyPair) => ({
  publicKey: base64(publicKey),
  csr: base64(createCertificateRequest(controlPlaneSubject("rome"), privateKey)),
});

describe("a key that a Renew brings", function () {
  this.timeout(180_000);
  let server: MemoryApiServer;
  let context: TestContext;
  afterEach(async () => {
    await context.end();
    await server.close();
  });

  it("is taken over, though the tenant namespace is the last that the provider sees", async () => {
    server = await MemoryApiServer.start();
    const [before, after] = [credentials(generateKeyPair()), credentials(generateKeyPair())];
    server.create(Namespace, {
      apiVersion: "v1",
      kind: "Namespace",
      metadata: { name: namespace, labels: { [Label.remoteClusterID]: "rome" } },
    });
    server.create(Tenant, {
      apiVersion: "authentication.liqo.io/v1beta1",
      kind: "Tenant",
      metadata: { name: "rome", namespace, labels: { [Label.remoteClusterID]: "rome" } },
      spec: { clusterID: "rome", ...before },
    });
    server.create(Renew, {
      apiVersion: "authentication.liqo.io/v1beta1",
      kind: "Renew",
      metadata: {
        name: "controlplane-milan",
        namespace,
        labels: {
          [Label.replicated]: "true",
          [Label.replicationOrigin]: "rome",
          [Label.remoteClusterID]: "rome",
        },
      },
      spec: { consumerClusterID: "rome", identityType: "ControlPlane", ...after },
    });
    context = testContext(server.kubeconfig, "test");
    const line = splitCommandLine([
      "controller-manager",
      "--cluster-id=milan",
      "--liqo-namespace=liqo-system",
    ]);
    const options = authenticationOptions(readFlags(line, controllerManagerFlags), context.clock);
    const caches = new AuthenticationCaches(context.informers, options.liqoNamespace);
    const controller = runRemoteRenewer({ runtime: context, caches, options });
    await until("the Renew was looked at", () => controller.idle);
    const key = () => server.get(Tenant, `${namespace}/rome`)?.spec.publicKey;
    assert.equal(key(), before.publicKey);

    server.change(Namespace, namespace, { metadata: { labels: { [Label.tenantNamespace]: "true" } } });
    await until("the Tenant has the new key", () => key() === after.publicKey, { timeoutMs: 10_000 });
  });
});
