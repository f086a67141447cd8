import assert from "node:assert/strict";

import {
  ClusterRoleBinding,
  type Desired,
  FirewallConfiguration,
  GatewayClient,
  GatewayServer,
  type Kind,
  type KubeObject,
  Namespace,
  Node,
  Pod,
  PublicKey,
  RoleBinding,
  RouteConfiguration,
  Secret,
  ServiceAccount,
  Tenant,
  WgGatewayServer,
} from "../../runtime/api";
import { TokenRequest } from "../../runtime/api/kubernetes";
import { KubeClient } from "../../runtime/kube";
import { installation } from "../../runtime/plan/installation";
import { tenantNamespace } from "../../runtime/plan/peering";
import { tokenKubeconfig } from "../support/account-kubeconfig";
import { refusal } from "../support/admission-cluster";
import { peeringUserOf } from "../support/attackers";
import { eventAbout } from "../support/events";
import { ManagedAdmission } from "../support/managed-admission";
import { ManagedCluster } from "../support/managed-cluster";
import { until } from "../support/until";
import { withControlPlanes } from "../support/with-control-planes";

const guests = "guests-from-rome";
const account = { name: "vpn", namespace: guests };
const networking = { podCidrs: ["10.72.0.0/16"], serviceCidr: "10.98.0.0/16" };
const merge = { type: "merge" } as const;

const earlierName = `liqo-gateway-${guests}-vpn`;
/** As a version made it that gave gateways all their rights in all namespaces. */
const earlier: Desired<ClusterRoleBinding> = {
  apiVersion: "rbac.authorization.k8s.io/v1",
  kind: "ClusterRoleBinding",
  metadata: {
    name: earlierName,
    labels: {
      "networking.liqo.io/gateway-name": "vpn",
      "networking.liqo.io/gateway-namespace": guests,
      "app.kubernetes.io/managed-by": "liqo",
    },
  },
  roleRef: { apiGroup: "rbac.authorization.k8s.io", kind: "ClusterRole", name: "liqo-gateway" },
  subjects: [{ kind: "ServiceAccount", ...account }],
};

const tokenSecret = (name: string, of: string): Desired<Secret> => ({
  apiVersion: "v1",
  kind: "Secret",
  metadata: { name, namespace: guests, annotations: { "kubernetes.io/service-account.name": of } },
  type: "kubernetes.io/service-account-token",
});

/** What leads the traffic for a cluster to whoever made it. */
const serverFor = (peer: string, name: string): Desired<GatewayServer> => ({
  apiVersion: "networking.liqo.io/v1beta1",
  kind: "GatewayServer",
  metadata: { name, namespace: guests, labels: { "liqo.io/remote-cluster-id": peer } },
  spec: {
    mtu: 1340,
    serverTemplateRef: {
      apiVersion: "networking.liqo.io/v1beta1",
      kind: "WgGatewayServerTemplate",
      name: "wireguard-server",
      namespace: "liqo-system",
    },
    endpoint: { port: 51840, serviceType: "ClusterIP" },
  },
});
const clientFor = (peer: string): Desired<GatewayClient> => ({
  apiVersion: "networking.liqo.io/v1beta1",
  kind: "GatewayClient",
  metadata: { name: "trap", namespace: guests, labels: { "liqo.io/remote-cluster-id": peer } },
  spec: { endpoint: { addresses: ["192.0.2.1"], port: 51840 } },
});
const keyFor = (peer: string): Desired<PublicKey> => ({
  apiVersion: "networking.liqo.io/v1beta1",
  kind: "PublicKey",
  metadata: { name: "trap", namespace: guests, labels: { "liqo.io/remote-cluster-id": peer } },
  spec: { publicKey: Buffer.alloc(32, 7).toString("base64") },
});

const pod = (namespace: string, name: string): Desired<Pod> => ({
  apiVersion: "v1",
  kind: "Pod",
  metadata: { name, namespace },
  spec: { automountServiceAccountToken: false, containers: [{ name: "main", image: "shop:1" }] },
});

/** The administrator of rome, who may make gateways and Secrets in rome's tenant namespace at milan, tries for what the gateway's account may do. */
describe("an attack by the account of a gateway", function () {
  this.timeout(180_000);
  const controlPlane = withControlPlanes({ milan: { controllerManager: true, serviceCidr: "10.98.0.0/16" } });
  let milan: ManagedCluster;
  let attacker: KubeClient;
  let gateway: KubeClient | undefined;
  let admission: ManagedAdmission | undefined;
  const admin = () => milan.admin;
  const asGateway = () => gateway ?? assert.fail("there is no token of the gateway");

  before(async () => {
    milan = await ManagedCluster.install({
      controlPlane: controlPlane("milan"),
      clusterId: "milan",
      liqoNamespace: "liqo-system",
      networking: true,
    });
    const parts = installation({
      clusterId: "milan",
      namespace: "liqo-system",
      image: "runtime",
      networking,
    });
    for (const part of parts)
      if (["Network", "WgGatewayServerTemplate"].includes(part.kind)) await milan.apply(part);
    for (const namespace of [tenantNamespace(guests, "rome"), tenantNamespace("guests-from-turin", "turin")])
      await milan.apply(namespace);
    await milan.apply({ apiVersion: "v1", kind: "Namespace", metadata: { name: "shop" } });
    for (const namespace of ["shop", guests]) {
      await until("the account of pods", () => admin().get(ServiceAccount, { name: "default", namespace }));
      await admin().create(Pod, pod(namespace, "till"));
    }
    await admin().create(ClusterRoleBinding, earlier);
    await milan.start();
    attacker = await peeringUserOf("rome", milan, guests);
    await attacker.create(GatewayServer, serverFor("rome", account.name));
    await until("the gateway has its keys", () => admin().get(Secret, { name: "gw-vpn", namespace: guests }));
  });
  after(async () => {
    gateway?.close();
    attacker?.close();
    await admission?.stop();
    await milan?.end();
  });

  /** What a request is refused for want of a right. */
  const forbidden = async (what: string, request: Promise<unknown>) =>
    assert.match(await refusal(request), /forbidden/, what);

  it("runs no gateway to another consumer, whose traffic would go there", async () => {
    await attacker.create(GatewayServer, serverFor("turin", "trap"));
    const about = { kind: "GatewayServer", name: "trap", namespace: guests };
    assert.match(
      await eventAbout(admin(), about, "WrongNamespace"),
      /"guests-from-rome" is not the tenant namespace of cluster "turin"/,
    );
    assert.equal(await admin().get(WgGatewayServer, { name: "trap", namespace: guests }), undefined);
    await attacker.delete(GatewayServer, { name: "trap", namespace: guests });
  });

  it("takes no pod elsewhere for the gateway's, whatever its labels say", async () => {
    const endpointOf = async () =>
      (await admin().get(WgGatewayServer, account))?.status?.internalEndpoint?.ip;
    const run = async (namespace: string, podIP: string) => {
      const trap = pod(namespace, "trap");
      const labels = {
        "networking.liqo.io/component": "gateway",
        "networking.liqo.io/active": "true",
        "networking.liqo.io/gateway-name": account.name,
        "networking.liqo.io/gateway-namespace": account.namespace,
      };
      const { metadata } = await admin().create(Pod, { ...trap, metadata: { ...trap.metadata, labels } });
      const status = { phase: "Running", podIP, podIPs: [{ ip: podIP }] };
      await admin().patch(Pod, metadata, { status }, { ...merge, subresource: "status" });
      return metadata;
    };
    const elsewhere = await run("shop", "10.72.6.6");
    const own = await run(guests, "10.72.0.7");
    await until("the gateway's own pod is found", async () => (await endpointOf()) === "10.72.0.7");
    await admin().delete(Pod, own, { gracePeriodSeconds: 0 });
    await until("it is gone", async () => (await endpointOf()) !== "10.72.0.7");
    assert.equal(await endpointOf(), undefined);
    await admin().delete(Pod, elsewhere, { gracePeriodSeconds: 0 });
  });

  it("asks for no token of any account", async () => {
    const { apiVersion, kind } = TokenRequest;
    for (const name of ["vpn", "default"])
      await forbidden(
        name,
        attacker.createSubresource(
          ServiceAccount,
          { name, namespace: guests },
          "token",
          { apiVersion, kind, spec: {} },
          (answer) => answer,
        ),
      );
  });

  describe("with a token from a time without webhooks", () => {
    before(async () => {
      await attacker.create(Secret, tokenSecret("stolen", "vpn"));
      const token = await until("the token is filled in", async () => {
        const secret = await attacker.get(Secret, { name: "stolen", namespace: guests });
        return secret?.data?.token;
      });
      const kubeconfig = tokenKubeconfig(
        milan.controlPlane,
        "vpn",
        Buffer.from(token, "base64").toString("utf8"),
      );
      gateway = KubeClient.fromKubeconfig(kubeconfig, { userAgent: "attacker" });
    });

    it("finds the rights in all namespaces gone that an earlier version gave", async () => {
      await until(
        "the binding is gone",
        async () => (await admin().get(ClusterRoleBinding, { name: earlierName })) === undefined,
      );
      const bound = await admin().list(ClusterRoleBinding);
      const ofGateway = bound.filter(({ subjects }) => subjects?.some(({ name }) => name === "vpn"));
      assert.deepEqual(
        ofGateway.map(({ metadata, roleRef }) => [metadata.name, roleRef.name]),
        [[`liqo-gateway-clusterwide-${guests}.vpn`, "liqo-gateway-clusterwide"]],
      );
    });

    it("changes no pod elsewhere, and no image of a pod in its own namespace", async () => {
      const image = { spec: { containers: [{ name: "main", image: "evil:1" }] } };
      const label = { metadata: { labels: { stolen: "true" } } };
      for (const [namespace, body, subresource] of [
        ["shop", label],
        ["shop", image],
        ["shop", label, "status"],
        [guests, image],
        [guests, label],
      ] as const) {
        const options = subresource === undefined ? merge : { ...merge, subresource };
        await forbidden(namespace, asGateway().patch(Pod, { name: "till", namespace }, body, options));
      }
      await asGateway().patch(Pod, { name: "till", namespace: guests }, image, {
        ...merge,
        subresource: "status",
      });
      const own = await admin().get(Pod, { name: "till", namespace: guests });
      assert.equal(own?.spec?.containers[0]?.image, "shop:1");
      assert.equal(
        (await admin().get(Pod, { name: "till", namespace: "shop" }))?.metadata.labels?.stolen,
        undefined,
      );
    });

    it("reads no Secret and no pod of others, and nothing of the cluster but what gateways carry out", async () => {
      const lists: [Kind<KubeObject>, string | undefined][] = [
        [Secret, undefined],
        [Secret, guests],
        [Secret, "liqo-system"],
        [Secret, "kube-system"],
        [Pod, undefined],
        [Pod, "shop"],
        [Node, undefined],
        [Namespace, undefined],
        [Tenant, "guests-from-turin"],
        [GatewayServer, undefined],
        [RoleBinding, guests],
      ];
      for (const [kind, namespace] of lists)
        await forbidden(
          `${kind.kind} in ${namespace ?? "all namespaces"}`,
          asGateway().list(kind, namespace === undefined ? {} : { namespace }),
        );
      await asGateway().list(FirewallConfiguration);
      await asGateway().list(RouteConfiguration);
      await asGateway().list(Pod, { namespace: guests });
    });

    it("writes nothing outside of its namespace but what became of the configurations of all gateways", async () => {
      const firewalls = await until("the firewall of all gateways", async () => {
        const found = await admin().list(FirewallConfiguration, { namespace: "liqo-system" });
        return found.length > 0 && found;
      });
      const [{ metadata } = assert.fail()] = firewalls;
      await forbidden(
        "the firewall",
        asGateway().patch(FirewallConfiguration, metadata, { spec: { table: { chains: [] } } }, merge),
      );
      const host = "vpn";
      const status = { conditions: [{ host, type: "Applied", status: "True" }] };
      await asGateway().patch(
        FirewallConfiguration,
        metadata,
        { status },
        { ...merge, subresource: "status" },
      );
      await admin().create(FirewallConfiguration, {
        apiVersion: "networking.liqo.io/v1beta1",
        kind: "FirewallConfiguration",
        metadata: { name: "of-turin", namespace: "guests-from-turin" },
        spec: { table: { name: "of-turin", family: "IPV4" } },
      });
      const ofTurin = { name: "of-turin", namespace: "guests-from-turin" };
      await forbidden(
        "another's report",
        asGateway().patch(FirewallConfiguration, ofTurin, { status }, { ...merge, subresource: "status" }),
      );
    });
  });

  describe("with the webhooks", () => {
    before(async () => {
      admission = await ManagedAdmission.start(milan);
    });

    it("makes no Secret that Kubernetes fills with a token, and others as ever", async () => {
      for (const of of ["vpn", "default"])
        assert.match(
          await refusal(attacker.create(Secret, tokenSecret(`of-${of}`, of))),
          new RegExp(`makes it a token of service account "${of}"`),
        );
      const plain: Desired<Secret> = {
        apiVersion: "v1",
        kind: "Secret",
        metadata: { name: "plain", namespace: guests, labels: { "liqo.io/nonce": "true" } },
      };
      assert.equal(await refusal(attacker.create(Secret, plain)), "allowed");
    });

    it("makes gateways to its own cluster alone, and gives keys of that one", async () => {
      const refused =
        /the label liqo\.io\/remote-cluster-id is "turin", and the namespace is that of cluster "rome"/;
      assert.match(await refusal(attacker.create(GatewayServer, serverFor("turin", "trap"))), refused);
      assert.match(await refusal(attacker.create(GatewayClient, clientFor("turin"))), refused);
      assert.match(await refusal(attacker.create(PublicKey, keyFor("turin"))), refused);
      const other = { metadata: { labels: { "liqo.io/remote-cluster-id": "turin" } } };
      assert.match(await refusal(attacker.patch(GatewayServer, account, other, merge)), refused);
      assert.equal(await refusal(attacker.create(PublicKey, keyFor("rome"))), "allowed");
      const mtu = { spec: { mtu: 1400 } };
      assert.equal(await refusal(attacker.patch(GatewayServer, account, mtu, merge)), "allowed");
    });

    it("makes none when no webhook answers, while milan's administrator does, and other Secrets are made", async () => {
      await admission?.stop();
      admission = undefined;
      assert.match(
        await refusal(attacker.create(Secret, tokenSecret("again", "vpn"))),
        /failed calling webhook/,
      );
      await admin().create(Secret, tokenSecret("by-the-administrator", "default"));
      const opaque: Desired<Secret> = {
        apiVersion: "v1",
        kind: "Secret",
        metadata: { name: "opaque", namespace: guests },
      };
      assert.equal(await refusal(attacker.create(Secret, opaque)), "allowed");
    });
  });
});
