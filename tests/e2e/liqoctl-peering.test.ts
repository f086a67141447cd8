import assert from "node:assert/strict";
import { join } from "node:path";

import {
  ForeignCluster,
  Label,
  Namespace,
  NamespaceMap,
  Node,
  Pod,
  Quota,
  ResourceSlice,
  Secret,
  Tenant,
  VirtualNode,
} from "../../runtime/api";
import { isForbidden, KubeClient } from "../../runtime/kube";
import { runLiqoctl } from "../../runtime/liqoctl/program";
import type { Terminal } from "../../runtime/liqoctl/terminal";
import { ended } from "../support/liqoctl";
import { PEER, UNPEER, withLiqoctl } from "../support/liqoctl-pair";
import { until } from "../support/until";

describe("liqoctl", function () {
  this.timeout(120_000);
  const clusters = withLiqoctl();
  const { cli, controlPlane, ok, fails, writesDuring } = clusters;
  let rome: KubeClient;
  let milan: KubeClient;
  before(() => {
    ({ rome, milan } = clusters);
  });

  describe("of two clusters", () => {
    it("peers them, though it was interrupted", async () => {
      await clusters.runtimes.milan.kill("controller-manager");
      const child = cli.start(`${PEER} --verbose`);
      let said = "";
      child.stderr?.on("data", (text: Buffer) => {
        said += text.toString();
        // Once: a second one ends it before it has said what is next.
        if (!child.killed && said.includes("data.nonce is empty")) child.kill("SIGINT");
      });
      const first = await ended(child);
      assert.deepEqual([first.status, /interrupted/.test(first.err)], [1, true], first.err);
      assert.match(first.err, /next: what is done is kept; the same command goes on from here/);
      await fails(
        `${PEER} --timeout 3s`,
        /timed out waiting for the condition; last seen: Secret liqo-nonce: data\.nonce is empty/,
      );

      await clusters.runtimes.milan.startComponent("controller-manager");
      const { err } = await ok(`${PEER} --cpu=8 --memory 16Gi --global-labels team=blue`);
      assert.match(err, /tenant namespace liqo-tenant-milan is there already/);
      assert.match(err, /INFO \(global\) rome is peered with milan/);
      const slice = await rome.get(ResourceSlice, { name: "milan", namespace: "liqo-tenant-milan" });
      assert.deepEqual(slice?.spec.resources, { cpu: "8", memory: "16Gi" });
      assert.equal(slice?.metadata.labels?.team, "blue");
      await until("virtual node Ready", async () =>
        (await rome.get(Node, { name: "milan" }))?.status?.conditions?.some(
          ({ type, status }) => type === "Ready" && status === "True",
        ),
      );
    });

    it("writes nothing when they are peered already", async () => {
      assert.deepEqual(await writesDuring(() => ok(PEER)), []);
      // The amount is the same, its text is not.
      assert.deepEqual(await writesDuring(() => ok(`${PEER} --cpu 8000m --memory 16Gi`)), []);
    });

    it("waits for a virtual node that is still being removed", async () => {
      const ref = { name: "milan", namespace: "liqo-tenant-milan" };
      const before = await rome.get(VirtualNode, ref);
      const held = [...(before?.metadata.finalizers ?? []), "test/hold"];
      await rome.patch(VirtualNode, ref, { metadata: { finalizers: held } }, { type: "merge" });
      await rome.delete(VirtualNode, ref);
      await fails(
        `${PEER} --timeout 3s`,
        /timed out waiting for the condition; last seen: VirtualNode milan is still being removed/,
      );
      await until("only ours holds it", async () => {
        const { finalizers } = (await rome.get(VirtualNode, ref))?.metadata ?? {};
        return finalizers?.length === 1 && finalizers[0] === "test/hold";
      });
      const again = ok(PEER);
      await rome.patch(VirtualNode, ref, { metadata: { finalizers: null } }, { type: "merge" });
      assert.match((await again).err, /INFO \(global\) rome is peered with milan/);
      await until("its successor's node is Ready", async () => {
        const node = await rome.get(Node, { name: "milan" });
        const successor = await rome.get(VirtualNode, ref);
        const isAnother = successor !== undefined && successor.metadata.uid !== before?.metadata.uid;
        return (
          isAnother &&
          node?.status?.conditions?.some(({ type, status }) => type === "Ready" && status === "True")
        );
      });
    });

    it("waits for credentials that are still being removed", async () => {
      const ref = { name: "kubeconfig-controlplane-milan", namespace: "liqo-tenant-milan" };
      const before = await rome.get(Secret, ref);
      assert.ok(before);
      await rome.patch(Secret, ref, { metadata: { finalizers: ["test/hold"] } }, { type: "merge" });
      await rome.delete(Secret, ref);
      await fails(
        `${PEER} --timeout 3s`,
        /timed out waiting for the condition; last seen: Secret kubeconfig-controlplane-milan is still being removed/,
      );
      const again = ok(PEER);
      await rome.patch(Secret, ref, { metadata: { finalizers: null } }, { type: "merge" });
      assert.match((await again).err, /INFO \(global\) rome is peered with milan/);
      const after = await rome.get(Secret, ref);
      assert.ok(after !== undefined && after.metadata.uid !== before.metadata.uid);
    });

    it("tells the state of the peering", async () => {
      const at = async (kubeconfig: string, namespace: string) =>
        JSON.parse((await ok(`info --kubeconfig ${kubeconfig} -n ${namespace} -o json`)).out) as {
          peerings: unknown;
        };
      const healthy = { networkingStatus: "Disabled", authenticationStatus: "Healthy" };
      const peers = await until("both sides are well", async () => {
        const [here, there] = await Promise.all([
          at("rome.kubeconfig", "liqo"),
          at("milan.kubeconfig", "liqo-system"),
        ]);
        const found = [here.peerings, there.peerings];
        return JSON.stringify(found).includes("Unhealthy") || !JSON.stringify(found).includes("Consumer")
          ? undefined
          : found;
      });
      assert.deepEqual(peers, [
        { peers: [{ clusterID: "milan", role: "Provider", ...healthy, offloadingStatus: "Healthy" }] },
        { peers: [{ clusterID: "rome", role: "Consumer", ...healthy, offloadingStatus: "Disabled" }] },
      ]);
      const document = JSON.parse((await ok("info peer milan -o json")).out) as Record<string, unknown>;
      assert.deepEqual(document, {
        milan: {
          info: { clusterID: "milan", role: "Provider" },
          network: { status: "Disabled" },
          authentication: {
            status: "Healthy",
            APIServerAddr: controlPlane("milan").url,
            resourceSlices: [
              {
                name: "milan",
                action: "Consuming",
                accepted: true,
                resources: { cpu: "8", memory: "16Gi", pods: "110", "ephemeral-storage": "20Gi" },
              },
            ],
          },
          offloading: {
            status: "Healthy",
            virtualNodes: [
              {
                name: "milan",
                status: "Healthy",
                secret: "kubeconfig-resourceslice-milan",
                resourceSlice: "milan",
                resources: { cpu: "8", memory: "16Gi", pods: "110", "ephemeral-storage": "20Gi" },
              },
            ],
          },
        },
      });
      assert.equal((await ok("info peer --get info.role")).out, "Provider\n");
      assert.equal(
        (await ok("info peer -g milan.authentication.resourceSlices.0.action")).out,
        "Consuming\n",
      );
      await fails("info peer --get info.rol", /info has no field rol/, /it has: clusterID, role/);
      await fails("info peer milan athens", /has no peer athens/, /its peers are: milan/);
      assert.match((await ok("info")).out, /Active peerings[^]*Cluster ID: +milan/);
    });

    it("goes on with a nonce that the provider made anew", async () => {
      const ofNonce = { labelSelector: Label.nonce };
      const [nonce] = await milan.list(Secret, ofNonce);
      assert.ok(nonce);
      await milan.delete(Secret, nonce.metadata);
      await ok(PEER);
      const [again] = await milan.list(Secret, ofNonce);
      assert.ok(again);
      assert.notEqual(again.data?.nonce, nonce.data?.nonce);
      const [signed] = await rome.list(Secret, { labelSelector: Label.signedNonce });
      assert.equal(signed?.data?.nonce, again.data?.nonce);
    });

    it("refuses to take credentials that are in use", async () => {
      await fails(
        UNPEER.replace("unpeer", "unauthenticate"),
        /rome still asks milan for resources: ResourceSlice liqo-tenant-milan\/milan/,
      );
    });

    it("says what unpeering takes, and asks at a terminal", async () => {
      await ok("offload namespace shop");
      await rome.create(Pod, {
        apiVersion: "v1",
        kind: "Pod",
        metadata: { name: "job", namespace: "shop" },
        spec: { nodeName: "milan", containers: [{ name: "job", image: "pause" }] },
      });
      const words = UNPEER.replace("milan.kubeconfig", join(cli.folder, "milan.kubeconfig")).split(" ");
      const asked: string[] = [];
      const answering = async (answer: string, ...more: string[]) => {
        let err = "";
        const terminal: Terminal = {
          out: () => undefined,
          err: (text) => (err += text),
          environment: { KUBECONFIG: join(cli.folder, "rome.kubeconfig") },
          home: cli.folder,
          workingDirectory: cli.folder,
          interactive: true,
          ask: (question) => {
            asked.push(question);
            return Promise.resolve(answer);
          },
          now: () => performance.now(),
        };
        const status = await runLiqoctl([...words, ...more], terminal, new AbortController().signal);
        return { status, err };
      };
      const before = await rome.list(VirtualNode);
      const what =
        "This removes 1 virtual node (milan) with 1 pod, and what 1 offloaded namespace (shop) has at milan";
      for (const answer of ["", "n", "no"]) {
        const { status, err } = await answering(answer);
        assert.equal(status, 1);
        assert.match(err, /action aborted/);
        assert.deepEqual(asked.splice(0), [`${what}. Go on? [y/N] `]);
      }
      const after = await rome.list(VirtualNode);
      assert.deepEqual(
        after.map(({ metadata }) => [metadata.uid, metadata.deletionTimestamp]),
        before.map(({ metadata }) => [metadata.uid, undefined]),
      );
      assert.equal((await milan.list(ResourceSlice)).length, 1, "nothing is taken after a no");
      const { status, err } = await answering("no", "--skip-confirm");
      assert.equal(status, 0, err);
      assert.match(err, /INFO This removes 1 virtual node \(milan\) with 1 pod/);
      assert.deepEqual([asked, await rome.list(VirtualNode)], [[], []]);
      await ok("unoffload namespace shop --skip-confirm");
      await until("the provider has none of it", async () =>
        (await rome.list(NamespaceMap)).every(
          ({ status }) => Object.keys(status?.currentMapping ?? {}).length === 0,
        ),
      );
      const again = await answering("no");
      assert.deepEqual([again.status, asked], [0, []], `nothing is left to ask for: ${again.err}`);
      await ok(PEER);
    });

    it("unpeers them, once", async () => {
      const { err } = await ok(`${UNPEER} --delete-namespaces`);
      assert.match(err, /INFO This removes 1 virtual node \(milan\) with 0 pods/);
      const left = await Promise.all([
        rome.list(VirtualNode),
        rome.list(ResourceSlice),
        rome.list(Node),
        milan.list(ResourceSlice),
        milan.list(Tenant),
        milan.list(Quota),
      ]);
      assert.deepEqual(
        left.flat().map(({ kind, metadata }) => `${kind} ${metadata.name}`),
        [],
      );
      for (const [client, peer] of [
        [rome, "milan"],
        [milan, "rome"],
      ] as const) {
        assert.equal(await client.get(Namespace, { name: `liqo-tenant-${peer}` }), undefined);
        await until(
          `${peer} has no role`,
          async () => (await client.get(ForeignCluster, { name: peer }))?.status?.role === "Unknown",
        );
      }
      assert.deepEqual(await writesDuring(() => ok(`${UNPEER} --delete-namespaces`)), []);
    });
  });

  describe("for a consumer's administrator who is not the provider's", () => {
    const MAKE =
      "generate peering-user --consumer-cluster-id rome --kubeconfig milan.kubeconfig --liqo-namespace liqo-system";
    const TAKE = MAKE.replace("generate", "delete");
    const peer = PEER.replace("milan.kubeconfig", "user.kubeconfig");
    const unpeer = UNPEER.replace("milan.kubeconfig", "user.kubeconfig");
    let user: KubeClient;
    after(() => user?.close());

    it("makes a user who may peer and no more", async () => {
      const { out, err } = await ok(MAKE);
      assert.doesNotMatch(err, /PRIVATE KEY|client-key-data/);
      cli.write("user.kubeconfig", out);
      user = KubeClient.fromKubeconfig(out, { userAgent: "test" });
      assert.deepEqual([user.server, user.namespace], [controlPlane("milan").url, "liqo-tenant-rome"]);
      const forbidden = (work: Promise<unknown>) =>
        assert.rejects(work, (error: unknown) => isForbidden(error));
      await forbidden(user.list(Secret, { namespace: "liqo-system" }));
      await forbidden(user.list(Namespace));
      await forbidden(user.list(Tenant));
      await forbidden(user.list(ResourceSlice, { namespace: "liqo-tenant-rome" }));
      assert.deepEqual(await user.list(Tenant, { namespace: "liqo-tenant-rome" }), []);
    });

    it("makes no second one, and none for the cluster itself", async () => {
      await fails(MAKE, /there is a peering user of rome already/, /next: .*liqoctl delete peering-user/);
      await fails(MAKE.replace(" rome", " milan"), /milan is the ID of the cluster itself/);
      await fails(
        MAKE.replace(" rome ", " turin ").replace("liqo-system", "elsewhere"),
        /Liqo is not installed in namespace elsewhere/,
      );
    });

    it("peers and unpeers by that user", async () => {
      await ok(peer);
      assert.equal((await milan.list(Tenant)).length, 1);
      assert.deepEqual(await writesDuring(() => ok(peer)), []);
      await ok(unpeer);
      assert.deepEqual(await milan.list(Tenant), []);
      assert.deepEqual(await rome.list(ResourceSlice), []);
    });

    it("takes the user's rights away, once", async () => {
      await ok(TAKE);
      await until("the user has no rights left", () =>
        user.list(Tenant, { namespace: "liqo-tenant-rome" }).then(() => false, isForbidden),
      );
      assert.deepEqual(await writesDuring(() => ok(TAKE)), []);
      assert.match((await ok(TAKE)).err, /no peering user of rome is there/);
    });
  });
});
