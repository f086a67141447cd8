import assert from "node:assert/strict";

import type * as pulumi from "@pulumi/pulumi";
import type { Stack } from "@pulumi/pulumi/automation";

import { IdentityCredentials, NonceRead, TenantCredentials } from "../../provider";
import { ClusterRole, DataKey, Name, Namespace, Secret, Tenant } from "../../runtime/api";
import { startAuthentication } from "../../runtime/authentication/start";
import { parseCertificate, publicKeyDer, readPublicKey, verifyNonce } from "../../runtime/identity";
import {
  nonceData,
  nonceSecret,
  type PeeringSides,
  signedNonceSecret,
  tenant,
  tenantNamespace,
} from "../../runtime/plan/peering";
import { installDefinitions } from "../support/install-definitions";
import { pulumiProject, type PulumiProject } from "../support/pulumi-project";
import { testContext, type TestContext } from "../support/runtime-context";
import { until } from "../support/until";
import { withControlPlanes } from "../support/with-control-planes";

const sides: PeeringSides = {
  consumer: { clusterId: "rome", tenantNamespace: "peer-milan" },
  provider: { clusterId: "milan", tenantNamespace: "liqo-tenant-rome" },
};
const liqoNamespaces = { rome: "liqo", milan: "liqo-system" } as const;
const manager = { fieldManager: "test", force: true };

interface Outputs {
  nonce: string;
  publicKey: string;
  csr: string;
  signature: string;
  authParams: { apiServer?: string; signedCRT?: string };
  tenantNamespace: string;
}

describe("the handshake's steps, on the real engine and with the real controllers", function () {
  this.timeout(300_000);
  const controlPlane = withControlPlanes({
    rome: { serviceCidr: "10.81.0.0/16" },
    milan: { serviceCidr: "10.92.0.0/16", controllerManager: true },
  });
  const runtimes = new Map<string, TestContext>();
  let project: PulumiProject;

  before(async function () {
    this.timeout(30 * 60_000);
    project = await pulumiProject("handshake", { progress: console.log });
    await Promise.all([startCluster("rome"), startCluster("milan")]);
    await clientOf("rome").apply(
      Namespace,
      tenantNamespace(sides.consumer.tenantNamespace, "milan"),
      manager,
    );
    await clientOf("milan").apply(
      Namespace,
      tenantNamespace(sides.provider.tenantNamespace, "rome"),
      manager,
    );
  });
  after(async () => {
    await Promise.all([...runtimes.values()].map((runtime) => runtime.end()));
    project?.remove();
  });

  async function startCluster(clusterId: "rome" | "milan"): Promise<void> {
    const runtime = testContext(controlPlane(clusterId).kubeconfig, clusterId);
    runtimes.set(clusterId, runtime);
    await installDefinitions(runtime.client);
    const liqoNamespace = liqoNamespaces[clusterId];
    await runtime.client.apply(Namespace, namespace(liqoNamespace), manager);
    for (const name of ["remote-controlplane", "virtual-kubelet-remote-clusterwide"]) {
      const metadata = { name: `liqo-${name}`, labels: { "app.kubernetes.io/name": name } };
      const role = { apiVersion: "rbac.authorization.k8s.io/v1", kind: "ClusterRole", metadata } as const;
      await runtime.client.apply(ClusterRole, { ...role, rules: [] }, manager);
    }
    await startAuthentication(runtime, {
      clusterId,
      liqoNamespace,
      tlsCompatibilityMode: false,
      endpoint: {
        addressOverride: controlPlane(clusterId).url,
        caOverride: Buffer.from(controlPlane(clusterId).caCertificate).toString("base64"),
        trustedCa: false,
      },
      defaultClass: {
        enabled: true,
        defaultResources: {},
        clusterLabels: {},
        ingressClasses: [],
        loadBalancerClasses: [],
        storageEnabled: false,
        realStorageClassName: "",
      },
      limitsEnforcement: "None",
      global: { labels: {}, annotations: {} },
      offloadingEnabled: false,
    });
  }

  function clientOf(clusterId: string) {
    const runtime = runtimes.get(clusterId);
    assert.ok(runtime);
    return runtime.client;
  }

  /** The steps up to one, as a program. */
  const steps = (last: 1 | 2 | 3) => () => {
    const consumer = controlPlane("rome").kubeconfig;
    const provider = controlPlane("milan").kubeconfig;
    const outputs: Record<string, pulumi.Output<unknown>> = {};
    const read = new NonceRead("nonce", { kubeconfig: provider, namespace: sides.provider.tenantNamespace });
    outputs["nonce"] = read.nonce;
    if (last === 1) return Promise.resolve(outputs);
    const shown = new TenantCredentials("tenant", {
      kubeconfig: consumer,
      clusterID: "rome",
      liqoNamespace: liqoNamespaces.rome,
      namespace: sides.consumer.tenantNamespace,
      nonce: read.nonce,
    });
    Object.assign(outputs, { publicKey: shown.publicKey, csr: shown.csr, signature: shown.signature });
    if (last === 2) return Promise.resolve(outputs);
    const got = new IdentityCredentials("identity", {
      kubeconfig: provider,
      namespace: sides.provider.tenantNamespace,
      name: "rome",
      csr: shown.csr,
    });
    return Promise.resolve({ ...outputs, authParams: got.authParams, tenantNamespace: got.tenantNamespace });
  };
  const upTo = (last: 1 | 2 | 3) => project.stack("rome-milan", steps(last));
  let outputs: Partial<Outputs> = {};

  it("the nonce is read when the provider's controllers made it", async () => {
    const up = (await upTo(1)).up();
    setTimeout(() => void clientOf("milan").apply(Secret, nonceSecret(sides), manager), 1_500);
    outputs = valuesOf(await up);
    assert.equal(outputs.nonce?.length, 88);
  });

  it("the consumer's credentials are made when its controllers signed the nonce", async () => {
    const up = (await upTo(2)).up();
    const signed = { ...signedNonceSecret(sides), data: nonceData(outputs.nonce ?? "") };
    setTimeout(() => void clientOf("rome").apply(Secret, signed, manager), 1_500);
    outputs = valuesOf(await up);
    const publicKey = Buffer.from(outputs.publicKey ?? "", "base64");
    assert.equal(
      verifyNonce(outputs.nonce ?? "", Buffer.from(outputs.signature ?? "", "base64"), publicKey),
      true,
    );
  });

  it("the provider's credentials are read when it accepted the tenant", async () => {
    const up = (await upTo(3)).up();
    const { publicKey = "", csr = "", signature = "" } = outputs;
    const accepted = tenant(sides, { publicKey, csr, signature });
    setTimeout(() => void clientOf("milan").apply(Tenant, accepted, manager), 1_500);
    outputs = valuesOf(await up);
    assert.equal(outputs.tenantNamespace, sides.provider.tenantNamespace);
    assert.equal(outputs.authParams?.apiServer, controlPlane("milan").url);
    const certificate = parseCertificate(Buffer.from(outputs.authParams?.signedCRT ?? "", "base64"));
    assert.deepEqual([certificate.commonName, certificate.organizations], ["rome", ["liqo.io"]]);
    const shown = readPublicKey(Buffer.from(publicKey, "base64"));
    assert.deepEqual(publicKeyDer(certificate.publicKey), publicKeyDer(shown));
  });

  it("nothing changes any more, and a refresh finds nothing", async () => {
    const stack = await upTo(3);
    await stack.preview({ expectNoChanges: true });
    await stack.refresh({ expectNoChanges: true });
    await stack.preview({ expectNoChanges: true });
  });

  it("the stored state holds neither private key nor nonce nor credentials nor kubeconfig in clear text", async () => {
    const stored = project.stateFile("rome-milan");
    const keys = await clientOf("rome").get(Secret, {
      name: Name.clusterKeys,
      namespace: liqoNamespaces.rome,
    });
    const privateKey = Buffer.from(keys?.data?.[DataKey.privateKey] ?? "", "base64").toString();
    const secrets = [
      privateKey,
      JSON.stringify(privateKey).slice(1, -1),
      outputs.nonce,
      outputs.authParams?.signedCRT,
    ];
    for (const secret of [...secrets, "client-key-data", "certificate-authority-data"]) {
      assert.ok(secret !== undefined && secret.length > 10 && !stored.includes(secret), secret);
    }
    assert.ok(stored.includes(outputs.publicKey ?? "missing"), "the state is the one looked at");
  });

  it("a nonce made anew is found by a refresh, and everything follows it", async () => {
    const milan = clientOf("milan");
    await milan.delete(Secret, { name: Name.nonceSecret, namespace: sides.provider.tenantNamespace });
    await milan.apply(Secret, nonceSecret(sides), manager);
    const fresh = await until("the new nonce", async () => {
      const ref = { name: Name.nonceSecret, namespace: sides.provider.tenantNamespace };
      return (await milan.get(Secret, ref))?.data?.[DataKey.nonce];
    });
    const stack = await upTo(3);
    await stack.refresh();
    const up = stack.up();
    const signed = { ...signedNonceSecret(sides), data: { [DataKey.nonce]: fresh } };
    setTimeout(() => void clientOf("rome").apply(Secret, signed, manager), 1_500);
    const after = valuesOf(await up);
    assert.equal(after.nonce, Buffer.from(fresh, "base64").toString());
    assert.notEqual(after.signature, outputs.signature);
    assert.equal(after.csr, outputs.csr);
    await stack.preview({ expectNoChanges: true });
  });

  it("a tenant that is gone is found by a refresh", async () => {
    const milan = clientOf("milan");
    const ref = { name: "rome", namespace: sides.provider.tenantNamespace };
    await milan.delete(Tenant, ref);
    await until("the tenant's absence", async () => (await milan.get(Tenant, ref)) === undefined);
    const stack = await upTo(3);
    assert.equal((await stack.refresh()).summary.resourceChanges?.["delete"], 1);
  });

  it("a destroy asks no cluster", async () => {
    await Promise.all([...runtimes.values()].map((runtime) => runtime.end()));
    await controlPlane("milan").stop();
    await (await upTo(3)).destroy();
  });
});

function namespace(name: string) {
  return { apiVersion: "v1", kind: "Namespace", metadata: { name } } as const;
}

function valuesOf(result: Awaited<ReturnType<Stack["up"]>>): Partial<Outputs> {
  return Object.fromEntries(
    Object.entries(result.outputs).map(([name, output]) => [name, output.value as unknown]),
  );
}
