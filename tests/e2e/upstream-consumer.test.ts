/**
 * The life of a consumer that runs upstream Liqo, replayed from the contract at a provider of ours: what it writes, who writes it and in which order,
 * with the rights that each has at that step.
 */
import assert from "node:assert/strict";

import { EndpointSlice, Pod } from "../../runtime/api";
import { generateKeyPair, type KeyPair } from "../../runtime/identity";
import { base64 } from "../support/base64";
import { until } from "../support/until";
import { type Step, withUpstreamPeer } from "../support/upstream/clusters";
import { type GoClient, sorts } from "../support/upstream/go-client";
import * as liqoctl from "../support/upstream/liqoctl";
import { at } from "../support/upstream/liqoctl";
import * as network from "../support/upstream/liqoctl-network";
import { Replicator } from "../support/upstream/replicator";
import { neighbours, REMOTE_SUPPORT, UpstreamKubelet } from "../support/upstream/virtual-kubelet";
import { whoAmI } from "../support/who-am-i";

describe("a consumer that runs upstream Liqo", function () {
  this.timeout(180_000);
  // Each step lives on what the ones before it left.
  this.bail(true);
  const clusters = withUpstreamPeer();
  const { controlPlane } = clusters;
  let admin: GoClient;
  let turin: GoClient;
  const keys = generateKeyPair();
  const guests = { namespace: "liqo-tenant-turin" };
  const pool = { name: "milan", ...guests };
  let provider: liqoctl.Provider;
  let user: GoClient;
  let mapped: unknown;
  let replicator: Replicator;
  let controlPlaneUser: GoClient;
  let kubelet: GoClient;
  let reflection: UpstreamKubelet;

  before(() => {
    ({ admin, turin } = clusters);
    const { kubeconfig } = controlPlane("milan");
    provider = { clusterId: "milan", liqoNamespace: "liqo-system", kubeconfig };
  });

  const authenticate = async (pair = keys, publicKey?: Uint8Array) => {
    const nonce = await liqoctl.askForNonce(user, "turin");
    assert.match(nonce, /^[A-Za-z0-9+/]{86}==$/);
    const tenant = await liqoctl.applyTenant(user, liqoctl.tenantManifest("turin", nonce, pair, publicKey));
    return at(tenant, "status", "authParams");
  };
  const replicateAs = (authParams: unknown, { privateKey }: KeyPair) => {
    controlPlaneUser = clusters.withCredentials("turin's control plane", authParams, privateKey);
    replicator = new Replicator({
      home: turin,
      peer: controlPlaneUser,
      consumer: "turin",
      provider: "milan",
    });
  };
  const inShop = (name: string) => ({ name, namespace: "shop-turin" });

  const life: Step[] = [
    [
      "liqoctl generate peering-user",
      "makes a user of milan",
      async () => {
        user = clusters.closing(await liqoctl.generatePeeringUser(admin, provider, "turin"));
        assert.match(await whoAmI(user.client), /^liqo-peer-user-turin-/);
      },
    ],
    [
      "liqoctl peer",
      "finds the tenant namespace and the cluster ID without listing namespaces",
      async () => assert.equal(await liqoctl.lookAround(user, provider, "turin"), "milan"),
    ],
    [
      "liqoctl network connect",
      "tells of turin's networks, which are milan's own, and once more",
      async () => {
        const own = { pod: ["10.72.0.0/16"], external: ["10.70.0.0/16"] };
        mapped = await network.configure(user, provider, "turin", own);
        assert.notDeepEqual(mapped, own);
        assert.deepEqual(await network.configure(user, provider, "turin", own), mapped);
      },
    ],
    [
      "liqoctl network connect",
      "makes a gateway server, and reads its endpoint and its key",
      async () => {
        const ingress = { status: { loadBalancer: { ingress: [{ ip: "203.0.113.77" }] } } };
        const found = await network.serve(user, provider, "turin", async () => {
          await admin.edit(
            sorts.service,
            { name: "gw-turin", ...guests },
            (read) => ({ ...read, ...ingress }),
            "status",
          );
        });
        assert.deepEqual([found.addresses, found.port], [["203.0.113.77"], 51840]);
        assert.equal(Buffer.from(found.publicKey, "base64").length, 32);
        await network.shareKey(user, "turin");
      },
    ],
    [
      "liqoctl authenticate --in-band",
      "reads the proxy's address, and has one of its own",
      async () => {
        const proxy = { name: "api-server-proxy", namespace: "liqo-system" };
        await until("the proxy's address", async () => at(await user.find(sorts.ip, proxy), "status", "ip"));
        await network.publish(user, "turin", "192.168.77.9");
      },
    ],
    [
      "liqoctl authenticate",
      "exchanges keys, by a nonce and a Tenant",
      async () => {
        const authParams = await authenticate();
        replicateAs(authParams, keys);
        assert.equal(await whoAmI(controlPlaneUser.client), "turin");
      },
    ],
    [
      "liqoctl authenticate",
      "does it again with the same key, sent as 32 raw bytes, and gets the same certificate",
      async () => {
        const before = await user.get(sorts.tenant, { name: "turin", ...guests });
        const der = Buffer.from(keys.publicKey.replace(/-----[^-]*-----|\s/g, ""), "base64");
        const after = await authenticate(keys, der.subarray(-32));
        assert.deepEqual(after, at(before, "status", "authParams"));
        assert.deepEqual(await authenticate(), after);
      },
    ],
    [
      "crd-replicator",
      "watches its copies, and makes that of the Renew, which milan answers",
      async () => {
        await liqoctl.ensureTenantNamespace(turin, "milan");
        await replicator.start();
        const spec = { consumerClusterID: "turin", identityType: "ControlPlane" };
        await replicator.source(sorts.renew, "controlplane-milan", spec);
        const { metadata } = await replicator.create(sorts.renew, "controlplane-milan");
        await until("milan answers", async () => {
          const renew = await controlPlaneUser.get(sorts.renew, metadata);
          return at(renew, "status", "authParams", "signedCRT");
        });
        const home = await replicator.pull(sorts.renew, "controlplane-milan");
        const tenant = await user.get(sorts.tenant, { name: "turin", ...guests });
        assert.deepEqual(at(home, "status", "authParams"), at(tenant, "status", "authParams"));
      },
    ],
    [
      "crd-replicator",
      "copies a slice, annotations and all, and carries milan's answer back",
      async () => {
        const spec = liqoctl.sliceSpec("milan", "turin", "milan", keys);
        await replicator.source(sorts.slice, "milan", spec, {
          annotations: { "liqo.io/create-virtual-node": "true" },
          labels: { "liqo.io/managed": "true" },
        });
        await replicator.create(sorts.slice, "milan");
        await replicator.granted("milan");
        const { status } = await replicator.pull(sorts.slice, "milan");
        assert.deepEqual(at(status, "resources"), {
          cpu: "4",
          memory: "8Gi",
          pods: "110",
          "ephemeral-storage": "20Gi",
        });
        const quota = await admin.get(sorts.quota, { name: liqoctl.sliceUser("milan", "turin"), ...guests });
        assert.equal(at(quota, "spec", "user"), quota.metadata.name);
        kubelet = clusters.withCredentials(
          "turin's virtual kubelet",
          at(status, "authParams"),
          keys.privateKey,
        );
        assert.equal(await whoAmI(kubelet.client), quota.metadata.name);
      },
    ],
    [
      "crd-replicator",
      "brings another request for resources",
      async () => {
        const resources = { cpu: "6", memory: "8Gi", "nvidia.com/gpu": "1" };
        await replicator.request("milan", resources);
        await until("milan grants it", async () => {
          const { status } = await controlPlaneUser.get(sorts.slice, pool);
          return at(status, "resources", "cpu") === "6" && at(status, "resources", "nvidia.com/gpu") === "1";
        });
      },
    ],
    [
      "crd-replicator",
      "asks for a namespace by the map, which was empty",
      async () => {
        await replicator.source(sorts.map, "milan", {});
        await replicator.create(sorts.map, "milan");
        await replicator.change(sorts.map, "milan", { desiredMapping: { shop: "shop-turin" } });
        await replicator.offered("milan", "shop");
        const { status } = await replicator.pull(sorts.map, "milan");
        const shop = { remoteNamespace: "shop-turin", phase: "Accepted" };
        assert.deepEqual(at(status, "currentMapping"), { shop });
        const { metadata } = await admin.get(sorts.namespace, { name: "shop-turin" });
        assert.equal(metadata.annotations?.["liqo.io/original-name"], "shop");
      },
    ],
    [
      "the virtual kubelet",
      "watches everything in the namespace",
      async () => {
        const namespace = "shop-turin";
        reflection = new UpstreamKubelet({ kubelet, consumer: "turin", provider: "milan", namespace });
        await until("its rights", async () => {
          return (await kubelet.status("GET", "/api/v1/namespaces/shop-turin/secrets")) === 200;
        });
        await reflection.start();
      },
    ],
    [
      "the virtual kubelet",
      "reflects a ConfigMap, Secrets, a Service, an Ingress and a claim of a volume, each twice",
      async () => {
        await reflection.apply({ ...sorts.configMap, data: { "ca.crt": "CA" } }, "kube-root-ca.crt.turin");
        await reflection.apply({ ...sorts.configMap, data: { a: "1" }, immutable: false }, "settings");
        await reflection.apply({ ...sorts.secret, type: "Opaque", data: { a: base64("1") } }, "password");
        await reflection.apply({ ...sorts.secret, type: "Opaque", data: { token: base64("t") } }, "legacy", {
          labels: { "kubernetes.io/service-account.name": "default" },
        });
        for (const object of neighbours("web")) await reflection.apply(object, "web");
        await reflection.token("web-0", "5e4a3f1c-0000-4000-8000-000000000001");
      },
    ],
    [
      "the virtual kubelet",
      "makes a pod that talks to turin's API server, by the address that leads there from milan",
      async () => {
        await reflection.shadowPod("web-0", "10.70.0.9");
        const pod = await until("the pod", () => admin.client.get(Pod, inShop("web-0")));
        const [network = ""] = [at(mapped, "external")].flat().map(String);
        const address = network.replace(/0\.0\/16$/, "0.9");
        assert.deepEqual(
          pod.spec.hostAliases?.map(({ ip }) => ip),
          [address],
        );
        assert.equal(pod.metadata.labels?.["liqo.io/creator-user"], liqoctl.sliceUser("milan", "turin"));
        assert.equal(pod.spec.automountServiceAccountToken, false);
        await reflection.shadowPod("remote-0", "", REMOTE_SUPPORT);
        await until("the pod with milan's tokens", () => admin.client.get(Pod, inShop("remote-0")));
      },
    ],
    [
      "the virtual kubelet",
      "updates the ShadowPod at each event, without the labels that are milan's",
      async () => {
        for (const labels of [undefined, undefined, { tier: "front" }]) {
          const shadow = await reflection.lookAgain("web-0", labels);
          const user = liqoctl.sliceUser("milan", "turin");
          assert.equal(shadow.metadata.labels?.["liqo.io/creator-user"], user);
        }
        await until("the pod has the label", async () => {
          const pod = await admin.client.get(Pod, inShop("web-0"));
          return pod?.metadata.labels?.tier === "front";
        });
      },
    ],
    [
      "the virtual kubelet",
      "sends the endpoints of pods at turin, by their addresses there",
      async () => {
        await reflection.endpoints("web", "10.72.3.3");
        const slice = await until("the EndpointSlice", () =>
          admin.client.get(EndpointSlice, inShop("web-k7x2p")),
        );
        const [network = ""] = [at(mapped, "pod")].flat().map(String);
        assert.deepEqual(slice.endpoints[0]?.addresses, [network.replace(/0\.0\/16$/, "3.3")]);
      },
    ],
    [
      "the virtual kubelet",
      "opens logs, commands and metrics",
      async () => {
        // No kubelet runs, so that most are no success, but nothing is forbidden.
        const answers = await reflection.open("web-0");
        assert.deepEqual(
          answers.filter(({ status }) => status === 401 || status === 403),
          [],
        );
      },
    ],
    [
      "liqoctl cordon resourceslice",
      "closes the slice: the replicator goes on, new pods wait",
      async () => {
        await liqoctl.cordonSlice(admin, "turin", "milan", true);
        const quota = { name: liqoctl.sliceUser("milan", "turin"), ...guests };
        const closed = async () => at(await admin.get(sorts.quota, quota), "spec", "cordoned") === true;
        await until("the quota is closed", closed);
        await replicator.request("milan", { cpu: "5" });
        await assert.rejects(reflection.shadowPod("web-1", "10.70.0.9"), /cordoned/);
        await liqoctl.cordonSlice(admin, "turin", "milan", false);
        await until("it is open", async () => !(await closed()));
        await until("the pod is let in", async () => {
          await reflection.shadowPod("web-1", "10.70.0.9");
          return true;
        });
      },
    ],
    [
      "liqoctl cordon, uncordon, drain and activate tenant",
      "end in a consumer that is served again",
      async () => {
        await liqoctl.setTenantCondition(admin, "turin", "Cordoned");
        await until("the slice is marked", async () => {
          const { metadata } = await controlPlaneUser.get(sorts.slice, pool);
          return metadata.annotations?.["liqo.io/cordon-tenant"] === "true";
        });
        await replicator.request("milan", { cpu: "7" });
        await liqoctl.setTenantCondition(admin, "turin", "Active");
        await liqoctl.setTenantCondition(admin, "turin", "Drained");
        for (const sort of [sorts.slice, sorts.map]) await admin.gone(sort, pool);
        await admin.gone(sorts.namespace, { name: "shop-turin" });
        assert.equal(await replicator.tryToCreate(sorts.map, "milan"), 403);
        await liqoctl.setTenantCondition(admin, "turin", "Active");
        await until("copies may be made", async () => {
          await replicator.create(sorts.map, "milan");
          return true;
        });
        await replicator.create(sorts.slice, "milan");
        await replicator.granted("milan");
        await replicator.offered("milan", "shop");
      },
    ],
    [
      "the virtual kubelet",
      "makes its pods anew, and deletes one",
      async () => {
        await until("its rights, and its quota", async () => {
          await reflection.shadowPod("web-0", "10.70.0.9");
          return true;
        });
        await until("the pod", () => admin.client.get(Pod, inShop("web-0")));
        await reflection.delete(sorts.shadowPod, "web-0");
        await until("the pod is gone", async () => !(await admin.client.get(Pod, inShop("web-0"))));
      },
    ],
    [
      "crd-replicator",
      "takes the namespace back",
      async () => {
        await replicator.change(sorts.map, "milan", {});
        await admin.gone(sorts.namespace, { name: "shop-turin" });
        await until("milan says so", async () => {
          const { status } = await replicator.pull(sorts.map, "milan");
          return at(status, "currentMapping", "shop") === undefined;
        });
      },
    ],
    [
      "liqoctl unpeer",
      "removes slice, map and Renew, then the Tenant",
      async () => {
        await replicator.remove(sorts.slice, "milan");
        await replicator.remove(sorts.map, "milan");
        await replicator.remove(sorts.renew, "controlplane-milan");
        await user.delete(sorts.tenant, { name: "turin", ...guests });
        await user.gone(sorts.tenant, { name: "turin", ...guests });
      },
    ],
    [
      "liqoctl peer",
      "peers again with a new key pair of RSA, over what is left",
      async () => {
        const pair = generateKeyPair("rsa");
        await user.delete(sorts.secret, { name: "liqo-nonce", ...guests });
        const authParams = await authenticate(pair);
        replicateAs(authParams, pair);
        assert.equal(await whoAmI(controlPlaneUser.client), "turin");
        await replicator.start();
      },
    ],
    [
      "liqoctl unpeer --delete-namespaces",
      "takes the Tenant away before the copies are gone, disconnects, and milan's administrator removes the rest",
      async () => {
        await replicator.source(sorts.map, "again", { desiredMapping: { shop: "shop-turin" } });
        await replicator.create(sorts.map, "again");
        await until("the namespace", () => admin.find(sorts.namespace, { name: "shop-turin" }));
        await user.delete(sorts.tenant, { name: "turin", ...guests });
        await network.reset(user, "turin");
        await liqoctl.deletePeeringUser(admin, provider, "turin");
        await until("the user has no rights left", async () => {
          const path = "/apis/authentication.liqo.io/v1beta1/namespaces/liqo-tenant-turin/tenants";
          return (await user.status("GET", path)) === 403;
        });
        await admin.delete(sorts.namespace, { name: guests.namespace });
        for (const name of [guests.namespace, "shop-turin"]) await admin.gone(sorts.namespace, { name });
      },
    ],
  ];
  for (const [who, does, step] of life) it(`${who}: ${does}`, step);
});
