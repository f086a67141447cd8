import assert from "node:assert/strict";
import { generateKeyPairSync } from "node:crypto";

import { ForeignCluster, Secret } from "../../runtime/api";
import {
  controlPlaneSubject,
  createCertificateRequest,
  generateKeyPair,
  type KeyPair,
  parseCertificate,
  parseKubeconfig,
  publicKeyDer,
  samePublicKey,
  signNonce,
} from "../../runtime/identity";
import { KubeClient } from "../../runtime/kube";
import { ConnectProxy } from "../../runtime/proxy/connect-proxy";
import { base64 } from "../support/base64";
import { eventWith } from "../support/events";
import type { ManagedCluster } from "../support/managed-cluster";
import { ACCEPTED, atMilan, atRome, withPeeringOfRome } from "../support/peering-of-rome";
import type { PeeringSteps } from "../support/peering-steps";
import { until } from "../support/until";

/** Whose keys the identities of a peering are for, and which way they go (control plane reference 4.1, 6.3 and 21.2). */
describe("a peering between rome and milan", function () {
  this.timeout(120_000);
  const peering = withPeeringOfRome();
  const { controlPlane, says, virtualNode, peer, tenantAtMilan } = peering;
  let rome: ManagedCluster;
  let milan: ManagedCluster;
  let steps: PeeringSteps;
  before(() => {
    ({ rome, milan, steps } = peering);
  });

  describe("with keys of every type", () => {
    const keysOfRome = { name: "authentication-keys", namespace: "liqo" };
    const ecdsa = (namedCurve: string): KeyPair =>
      generateKeyPairSync("ec", {
        namedCurve,
        privateKeyEncoding: { type: "pkcs8", format: "pem" },
        publicKeyEncoding: { type: "spki", format: "pem" },
      });
    afterEach(() => steps.remove());

    const types: [string, () => KeyPair][] = [
      ["RSA", () => generateKeyPair("rsa")],
      ["ECDSA on P-256", () => ecdsa("P-256")],
      ["ECDSA on P-384", () => ecdsa("P-384")],
      ["Ed25519", () => generateKeyPair()],
    ];
    for (const [type, make] of types) {
      it(`${type}: both identities work`, async () => {
        const { privateKey, publicKey } = make();
        await rome.admin.patch(
          Secret,
          keysOfRome,
          {
            data: { privateKey: base64(privateKey), publicKey: base64(publicKey), previousPublicKeys: null },
          },
          { type: "merge" },
        );
        await peer();
        for (const identity of ["controlplane-milan", "resourceslice-pool"]) {
          const secret = await rome.admin.get(Secret, atRome(`kubeconfig-${identity}`));
          const kubeconfig = parseKubeconfig(
            Buffer.from(secret?.data?.kubeconfig ?? "", "base64").toString(),
          );
          assert.ok(
            samePublicKey(parseCertificate(kubeconfig.certificate ?? "").publicKey, publicKey),
            identity,
          );
        }
        await steps.slice("second");
        await says("second", ACCEPTED);
      });
    }

    it("Ed25519, sent as 32 raw bytes by an old peer", async () => {
      const { publicKey } = await steps.consumerKeys();
      await steps.nonceSecret();
      await steps.tenant({ publicKey: base64(publicKeyDer(publicKey).subarray(-32)) });
      await steps.identity();
      await steps.slice();
      await virtualNode("pool");
    });
  });

  describe("under the ID of a cluster that is there already", () => {
    afterEach(() => steps.remove());

    it("tells the provider that the key is another one", async () => {
      await peer();
      const { privateKey, publicKey } = generateKeyPair();
      const secret = await milan.admin.get(Secret, atMilan("liqo-nonce"));
      const nonce = Buffer.from(secret?.data?.nonce ?? "", "base64");
      await steps.tenant({
        publicKey: base64(publicKey),
        csr: base64(createCertificateRequest(controlPlaneSubject("rome"), privateKey)),
        signature: base64(signNonce(nonce, privateKey)),
      });
      await eventWith(
        milan.admin,
        await tenantAtMilan(),
        "KeyChanged",
        /spec\.publicKey is another key than cluster "rome" had before.*another cluster of the same ID/,
      );
    });
  });

  describe("whose provider is reached through its proxy only", () => {
    let proxy: ConnectProxy;
    before(async () => {
      const { host } = new URL(controlPlane("milan").url);
      proxy = await ConnectProxy.start({ port: 0, host: "127.0.0.1", forceHost: host, allowedHosts: [] });
      await milan.stop();
      // A name that leads to the API server inside milan, and nowhere from here.
      await milan.start(["--api-server-address-override=https://kubernetes.default.svc:443"]);
    });
    after(async () => {
      await steps.remove();
      await milan.stop();
      await milan.start();
      await proxy.stop();
    });

    it("both identities go by it, and so does the check of the API server", async () => {
      const proxyURL = `http://127.0.0.1:${proxy.port}`;
      await steps.nonceSecret();
      await steps.tenant({ proxyURL });
      await steps.identity();
      await steps.slice();
      await virtualNode("pool");
      await says("pool", ACCEPTED);
      for (const identity of ["controlplane-milan", "resourceslice-pool"]) {
        const secret = await rome.admin.get(Secret, atRome(`kubeconfig-${identity}`));
        const kubeconfig = parseKubeconfig(Buffer.from(secret?.data?.kubeconfig ?? "", "base64").toString());
        assert.deepEqual(
          [kubeconfig.server, kubeconfig.proxyUrl],
          ["https://kubernetes.default.svc:443", proxyURL],
        );
        const client = KubeClient.fromKubeconfig(
          Buffer.from(secret?.data?.kubeconfig ?? "", "base64").toString(),
        );
        assert.equal((await client.raw({ path: "/version" })).status, 200);
        client.close();
      }
      const peer = await until("the peer answers", async () => {
        const found = await rome.admin.get(ForeignCluster, { name: "milan" });
        return found?.status?.conditions?.[0]?.status === "Established" && found;
      });
      assert.equal(peer.status?.foreignProxyUrl, proxyURL);
      assert.ok(proxy.open > 0);
    });
  });
});
