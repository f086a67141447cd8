import assert from "node:assert/strict";
import { once } from "node:events";
import { createServer } from "node:http";
import { connect } from "node:net";

import { ConfigMap, Namespace, ServiceAccount, TokenRequest } from "../../runtime/api/kubernetes";
import {
  ApiError,
  ConnectionError,
  DeadlineError,
  isAlreadyExists,
  isConflict,
  isForbidden,
  isInvalid,
  isNotFound,
  KubeClient,
} from "../../runtime/kube";
import { forward } from "../support/api-forwarding";
import { configMap } from "../support/config-map";
import { editKubeconfig } from "../support/kubeconfig-edit";
import { listen } from "../support/listen";
import { TcpProxy } from "../support/tcp-proxy";
import { whoAmI } from "../support/who-am-i";
import { withControlPlanes } from "../support/with-control-planes";

describe("kube client", function () {
  this.timeout(60_000);
  const controlPlane = withControlPlanes({ rome: { definitions: "absent" } });
  let client: KubeClient;
  before(async () => {
    client = KubeClient.fromKubeconfig(controlPlane("rome").kubeconfig);
    await client.create(Namespace, { apiVersion: "v1", kind: "Namespace", metadata: { name: "rome-apps" } });
  });
  after(() => client.close());

  describe("verbs", () => {
    it("creates, reads, lists, replaces, patches, applies and deletes", async () => {
      const created = await client.create(ConfigMap, configMap("rome-apps", "verbs", { a: "1" }));
      assert.ok(created.metadata.uid);
      const read = await client.get(ConfigMap, created.metadata);
      assert.deepEqual(read?.data, { a: "1" });
      const replaced = await client.replace(ConfigMap, { ...created, data: { a: "2" } });
      assert.deepEqual(replaced.data, { a: "2" });
      const patched = await client.patch(
        ConfigMap,
        created.metadata,
        { data: { b: "3" } },
        { type: "merge" },
      );
      assert.deepEqual(patched.data, { a: "2", b: "3" });
      const json = [{ op: "remove", path: "/data/a" }];
      assert.deepEqual((await client.patch(ConfigMap, created.metadata, json, { type: "json" })).data, {
        b: "3",
      });
      const ours = { fieldManager: "rome" };
      await client.apply(ConfigMap, configMap("rome-apps", "verbs", { c: "4", d: "5" }), ours);
      const applied = await client.apply(ConfigMap, configMap("rome-apps", "verbs", { c: "4" }), ours);
      assert.deepEqual(applied.data, { b: "3", c: "4" });
      const listed = await client.list(ConfigMap, {
        namespace: "rome-apps",
        fieldSelector: "metadata.name=verbs",
      });
      assert.deepEqual(
        listed.map(({ apiVersion, kind, data }) => ({ apiVersion, kind, data })),
        [{ apiVersion: "v1", kind: "ConfigMap", data: { b: "3", c: "4" } }],
      );
      assert.equal(await client.delete(ConfigMap, created.metadata, { uid: created.metadata.uid }), true);
      assert.equal(await client.delete(ConfigMap, created.metadata), false);
      assert.equal(await client.get(ConfigMap, created.metadata), undefined);
    });

    it("tells the server's refusals apart, and names the object in each", async () => {
      const created = await client.create(ConfigMap, configMap("rome-apps", "refusals", { a: "1" }));
      await assert.rejects(
        client.create(ConfigMap, configMap("rome-apps", "refusals", {})),
        (error: unknown) => {
          assert.ok(isAlreadyExists(error) && isConflict(error));
          assert.match(error.message, /^create ConfigMap "rome-apps\/refusals": 409 AlreadyExists: /);
          return true;
        },
      );
      const stale = { ...created, metadata: { ...created.metadata, resourceVersion: "1" } };
      await assert.rejects(
        client.replace(ConfigMap, stale),
        (error) => isConflict(error) && !isAlreadyExists(error),
      );
      const other = { uid: "0f3fb12c-4bd6-4f9c-8b6d-2f4e0c6f9c1d" };
      await assert.rejects(client.delete(ConfigMap, created.metadata, other), isConflict);
      assert.ok(await client.get(ConfigMap, created.metadata));
      await assert.rejects(
        client.patch(ConfigMap, { name: "absent", namespace: "rome-apps" }, {}, { type: "merge" }),
        isNotFound,
      );
      const badName = {
        ...configMap("rome-apps", "refusals", {}),
        metadata: { name: "Not_A_Name", namespace: "rome-apps" },
      };
      await assert.rejects(client.create(ConfigMap, badName), (error) => {
        assert.ok(isInvalid(error));
        assert.equal(error.details.causes[0]?.field, "metadata.name");
        return true;
      });
      const guest = KubeClient.fromKubeconfig(await controlPlane("rome").kubeconfigFor({ name: "guest" }));
      await assert.rejects(guest.list(ConfigMap, { namespace: "rome-apps" }), isForbidden);
      guest.close();
    });

    it("lists page by page and gives all or an error", async () => {
      await Promise.all(
        Array.from({ length: 25 }, (_, i) =>
          client.create(ConfigMap, configMap("rome-apps", `page-${i}`, {})),
        ),
      );
      const sizes: number[] = [];
      for await (const page of client.listPages(ConfigMap, { namespace: "rome-apps" }, { pageSize: 10 })) {
        sizes.push(page.items.length);
      }
      assert.ok(sizes.length >= 3 && sizes.slice(0, -1).every((size) => size === 10), sizes.join());
    });

    it("posts to subresources and streams", async () => {
      const account = {
        apiVersion: "v1",
        kind: "ServiceAccount",
        metadata: { name: "builder", namespace: "rome-apps" },
      } as const;
      await client.create(ServiceAccount, account);
      const body = {
        apiVersion: "authentication.k8s.io/v1",
        kind: "TokenRequest",
        spec: { expirationSeconds: 600 },
      };
      const answer = await client.createSubresource(
        ServiceAccount,
        account.metadata,
        "token",
        body,
        (value) => TokenRequest.parse(value),
      );
      assert.ok((answer.status?.token ?? "").split(".").length === 3);
      const watch = await client.stream({ path: "/api/v1/namespaces?watch=true" });
      assert.equal(watch.status, 200);
      const [chunk] = (await once(watch.body, "data")) as [Buffer];
      assert.match(chunk.toString(), /"type":"ADDED"/);
      watch.body.destroy();
    });

    it("hands over the joined socket of an upgrade, or the answer that refused it", async () => {
      const headers = {
        connection: "Upgrade",
        upgrade: "websocket",
        "sec-websocket-version": "13",
        origin: controlPlane("rome").url,
      };
      const path = "/api/v1/namespaces/rome-apps/configmaps?watch=true";
      const refused = await client.upgrade({ path: "/api/v1/nowhere", headers });
      assert.deepEqual([refused.upgraded, refused.status], [false, 404]);
      const joined = await client.upgrade({
        path,
        headers: { ...headers, "sec-websocket-key": "dGhlIHNhbXBsZSBub25jZQ==" },
      });
      assert.deepEqual([joined.upgraded, joined.status], [true, 101]);
      if (joined.upgraded) joined.socket.destroy();
    });
  });

  describe("limits", () => {
    it("gives up at its deadline, and when told to", async () => {
      const { hostname, port } = new URL(controlPlane("rome").url);
      const proxy = await TcpProxy.start({ host: hostname, port: Number(port) });
      const slow = KubeClient.fromKubeconfig(
        editKubeconfig(controlPlane("rome").kubeconfig, { server: `https://127.0.0.1:${proxy.port}` }),
      );
      assert.equal(await whoAmI(slow), "kubernetes-admin");
      proxy.freeze();
      const begin = performance.now();
      await assert.rejects(slow.get(Namespace, { name: "default" }, { deadlineMs: 300 }), (error) => {
        assert.ok(error instanceof DeadlineError);
        assert.match(
          error.message,
          /GET 127\.0\.0\.1:\d+\/api\/v1\/namespaces\/default: no answer in 0\.3 s/,
        );
        return true;
      });
      await assert.rejects(slow.get(Namespace, { name: "default" }, { signal: AbortSignal.timeout(200) }));
      assert.ok(performance.now() - begin < 2_000);
      slow.close();
      await proxy.close();
    });

    it("carries hundreds of requests and watches at a time over few connections", async () => {
      const { hostname, port } = new URL(controlPlane("rome").url);
      const proxy = await TcpProxy.start({ host: hostname, port: Number(port) });
      const many = KubeClient.fromKubeconfig(
        editKubeconfig(controlPlane("rome").kubeconfig, { server: `https://127.0.0.1:${proxy.port}` }),
        { maxConnections: 8 },
      );
      const streams = await Promise.all(
        Array.from({ length: 250 }, () => many.stream({ path: "/api/v1/namespaces?watch=true" })),
      );
      const answers = await Promise.all(
        Array.from({ length: 300 }, () => many.get(Namespace, { name: "rome-apps" })),
      );
      assert.ok(streams.every(({ status }) => status === 200));
      assert.ok(answers.every((namespace) => namespace?.metadata.name === "rome-apps"));
      assert.ok(proxy.connections <= 3 + 8, `${proxy.connections} connections`);
      many.close();
      await proxy.close();
    });
  });

  describe("ways to the server", () => {
    it("goes through an HTTP CONNECT proxy", async () => {
      const tunnels: string[] = [];
      const proxy = createServer().on("connect", (incoming, socket, head) => {
        tunnels.push(`${incoming.url} ${incoming.headers["proxy-authorization"] ?? ""}`);
        const { hostname, port } = new URL(`http://${incoming.url}`);
        const upstream = connect(Number(port), hostname, () => {
          socket.write("HTTP/1.1 200 Connection established\r\n\r\n");
          upstream.write(head);
          upstream.pipe(socket).pipe(upstream);
        });
        for (const end of [socket, upstream])
          end.on("error", () => [socket, upstream].map((each) => each.destroy()));
      });
      const port = await listen(proxy);
      const proxyUrl = { "proxy-url": `http://rome:pass%20word@127.0.0.1:${port}` };
      const tunnelled = KubeClient.fromKubeconfig(editKubeconfig(controlPlane("rome").kubeconfig, proxyUrl));
      assert.equal(await whoAmI(tunnelled), "kubernetes-admin");
      assert.equal((await client.list(Namespace)).length, (await tunnelled.list(Namespace)).length);
      const basic = Buffer.from("rome:pass word").toString("base64");
      assert.deepEqual(tunnels, [`${new URL(controlPlane("rome").url).host} Basic ${basic}`]);
      tunnelled.close();
      proxy.close();
      const gone = KubeClient.fromKubeconfig(
        editKubeconfig(controlPlane("rome").kubeconfig, { "proxy-url": "http://127.0.0.1:1" }),
      );
      await assert.rejects(gone.list(Namespace), /through the proxy 127\.0\.0\.1:1: /);
      gone.close();
    });

    it("speaks HTTP/1.1 with a server that has nothing better, below a path prefix", async () => {
      const plane = controlPlane("rome");
      const front = createServer((incoming, outgoing) => {
        assert.match(incoming.url ?? "", /^\/clusters\/rome\//);
        const url = new URL((incoming.url ?? "").slice("/clusters/rome".length), plane.url);
        forward(plane, url, incoming, outgoing);
      });
      const port = await listen(front);
      const plain = KubeClient.fromKubeconfig(
        editKubeconfig(plane.kubeconfig, { server: `http://127.0.0.1:${port}/clusters/rome/` }, {}),
      );
      const created = await plain.create(ConfigMap, configMap("rome-apps", "plain", { a: "ü" }));
      assert.deepEqual((await plain.get(ConfigMap, created.metadata))?.data, { a: "ü" });
      const watch = await plain.stream({ path: "/api/v1/namespaces/rome-apps/configmaps?watch=true" });
      await once(watch.body, "data");
      watch.body.destroy();
      assert.equal(await plain.delete(ConfigMap, created.metadata), true);
      plain.close();
      front.close();
      front.closeAllConnections();
    });

    it("waits as long as the server asks it to, and repeats nothing else", async () => {
      const seen: string[] = [];
      const busy = createServer((incoming, outgoing) => {
        seen.push(`${incoming.method} ${incoming.url}`);
        const turn = seen.filter((line) => line === seen.at(-1)).length;
        if (incoming.url?.includes("/busy") === true && turn === 1) {
          outgoing.writeHead(429, { "retry-after": "1" }).end("too many requests");
        } else if (incoming.url?.includes("/broken") === true && turn === 1) {
          incoming.socket.destroy();
        } else {
          const name = incoming.url?.split("/").at(-1);
          outgoing.end(JSON.stringify({ apiVersion: "v1", kind: "Namespace", metadata: { name } }));
        }
      });
      const port = await listen(busy);
      const patient = KubeClient.fromKubeconfig(
        editKubeconfig(controlPlane("rome").kubeconfig, { server: `http://127.0.0.1:${port}` }, {}),
      );
      const begin = performance.now();
      await patient.patch(Namespace, { name: "busy" }, {}, { type: "merge" });
      assert.ok(performance.now() - begin >= 1_000);
      await patient.get(Namespace, { name: "broken" });
      await assert.rejects(
        patient.patch(Namespace, { name: "broken" }, {}, { type: "merge" }),
        ConnectionError,
      );
      await assert.rejects(
        patient.patch(Namespace, { name: "busy-again" }, {}, { type: "merge", deadlineMs: 500 }),
        (error) => error instanceof ApiError && error.status === 429 && error.retryAfterSeconds === 1,
      );
      assert.deepEqual(seen, [
        "PATCH /api/v1/namespaces/busy",
        "PATCH /api/v1/namespaces/busy",
        "GET /api/v1/namespaces/broken",
        "GET /api/v1/namespaces/broken",
        "PATCH /api/v1/namespaces/broken",
        "PATCH /api/v1/namespaces/busy-again",
      ]);
      patient.close();
      busy.close();
      busy.closeAllConnections();
    });
  });
});
