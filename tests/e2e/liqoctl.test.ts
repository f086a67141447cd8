import assert from "node:assert/strict";
import { join } from "node:path";

import {
  Deployment,
  type Desired,
  Event,
  ForeignCluster,
  Label,
  Namespace,
  NamespaceMap,
  NamespaceOffloading,
  Node,
  Pod,
  Quota,
  ResourceSlice,
  Secret,
  ShadowPod,
  Tenant,
  VirtualNode,
} from "../../runtime/api";
import { isForbidden, KubeClient } from "../../runtime/kube";
import { runLiqoctl } from "../../runtime/liqoctl/program";
import type { Terminal } from "../../runtime/liqoctl/terminal/terminal";
import { deployments } from "../../runtime/plan/deployments";
import { installationDataSchema } from "../../runtime/plan/installation-settings";
import { auditEvents } from "../support/audit-log";
import { blocksOf } from "../support/documents";
import { HostRuntime } from "../support/host-runtime";
import { type Ended, ended, Liqoctl } from "../support/liqoctl";
import { until } from "../support/until";
import { withControlPlanes } from "../support/with-control-planes";

const PEER = "peer --remote-kubeconfig milan.kubeconfig --remote-namespace liqo-system --networking-disabled";
const UNPEER = "unpeer --remote-kubeconfig milan.kubeconfig --remote-namespace liqo-system";
const WRITES = ["create", "update", "patch", "delete", "deletecollection"];

describe("liqoctl", function () {
  this.timeout(120_000);
  const cli = new Liqoctl();
  let rome: KubeClient;
  let milan: KubeClient;
  let runtimes: Record<"rome" | "milan", HostRuntime>;

  after(async () => {
    cli.remove();
    await Promise.all(Object.values(runtimes ?? {}).map((runtime) => runtime.stop()));
    [rome, milan].forEach((client) => client?.close());
  });
  const controlPlane = withControlPlanes({
    rome: { controllerManager: true, auditLog: true, serviceCidr: "10.86.0.0/16" },
    milan: { controllerManager: true, auditLog: true, serviceCidr: "10.87.0.0/20" },
  });
  before(async function () {
    this.timeout(180_000);
    const start = (clusterId: "rome" | "milan", namespace: string) => {
      const cluster = controlPlane(clusterId);
      return HostRuntime.start({
        cluster,
        clusterId,
        namespace,
        settings: { apiServer: { address: cluster.url } },
      });
    };
    const [atRome, atMilan] = await Promise.all([start("rome", "liqo"), start("milan", "liqo-system")]);
    runtimes = { rome: atRome, milan: atMilan };
    rome = KubeClient.fromKubeconfig(controlPlane("rome").kubeconfig, { userAgent: "test" });
    milan = KubeClient.fromKubeconfig(controlPlane("milan").kubeconfig, { userAgent: "test" });
    await cli.prepare({ rome: controlPlane("rome").kubeconfig, milan: controlPlane("milan").kubeconfig });
    await rome.create(Deployment, restingControllerManager());
    for (const name of ["shop", "cellar"])
      await rome.create(Namespace, { apiVersion: "v1", kind: "Namespace", metadata: { name } });
  });

  async function ok(line: string): Promise<Ended> {
    const result = await cli.run(line);
    assert.equal(result.status, 0, `liqoctl ${line}\n${result.out}${result.err}`);
    return result;
  }

  async function fails(line: string, ...words: RegExp[]): Promise<Ended> {
    const result = await cli.run(line);
    assert.equal(result.status, 1, `liqoctl ${line}\n${result.out}${result.err}`);
    for (const each of words) assert.match(result.err, each);
    return result;
  }

  /** What liqoctl writes to either cluster meanwhile. */
  async function writesDuring(work: () => Promise<unknown>): Promise<string[]> {
    const from = Date.now();
    await work();
    return (["rome", "milan"] as const).flatMap((name) =>
      auditEvents(controlPlane(name).auditLogPath ?? "", from)
        .filter(({ userAgent, verb }) => userAgent === "liqoctl" && WRITES.includes(verb))
        .map(({ verb, objectRef }) => `${name}: ${verb} ${objectRef?.resource} ${objectRef?.name}`),
    );
  }

  describe("before there is a peering", () => {
    it("says who the cluster is", async () => {
      assert.equal((await ok("info --get clusterid")).out, "rome\n");
      assert.equal((await ok("info -g local.version")).out, "0.1.0-test\n");
      assert.match(
        (await ok("version")).out,
        /^Client version: \d+\.\d+\.\d+\nServer version: 0\.1\.0-test\n$/,
      );
      const { local, health, peerings } = JSON.parse((await ok("info -o json")).out) as Record<
        string,
        unknown
      >;
      assert.deepEqual(local, {
        clusterID: "rome",
        version: "0.1.0-test",
        labels: { region: "europe" },
        APIServerAddr: controlPlane("rome").url,
      });
      assert.deepEqual([health, peerings], [{ healthy: true }, {}]);
    });

    it("names what is wrong with a kubeconfig", async () => {
      cli.write(
        "wrong-port.kubeconfig",
        controlPlane("rome").kubeconfig.replace(/127\.0\.0\.1:\d+/, "127.0.0.1:1"),
      );
      const unknown = await controlPlane("milan").kubeconfigFor({ name: "x" });
      cli.write(
        "stranger.kubeconfig",
        unknown.replace(/127\.0\.0\.1:\d+/, new URL(controlPlane("rome").url).host),
      );
      cli.write("broken.kubeconfig", "clusters: [");
      await fails(
        "info --kubeconfig nowhere.kubeconfig",
        /--kubeconfig nowhere\.kubeconfig: there is no such file/,
      );
      await fails("info --kubeconfig broken.kubeconfig", /broken\.kubeconfig is neither YAML nor JSON/);
      await fails("info --context athens", /has no context "athens"; it has: rome/);
      await fails("info --kubeconfig wrong-port.kubeconfig", /https:\/\/127\.0\.0\.1:1 .* cannot be reached/);
      await fails("info --kubeconfig stranger.kubeconfig", /certificate/);
      await fails("info -n elsewhere", /Liqo is not installed in namespace elsewhere/, /next: .*--namespace/);
      await fails(
        PEER.replace("milan.kubeconfig", "rome.kubeconfig").replace("liqo-system", "liqo"),
        /both kubeconfigs lead to a cluster of the ID rome/,
      );
    });

    it("names what is wrong with a flag", async () => {
      await fails("peer --timeout soon", /--timeout.*'soon' is invalid.*10m/);
      await fails("peer --cpu lots", /--cpu.*'lots' is invalid/);
      await fails("peeer", /unknown command 'peeer'[^]*peer/);
      await fails("info --outptu json", /unknown option '--outptu'[^]*--output/);
      await fails(`${PEER} --resource-slice-class ""`, /class: "" is empty/);
    });

    it("knows no peer of a wrong ID", async () => {
      await fails("info peer athens", /has no peer athens/, /it has no peers at all/);
      await fails(
        "create resourceslice pool --remote-cluster-id athens",
        /no tenant namespace for cluster athens/,
      );
    });

    it("tells that networks can't be connected where there is no networking", async () => {
      await fails(
        PEER.replace("--networking-disabled", ""),
        /installed without networking/,
        /next: .*--networking-disabled/,
      );
    });

    it("unpeers what is not peered, and writes nothing", async () => {
      assert.deepEqual(await writesDuring(() => ok(UNPEER)), []);
    });
  });

  describe("of two clusters", () => {
    it("peers them, though it was interrupted", async () => {
      await runtimes.milan.kill("controller-manager");
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

      await runtimes.milan.startComponent("controller-manager");
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

    it("offloads a namespace, once", async () => {
      const { err } = await ok("offload namespace shop");
      assert.match(err, /namespace shop offloaded/);
      assert.ok(await milan.get(Namespace, { name: "shop-rome" }));
      assert.deepEqual(await writesDuring(() => ok("offload ns shop")), []);
      await fails(
        "offload namespace pantry",
        /namespace pantry does not exist/,
        /kubectl create namespace pantry/,
      );
      await fails("offload namespace", /no namespace is given/);
      const narrowed = await ok("offload namespace cellar --selector liqo.io/remote-cluster-id=athens");
      assert.match(
        narrowed.err,
        /WARN namespace cellar: no cluster is selected; the virtual nodes are milan/,
      );
      const printed = (await ok("offload namespace cellar -o yaml -l 'region in (europe, asia),!spot'")).out;
      assert.match(printed, /operator: In\n +values:\n +- europe\n +- asia[^]*operator: DoesNotExist/);
      await ok("unoffload namespace cellar --skip-confirm");
    });

    it("tells why a namespace cannot be offloaded", async () => {
      await milan.create(Namespace, { apiVersion: "v1", kind: "Namespace", metadata: { name: "cellar" } });
      await fails(
        "offload namespace cellar --namespace-mapping-strategy EnforceSameName",
        /phase AllFailed; milan: CreationLoopBackOff/,
      );
      await ok("unoffload namespace cellar --skip-confirm");
    });

    it("tells that a slice is denied, and why", async () => {
      const provider = "--kubeconfig milan.kubeconfig";
      await fails(`cordon tenant rome ${provider}`, /nobody can be asked/, /next: give --skip-confirm/);
      await ok(`cordon tenant rome ${provider} --skip-confirm`);
      assert.match((await ok(`cordon tenant rome ${provider}`)).err, /tenant rome is cordoned already/);
      assert.match((await ok(PEER)).err, /rome is peered with milan/, "what was granted stays");
      assert.deepEqual(
        (await milan.list(Tenant)).map(({ spec }) => spec.tenantCondition),
        ["Cordoned"],
        "what the provider decided stays",
      );
      const slice = "create resourceslice extra --remote-cluster-id milan --cpu 2 --no-virtual-node";
      await fails(slice, /milan denies slice extra: Resources is Denied/, /next: ask its administrator/);
      await ok(`uncordon tenant rome ${provider}`);
      await ok(slice);
      assert.deepEqual(await writesDuring(() => ok(slice)), []);
      await ok(
        "create virtualnode extra --remote-cluster-id milan --resource-slice-name extra --labels pool=extra",
      );
      assert.equal((await rome.get(Node, { name: "extra" }))?.metadata.labels?.pool, "extra");
      const away = await ok("delete resourceslice extra");
      assert.match(away.err, /WARN VirtualNode liqo-tenant-milan\/extra uses slice extra/);
      await ok("delete virtualnode extra");
      assert.match((await ok("delete rs extra")).err, /no ResourceSlice extra is there/);
      await fails(
        `cordon tenant athens ${provider} --skip-confirm`,
        /has no Tenant athens/,
        /its tenants are: rome/,
      );
    });

    it("cordons a slice, and a whole tenant", async () => {
      const provider = "--kubeconfig milan.kubeconfig --skip-confirm";
      const cordoned = async () => (await milan.list(Quota)).map(({ spec }) => spec.cordoned === true);
      await ok(`cordon resourceslice milan --remote-cluster-id rome ${provider}`);
      await until("the quota is cordoned", async () => (await cordoned()).includes(true));
      await ok(`uncordon resourceslice milan --remote-cluster-id rome ${provider}`);
      await until("the quota is free", async () => !(await cordoned()).includes(true));
      await fails(
        "cordon resourceslice milan --remote-cluster-id milan --skip-confirm",
        /is a request of this cluster/,
      );
      const ofRome = async () => {
        const [tenant] = await milan.list(Tenant);
        const { tenantCondition, ...rest } = tenant?.spec ?? {};
        return { tenantCondition, rest };
      };
      const { rest } = await ofRome();
      await ok(`cordon tenant rome ${provider}`);
      assert.deepEqual(await ofRome(), { tenantCondition: "Cordoned", rest });
      await until("the quota is cordoned", async () => (await cordoned()).includes(true));
      await ok(`uncordon tenant rome ${provider}`);
      assert.deepEqual(await ofRome(), { tenantCondition: "Active", rest });
      await until("the quota is free", async () => !(await cordoned()).includes(true));
      await rome.create(Pod, {
        apiVersion: "v1",
        kind: "Pod",
        metadata: { name: "drained", namespace: "shop" },
        spec: { nodeName: "milan", containers: [{ name: "web", image: "pause" }] },
      });
      const offloaded = () => milan.get(ShadowPod, { name: "drained", namespace: "shop-rome" });
      const first = await until("the pod is offloaded", offloaded);
      await ok(`drain tenant rome ${provider}`);
      assert.deepEqual(await ofRome(), { tenantCondition: "Drained", rest });
      await until("nothing is granted", async () => (await milan.list(ResourceSlice)).length === 0);
      await fails(PEER, /Tenant liqo-tenant-rome\/rome is drained/, /next: .*liqoctl activate tenant rome/);
      assert.match((await ok(`uncordon tenant rome ${provider}`)).err, /WARN tenant rome is Drained/);
      await ok(`activate tenant rome ${provider}`);
      await until("the slice is there again", async () => (await milan.list(ResourceSlice)).length === 1);
      await until("the pod is offloaded again", async () => {
        const uid = (await offloaded())?.metadata.uid;
        return uid !== undefined && uid !== first.metadata.uid;
      });
      // The namespace was offloaded all the time: nobody is told to do that.
      const told = await rome.list(Event, {
        namespace: "shop",
        fieldSelector: "involvedObject.name=drained,reason=ReflectionDisabled",
      });
      assert.deepEqual(
        told.map(({ message }) => message),
        [],
      );
      await ok(PEER);
      await rome.delete(Pod, { name: "drained", namespace: "shop" });
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

    it("takes the namespace back, once", async () => {
      await ok("unoffload namespace shop --skip-confirm");
      assert.deepEqual(await rome.list(NamespaceOffloading), []);
      assert.equal(await milan.get(Namespace, { name: "shop-rome" }), undefined);
      assert.match(
        (await ok("unoffload namespace shop --skip-confirm")).err,
        /namespace shop is not offloaded \(/,
      );
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

  describe("and its page", () => {
    it("holds commands that do what it says, one after the other", async function () {
      this.timeout(180_000);
      const lines = blocksOf("docs/liqoctl.md")
        .filter(({ language }) => language === "")
        .flatMap(({ at, text }) =>
          text.split("\n").map((line) => ({ at, line: line.replace(/ {2,}# .*$/, "") })),
        )
        .filter(({ line }) => /liqoctl/.test(line));
      assert.ok(lines.length >= 15, `${lines.length} commands`);
      for (const { at, line } of lines) {
        const { status, out, err } = await cli.shell(line);
        assert.equal(status, 0, `${at}: ${line}\n${out}${err}`);
      }
      assert.deepEqual(await milan.list(Tenant), [], "the page ends where it began");
    });
  });
});

/** The Deployment of an installation, which `info` reads; it has no pods, since the processes run beside the cluster. */
function restingControllerManager(): Desired<Deployment> {
  const data = installationDataSchema.parse({
    image: "registry.example/runtime:0.1.0-test",
    clusterLabels: { region: "europe" },
  });
  const { controllerManager } = deployments({ namespace: "liqo", ...data });
  return { ...controllerManager, spec: { ...controllerManager.spec, replicas: 0 } };
}
