import assert from "node:assert/strict";
import { X509Certificate } from "node:crypto";
import { once } from "node:events";
import { createServer, get } from "node:https";
import type { AddressInfo } from "node:net";
import { type CertificateData, decideCertificates, trustPatch } from "../../../runtime/webhooks/certificates";

const names = ["liqo-webhook", "liqo-webhook.liqo-system", "liqo-webhook.liqo-system.svc"];
const start = new Date("2026-03-01T10:00:00Z");
const after = (days: number) => new Date(start.getTime() + days * 24 * 3600 * 1000);

function replaced(data: CertificateData, now: Date, forNames: readonly string[] = names) {
  const decision = decideCertificates(data, forNames, now);
  assert.equal(decision.do, "replace");
  return decision;
}

describe("the webhook's certificates", () => {
  const first = replaced({}, start);

  it("are made when there are none, for every name of the Service", () => {
    assert.equal(first.newAuthority, true);
    const certificate = new X509Certificate(first.data["tls.crt"]);
    const authority = new X509Certificate(first.data.ca);
    assert.ok(certificate.checkIssued(authority) && certificate.verify(authority.publicKey));
    assert.equal(authority.ca, true);
    assert.equal(certificate.ca, false);
    for (const name of names) assert.equal(certificate.checkHost(name), name);
    assert.equal(certificate.checkHost("liqo-webhook.other.svc"), undefined);
  });

  it("stay in the first two thirds of their year, and the next look is due right after", () => {
    const decision = decideCertificates(first.data, names, after(200));
    assert.equal(decision.do, "keep");
    const next = after(200).getTime() + decision.checkAgainAfterMs;
    assert.ok(next > after(243).getTime() && next < after(255).getTime(), new Date(next).toISOString());
  });

  it("are renewed in the last third by the same authority, so that nobody has to learn a new one", () => {
    const second = replaced(first.data, after(250));
    assert.equal(second.newAuthority, false);
    assert.equal(second.data.ca, first.data.ca);
    assert.notEqual(second.data["tls.crt"], first.data["tls.crt"]);
    assert.equal(decideCertificates(second.data, names, after(250)).do, "keep");
  });

  it("get a new authority years before the old one runs out, and the old one stays trusted meanwhile", () => {
    const later = after(7 * 365);
    const next = replaced(first.data, later);
    assert.equal(next.newAuthority, true);
    assert.ok(next.data.ca.endsWith(first.data.ca) && next.data.ca.length > first.data.ca.length);
    assert.equal(decideCertificates(next.data, names, later).do, "keep");
    const last = replaced(next.data, after(13 * 365));
    assert.ok(!last.data.ca.includes(first.data.ca), "an authority that has run out is dropped");
  });

  const broken: [title: string, data: CertificateData, newAuthority: boolean][] = [
    ["a certificate is missing", { ...first.data, "tls.crt": "" }, false],
    ["a certificate is garbage", { ...first.data, "tls.crt": "-----BEGIN" }, false],
    ["the key is another's", { ...first.data, "tls.key": replaced({}, start).data["tls.key"] }, false],
    ["the authority is another's", { ...first.data, ca: replaced({}, start).data.ca }, true],
    ["the authority is missing", { ...first.data, ca: "" }, true],
  ];
  for (const [title, data, newAuthority] of broken) {
    it(`are replaced when ${title}`, () => assert.equal(replaced(data, after(1)).newAuthority, newAuthority));
  }

  it("are replaced when they are not for an address", () => {
    const next = replaced(first.data, after(1), [...names, "127.0.0.1"]);
    assert.equal(new X509Certificate(next.data["tls.crt"]).checkIP("127.0.0.1"), "127.0.0.1");
    assert.equal(decideCertificates(next.data, [...names, "127.0.0.1"], after(1)).do, "keep");
  });

  it("are replaced when the Service has another name", () => {
    assert.equal(replaced(first.data, after(1), ["liqo-webhook.liqo.svc"]).newAuthority, false);
  });

  it("made by upstream, without the authority's key, serve until they are due", () => {
    const upstream: CertificateData = { ...first.data };
    delete upstream["ca.key"];
    assert.equal(decideCertificates(upstream, names, after(1)).do, "keep");
    const next = replaced(upstream, after(300));
    assert.equal(next.newAuthority, true);
    assert.ok(next.data.ca.endsWith(first.data.ca));
  });

  it("are what TLS clients accept, for the Service's name and no other", async () => {
    const now = replaced({}, new Date()).data;
    const server = createServer({ cert: now["tls.crt"], key: now["tls.key"] }, (_, response) =>
      response.end("ok"),
    );
    server.listen(0, "127.0.0.1");
    await once(server, "listening");
    const { port } = server.address() as AddressInfo;
    const call = (servername: string) =>
      new Promise<string>((resolve) => {
        get({ host: "127.0.0.1", port, servername, ca: now.ca, agent: false }, (response) => {
          response.resume();
          resolve(String(response.statusCode));
        }).on("error", (error: NodeJS.ErrnoException) => resolve(error.code ?? error.message));
      });
    try {
      assert.equal(await call("liqo-webhook.liqo-system.svc"), "200");
      assert.equal(await call("liqo-webhook.liqo.svc"), "ERR_TLS_CERT_ALTNAME_INVALID");
    } finally {
      server.close();
    }
  });
});

describe("the trust of a registration", () => {
  const base64 = (text: string) => Buffer.from(text).toString("base64");
  const configuration = (
    clientConfig: object,
    labels: Record<string, string> = { "liqo.io/webhook": "true" },
  ) => ({
    metadata: { labels },
    webhooks: [{ name: "a", clientConfig }],
  });
  const service = { name: "liqo-webhook", namespace: "liqo-system", path: "/mutate/pod", port: 9443 };

  it("is written where it is missing or another, with a test that the entry is the one meant", () => {
    assert.deepEqual(trustPatch(configuration({ service }), { ca: "CA" }), [
      { op: "test", path: "/webhooks/0/name", value: "a" },
      { op: "replace", path: "/webhooks/0/clientConfig", value: { service, caBundle: base64("CA") } },
    ]);
    assert.equal(trustPatch(configuration({ service, caBundle: base64("old") }), { ca: "CA" }).length, 2);
  });

  it("is left alone where it is right, or where nobody asked for it", () => {
    assert.deepEqual(trustPatch(configuration({ service, caBundle: base64("CA") }), { ca: "CA" }), []);
    assert.deepEqual(trustPatch(configuration({ service }, {}), { ca: "CA" }), []);
  });

  it("goes with an address in place of the Service, and keeps the path, the second time too", () => {
    const trust = { ca: "CA", baseUrl: "https://127.0.0.1:9443" };
    const wanted = { url: "https://127.0.0.1:9443/mutate/pod", caBundle: base64("CA") };
    assert.deepEqual(trustPatch(configuration({ service }), trust)[1], {
      op: "replace",
      path: "/webhooks/0/clientConfig",
      value: wanted,
    });
    assert.deepEqual(trustPatch(configuration(wanted), trust), []);
  });
});
