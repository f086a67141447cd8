import assert from "node:assert/strict";
import { generateKeyPairSync } from "node:crypto";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

import { parse, stringify } from "yaml";

import { downCluster, upCluster } from "../../provider/local-cluster/local-clusters";
import { localImages } from "../../provider/local-cluster/local-images";
import { runCommand } from "../../provider/local-cluster/run-command";
import type { RunningCluster } from "../../provider/local-cluster/running-cluster";
import { ensureTools } from "../../provider/local-cluster/toolchain";
import {
  ForeignCluster,
  NamespaceMap,
  Node,
  Pod,
  Quota,
  ResourceSlice,
  VirtualNode,
} from "../../runtime/api";
import { createCertificateRequest } from "../../runtime/identity";
import { KubeClient } from "../../runtime/kube";
import {
  CONSUMER_NAMESPACE,
  MANIFESTS,
  NAMESPACES,
  PROVIDER_NAMESPACE,
  type Side,
  USER,
} from "../support/seed-001-manifests";
import { addedNamespaces, installRuntime } from "../support/installed-runtime";
import { ownCheckout } from "../support/local-checkout";
import { until } from "../support/until";

const ORDERS: Record<string, (keyof typeof MANIFESTS)[]> = {
  "as the guide has it": ["roleBinding", "tenant", "secret", "resourceSlice", "namespaceOffloading"],
  "from the end": ["namespaceOffloading", "resourceSlice", "secret", "tenant", "roleBinding"],
  "the consumer first": ["secret", "namespaceOffloading", "resourceSlice", "roleBinding", "tenant"],
  "the rights last": ["resourceSlice", "tenant", "secret", "namespaceOffloading", "roleBinding"],
};

describe("the declarative peering of seed 001, applied with kubectl on real clusters", function () {
  this.timeout(4 * 60_000);
  ownCheckout("s1");
  const folder = mkdtempSync(join(tmpdir(), "pulumi-liqo-seed-001-"));
  let clusters: Record<Side, RunningCluster>;
  let clients: Record<Side, KubeClient>;
  let image: string;
  let kubectlPath: string;
  let kubeconfigOfUser: string;
  let expected: unknown;

  const kubectl = (side: Side, ...words: string[]) =>
    runCommand(kubectlPath, ["--kubeconfig", join(folder, `${side}.kubeconfig`), ...words], {
      timeoutMs: 60_000,
    });
  const apply = async (side: Side, text: string) => {
    const file = join(folder, `${side}.yaml`);
    writeFileSync(file, text, { mode: 0o600 });
    await kubectl(side, "apply", "-f", file);
  };

  before(async function () {
    this.timeout(40 * 60_000); // the first run on a machine builds the tools
    const progress = (line: string) => console.log(`    ${line}`);
    kubectlPath = (await ensureTools(["kubernetes", "etcd", "coredns"], { progress })).of("kubectl");
    const images = await localImages(progress);
    image = images.busybox.name;
    const archives = [images.runtime.file, images.busybox.file];
    const [rome, milan] = await Promise.all([
      upCluster(
        { name: "rome", podCidr: "10.41.0.0/16", serviceCidr: "10.141.0.0/16", images: archives },
        { progress },
      ),
      upCluster(
        { name: "milan", podCidr: "10.42.0.0/18", serviceCidr: "10.142.0.0/20", images: archives },
        { progress },
      ),
    ]);
    clusters = { rome, milan };
    clients = {
      rome: KubeClient.fromKubeconfig(rome.kubeconfig),
      milan: KubeClient.fromKubeconfig(milan.kubeconfig),
    };
    for (const [side, { kubeconfig }] of Object.entries(clusters)) {
      writeFileSync(join(folder, `${side}.kubeconfig`), kubeconfig, { mode: 0o600 });
    }
    await Promise.all([
      installRuntime(clients.rome, {
        clusterId: "rome",
        namespace: "liqo",
        image: images.runtime.name,
        apiServer: { address: rome.peerApiServerUrl },
      }),
      installRuntime(clients.milan, {
        clusterId: "milan",
        namespace: "liqo-system",
        image: images.runtime.name,
        apiServer: { address: milan.peerApiServerUrl },
      }),
    ]);
    kubeconfigOfUser = await signedUser();
  });
  after(async () => {
    clients?.rome.close();
    clients?.milan.close();
    rmSync(folder, { recursive: true, force: true });
    await Promise.all([downCluster("rome"), downCluster("milan")]);
  });

  afterEach(() => remove());

  for (const [name, order] of Object.entries(ORDERS)) {
    it(`ends in the same peering: ${name}`, async () => {
      await apply("rome", NAMESPACES.rome);
      await apply("milan", NAMESPACES.milan);
      for (const key of order) {
        const manifest = MANIFESTS[key];
        assert.ok(manifest);
        const text = manifest.text.replace(
          "<BASE64_KUBECONFIG_USER>",
          Buffer.from(kubeconfigOfUser).toString("base64"),
        );
        await apply(manifest.side, text);
      }
      const begin = performance.now();
      await until("virtual node mynode Ready", async () =>
        (await clients.rome.get(Node, { name: "mynode" }))?.status?.conditions?.some(
          ({ type, status }) => type === "Ready" && status === "True",
        ),
      );
      console.log(`    virtual node Ready after ${((performance.now() - begin) / 1000).toFixed(1)} s`);
      await kubectl(
        "rome",
        ...["wait", "namespaceoffloading/offloading", "-n", "shop", "--timeout=60s"],
        "--for=jsonpath={.status.offloadingPhase}=Ready",
      );
      await runsAtMilan();

      const state = await peeringState();
      expected ??= state;
      assert.deepEqual(state, expected);
    });
  }

  /** A pod for the virtual node, as the documents write it. */
  async function runsAtMilan(): Promise<void> {
    await apply(
      "rome",
      stringify({
        apiVersion: "v1",
        kind: "Pod",
        metadata: { name: "test-offload", namespace: "shop" },
        spec: {
          nodeSelector: { "liqo.io/type": "virtual-node" },
          tolerations: [{ key: "virtual-node.liqo.io/not-allowed", operator: "Exists", effect: "NoExecute" }],
          terminationGracePeriodSeconds: 0,
          containers: [{ name: "app", image, command: ["sh", "-c", "sleep 3600"] }],
        },
      }),
    );
    await kubectl("rome", "wait", "pod/test-offload", "-n", "shop", "--for=condition=Ready", "--timeout=60s");
    const remote = await clients.milan.get(Pod, { name: "test-offload", namespace: "shop-rome" });
    assert.equal(remote?.spec.nodeName, "milan-1");
    assert.equal(remote.status?.phase, "Running");
  }

  /** What a peering is, without what differs each time: times, identifiers, certificates. */
  async function peeringState(): Promise<unknown> {
    const { rome, milan } = clients;
    const names = { rome: "mynode", milan: "mynode" };
    const slice = async (side: Side, namespace: string) => {
      const object = await clients[side].get(ResourceSlice, { name: names[side], namespace });
      const { conditions, resources, nodeLabels } = object?.status ?? {};
      return {
        labels: object?.metadata.labels,
        conditions: conditions?.map(({ type, status, reason }) => `${type} ${status} ${reason}`).sort(),
        resources,
        nodeLabels,
      };
    };
    const peer = async (side: Side, name: string) => {
      const { role, modules, tenantNamespace } =
        (await clients[side].get(ForeignCluster, { name }))?.status ?? {};
      return {
        role,
        tenantNamespace,
        modules: Object.entries(modules ?? {}).map(([module, { enabled, conditions }]) => ({
          module,
          enabled,
          conditions: conditions?.map(({ type, status, reason }) => `${type} ${status} ${reason}`).sort(),
        })),
      };
    };
    await until("both sides settled", async () => {
      const settled = (await peer("rome", "milan")).modules.every(({ conditions = [] }) =>
        conditions.every((condition) => /^\S+ (Ready|Established) /.test(condition)),
      );
      return settled;
    });
    const node = await rome.get(VirtualNode, { name: "mynode", namespace: CONSUMER_NAMESPACE });
    const quotas = await milan.list(Quota);
    const maps = await milan.list(NamespaceMap);
    return {
      slices: [await slice("rome", CONSUMER_NAMESPACE), await slice("milan", PROVIDER_NAMESPACE)],
      peers: [await peer("rome", "milan"), await peer("milan", "rome")],
      virtualNode: {
        clusterID: node?.spec.clusterID,
        quota: node?.spec.resourceQuota,
        conditions: node?.status?.conditions?.map(({ type, status }) => `${type} ${status}`).sort(),
      },
      quotas: quotas.map(({ metadata: { name, namespace }, spec }) => ({ name, namespace, spec })),
      maps: maps.map(({ metadata: { name, namespace }, spec, status }) => ({
        name,
        namespace,
        spec,
        mapping: status?.currentMapping,
      })),
    };
  }

  async function remove(): Promise<void> {
    await kubectl("rome", "delete", "pod/test-offload", "-n", "shop", "--timeout=60s");
    await kubectl("rome", "delete", "namespaceoffloading/offloading", "-n", "shop", "--timeout=60s");
    await kubectl(
      "rome",
      "delete",
      "resourceslices.authentication.liqo.io/mynode",
      "-n",
      CONSUMER_NAMESPACE,
      "--timeout=60s",
    );
    await until(
      "virtual node gone",
      async () => (await clients.rome.get(Node, { name: "mynode" })) === undefined,
    );
    await kubectl("rome", "delete", "secret/cplane-secret", "-n", CONSUMER_NAMESPACE, "--timeout=60s");
    await kubectl("milan", "delete", "tenant/my-tenant", "-n", PROVIDER_NAMESPACE, "--timeout=60s");
    await kubectl("rome", "delete", `namespace/${CONSUMER_NAMESPACE}`, "namespace/shop", "--timeout=60s");
    await kubectl("milan", "delete", `namespace/${PROVIDER_NAMESPACE}`, "--timeout=60s");
    assert.deepEqual(await addedNamespaces(clients.rome), ["liqo"]);
    assert.deepEqual(await addedNamespaces(clients.milan), ["liqo-system"]);
  }

  /** A client certificate that the provider's administrator has the cluster sign, and a kubeconfig with it. */
  async function signedUser(): Promise<string> {
    const { privateKey } = generateKeyPairSync("ed25519");
    const key = privateKey.export({ type: "pkcs8", format: "pem" }).toString();
    const request = createCertificateRequest({ commonName: USER, organization: "guests" }, key);
    await apply(
      "milan",
      stringify({
        apiVersion: "certificates.k8s.io/v1",
        kind: "CertificateSigningRequest",
        metadata: { name: USER },
        spec: {
          request: Buffer.from(request).toString("base64"),
          signerName: "kubernetes.io/kube-apiserver-client",
          usages: ["client auth"],
        },
      }),
    );
    await kubectl("milan", "certificate", "approve", USER);
    const certificate = await until("the signed certificate", async () =>
      (await kubectl("milan", "get", "csr", USER, "-o", "jsonpath={.status.certificate}")).trim(),
    );
    const administrator = parse(clusters.milan.kubeconfig) as {
      clusters: [{ cluster: { "certificate-authority-data": string } }];
    };
    return stringify({
      apiVersion: "v1",
      kind: "Config",
      "current-context": "milan",
      contexts: [{ name: "milan", context: { cluster: "milan", user: USER } }],
      clusters: [
        {
          name: "milan",
          cluster: {
            server: clusters.milan.peerApiServerUrl,
            "certificate-authority-data": administrator.clusters[0].cluster["certificate-authority-data"],
          },
        },
      ],
      users: [
        {
          name: USER,
          user: {
            "client-certificate-data": certificate,
            "client-key-data": Buffer.from(key).toString("base64"),
          },
        },
      ],
    });
  }
});
