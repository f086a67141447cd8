import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { generateKeyPairSync } from "node:crypto";

import {
  certificateRequestPem,
  checkCertificateRequest,
  controlPlaneSubject,
  createCertificateRequest,
  ed25519KeyPair,
  generateKeyPair,
  InvalidCertificateRequest,
  type KeyPair,
  resourceSliceSubject,
} from "../../../runtime/identity";
import { oid, sequence, set, tag } from "../../../runtime/identity/der";
import {
  asksFor,
  CN,
  extension,
  extensions,
  hostileRequest,
  O,
  subjectOf,
  twoReadings,
} from "../../support/hostile-identities";
import { withKeyFile } from "./key-file";

const rome = controlPlaneSubject("rome");
const consumer = ed25519KeyPair(Buffer.alloc(32, 2));
const other = ed25519KeyPair(Buffer.alloc(32, 3));
const good = subjectOf([O, "liqo.io"], [CN, "rome"]);
const BMP_STRING = 0x1e;
const T61_STRING = 0x14;

const ecdsa = (namedCurve: string): KeyPair =>
  generateKeyPairSync("ec", {
    namedCurve,
    privateKeyEncoding: { type: "pkcs8", format: "pem" },
    publicKeyEncoding: { type: "spki", format: "pem" },
  });
const rsa = (modulusLength: number): KeyPair =>
  generateKeyPairSync("rsa", {
    modulusLength,
    privateKeyEncoding: { type: "pkcs8", format: "pem" },
    publicKeyEncoding: { type: "spki", format: "pem" },
  });

describe("a request of a peer", () => {
  const check = (pem: string | Buffer) =>
    checkCertificateRequest(pem, { subject: rome, publicKey: consumer.publicKey });
  const withSubject = (subject: Buffer) => hostileRequest(consumer.privateKey, { subject });
  const asking = (...wanted: Buffer[]) =>
    hostileRequest(consumer.privateKey, { subject: good, attributes: [asksFor(...wanted)] });

  it("passes as upstream's consumer makes it, with each type of key, for control plane and slice", () => {
    for (const pair of [consumer, generateKeyPair("rsa"), ...["P-256", "P-384", "P-521"].map(ecdsa)]) {
      for (const subject of [
        rome,
        resourceSliceSubject("pool", "rome"),
        resourceSliceSubject("città", "rome"),
      ]) {
        const pem = createCertificateRequest(subject, pair.privateKey);
        const request = checkCertificateRequest(pem, { subject, publicKey: pair.publicKey });
        assert.equal(certificateRequestPem(request), pem);
      }
    }
  });

  it("passes with names in either order, as any of the usual strings, and made by openssl", () => {
    check(withSubject(good));
    check(withSubject(subjectOf([CN, "rome", tag.printableString], [O, "liqo.io", tag.ia5String])));
    const made = withKeyFile(consumer.privateKey, (file) =>
      execFileSync("openssl", ["req", "-new", "-key", file, "-subj", "/O=liqo.io/CN=rome"]),
    );
    check(made);
  });

  const controllerManager = "system:kube-controller-manager";
  const refused: [string, string, RegExp][] = [
    [
      "two common names, the expected one first",
      withSubject(subjectOf([O, "liqo.io"], [CN, "rome"], [CN, controllerManager])),
      /common name .* is "rome" and "system:kube-controller-manager", expected "rome" alone/,
    ],
    [
      "two common names, the expected one last",
      withSubject(subjectOf([O, "liqo.io"], [CN, controllerManager], [CN, "rome"])),
      /common name .* is "system:kube-controller-manager" and "rome", expected "rome" alone/,
    ],
    [
      "the same common name twice",
      withSubject(subjectOf([O, "liqo.io"], [CN, "rome"], [CN, "rome"])),
      /is "rome" and "rome", expected "rome" alone/,
    ],
    [
      "two organizations",
      withSubject(subjectOf([O, "liqo.io"], [O, "kubeadm:cluster-admins"], [CN, "rome"])),
      /organization .* is "liqo\.io" and "kubeadm:cluster-admins", expected "liqo\.io" alone/,
    ],
    [
      "an organization beside an empty one",
      withSubject(subjectOf([O, "liqo.io"], [O, ""], [CN, "rome"])),
      /is "liqo\.io" and "", expected "liqo\.io" alone/,
    ],
    [
      "two common names in one relative distinguished name",
      withSubject(
        subjectOf(
          [O, "liqo.io"],
          [
            [CN, "rome"],
            [CN, controllerManager],
          ],
        ),
      ),
      /expected "rome" alone/,
    ],
    [
      "two organizations in one relative distinguished name",
      withSubject(
        subjectOf(
          [
            [O, "liqo.io"],
            [O, "kubeadm:cluster-admins"],
          ],
          [CN, "rome"],
        ),
      ),
      /expected "liqo\.io" alone/,
    ],
    [
      "the right names in one relative distinguished name",
      withSubject(
        subjectOf([
          [CN, "rome"],
          [O, "liqo.io"],
        ]),
      ),
      /2 attributes in one relative distinguished name, expected one in each/,
    ],
    [
      "an empty relative distinguished name",
      withSubject(subjectOf([O, "liqo.io"], [], [CN, "rome"])),
      /0 attributes in one relative distinguished name/,
    ],
    ["no subject", withSubject(subjectOf()), /common name .* is missing, expected "rome"/],
    [
      "an empty common name",
      withSubject(subjectOf([O, "liqo.io"], [CN, ""])),
      /common name .* is "", expected "rome"/,
    ],
    [
      "an organization that is no UTF-8",
      withSubject(subjectOf([O, Buffer.from([0xff, 0xfe])], [CN, "rome"])),
      /organization .* is not text, expected/,
    ],
    [
      "a second organization that is no UTF-8",
      withSubject(subjectOf([O, "liqo.io"], [O, Buffer.from([0xff])], [CN, "rome"])),
      /is "liqo\.io" and not text, expected "liqo\.io" alone/,
    ],
    [
      "a common name of two bytes a character",
      withSubject(subjectOf([O, "liqo.io"], [CN, Buffer.from("\0r\0o\0m\0e"), BMP_STRING])),
      /common name .* is not text/,
    ],
    [
      "a second common name of another kind of string",
      withSubject(subjectOf([O, "liqo.io"], [CN, "rome"], [CN, controllerManager, T61_STRING])),
      /is "rome" and not text, expected "rome" alone/,
    ],
    [
      "a common name that is a number",
      withSubject(subjectOf([O, "liqo.io"], [CN, Buffer.from([7]), tag.integer])),
      /common name .* is not text/,
    ],
    [
      "a printable string with what none holds",
      withSubject(subjectOf([O, "liqo.io"], [CN, "rome\0", tag.printableString])),
      /common name .* is not text/,
    ],
    [
      "an end of text in the common name",
      withSubject(subjectOf([O, "liqo.io"], [CN, "rome\0.example"])),
      /common name .* is "rome\\u0000\.example", expected "rome"/,
    ],
    [
      "an organizational unit",
      withSubject(subjectOf([O, "liqo.io"], ["2.5.4.11", "admins"], [CN, "rome"])),
      /attribute 2\.5\.4\.11, expected common name and organization alone/,
    ],
    [
      "the unique ID of a user, which Kubernetes reads",
      withSubject(subjectOf([O, "liqo.io"], [CN, "rome"], ["1.3.6.1.4.1.57683.2", "0"])),
      /attribute 1\.3\.6\.1\.4\.1\.57683\.2/,
    ],
    [
      "a name longer than anybody reads",
      withSubject(subjectOf([O, "liqo.io"], [CN, "a".repeat(5000)])),
      /^common name of the certificate request is "a{100}…", expected "rome"$/,
    ],
    ["a URI", asking(extensions.uri), /extension subjectAltName \(2\.5\.29\.17\), expected none/],
    ["a DNS name", asking(extensions.dns), /subjectAltName/],
    [
      "an authority's constraints",
      asking(extensions.authority),
      /basicConstraints \(2\.5\.29\.19\), expected none/,
    ],
    ["an authority's usage", asking(extensions.signsCertificates), /keyUsage \(2\.5\.29\.15\)/],
    ["a server's usage", asking(extensions.server), /extendedKeyUsage \(2\.5\.29\.37\)/],
    [
      "an unknown extension",
      asking(extensions.unknown),
      /extension 1\.3\.6\.1\.4\.1\.57683\.1, expected none/,
    ],
    [
      "extensions in a second list",
      hostileRequest(consumer.privateKey, {
        subject: good,
        attributes: [asksFor(), asksFor(extensions.uri)],
      }),
      /subjectAltName/,
    ],
    [
      "a challenge password",
      hostileRequest(consumer.privateKey, {
        subject: good,
        attributes: [sequence(oid("1.2.840.113549.1.9.7"), set(Buffer.from([0x0c, 1, 0x78])))],
      }),
      /attribute 1\.2\.840\.113549\.1\.9\.7, expected none/,
    ],
    [
      "an attribute that is none",
      hostileRequest(consumer.privateKey, { subject: good, attributes: [set()] }),
      /not valid PKCS#10/,
    ],
    [
      "a signature of another key",
      hostileRequest(consumer.privateKey, { subject: good, signer: other.privateKey }),
      /not signed with the key it is for/,
    ],
    [
      "another request before it, for other readers",
      twoReadings(withSubject(subjectOf([O, "x"], [CN, controllerManager])), withSubject(good)),
      /characters before its PEM block/,
    ],
  ];
  for (const [title, pem, words] of refused) {
    it(`is refused with ${title}`, () => {
      assert.throws(
        () => check(pem),
        (error: unknown) => error instanceof InvalidCertificateRequest && words.test(error.message),
      );
    });
  }

  for (const [title, pair, words] of [
    ["RSA of 1024 bits", rsa(1024), /RSA of 1024 bits, expected 2048 to 8192/],
    ["ECDSA on P-224", ecdsa("secp224r1"), /ECDSA on curve secp224r1/],
  ] as const) {
    it(`is refused with a key of type ${title}`, () => {
      const pem = createCertificateRequest(rome, pair.privateKey);
      assert.throws(() => checkCertificateRequest(pem, { subject: rome, publicKey: pair.publicKey }), words);
    });
  }

  it("of a server asks for addresses and nothing else", () => {
    const node = { commonName: "system:node:milan", organization: "system:nodes" };
    const pair = ecdsa("P-256");
    const subject = subjectOf([O, node.organization], [CN, node.commonName]);
    const judge = (...wanted: Buffer[]) =>
      checkCertificateRequest(
        hostileRequest(pair.privateKey, { subject, attributes: [asksFor(...wanted)] }),
        {
          subject: node,
          addresses: "any",
        },
      );
    checkCertificateRequest(
      createCertificateRequest(node, pair.privateKey, { ip: ["10.0.0.7", "fd00::7"] }),
      {
        subject: node,
        addresses: "any",
      },
    );
    judge(extensions.address);
    assert.throws(() => judge(extensions.dns), /kind DNS name, expected IP address/);
    assert.throws(() => judge(extensions.uri), /kind URI, expected IP address/);
    assert.throws(() => judge(extensions.address, extensions.address), /2 times, expected once/);
    assert.throws(() => judge(), /0 times, expected once/);
    assert.throws(() => judge(extension("2.5.29.17", sequence())), /no IP address, expected one/);
    assert.throws(() => judge(extension("2.5.29.17", Buffer.from("x"))), /not readable/);
    assert.throws(() => judge(extensions.address, extensions.authority), /expected subjectAltName alone/);
  });
});
