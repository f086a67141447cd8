import assert from "node:assert/strict";
import type { CertificateSigningRequest, VirtualNode } from "../../../runtime/api";
import { refusal } from "../../../runtime/controller-manager/serving-certificate-approver";
import { createCertificateRequest, ed25519KeyPair } from "../../../runtime/identity";
import { base64 } from "../../support/base64";
import { asksFor, CN, extensions, hostileRequest, O, subjectOf } from "../../support/hostile-identities";

const key = ed25519KeyPair(Buffer.alloc(32, 3)).privateKey;
const virtualNode: VirtualNode = {
  apiVersion: "offloading.liqo.io/v1beta1",
  kind: "VirtualNode",
  metadata: { name: "milan", namespace: "liqo-tenant-milan" },
  spec: {},
};

const request = (
  over: Partial<CertificateSigningRequest["spec"]> = {},
  subject = { commonName: "system:node:milan", organization: "system:nodes" },
): CertificateSigningRequest => ({
  apiVersion: "certificates.k8s.io/v1",
  kind: "CertificateSigningRequest",
  metadata: { name: "csr-1" },
  spec: {
    signerName: "kubernetes.io/kubelet-serving",
    username: "system:serviceaccount:liqo:liqo-virtual-kubelet",
    usages: ["digital signature", "server auth"],
    request: Buffer.from(createCertificateRequest(subject, key, { ip: ["10.0.0.7"] })).toString("base64"),
    ...over,
  },
});

const hostile = (subject: Buffer, ...attributes: Buffer[]) =>
  request({ request: base64(hostileRequest(key, { subject, attributes })) });

describe("a request for a serving certificate", () => {
  for (const [title, username, signerName] of [
    [
      "the virtual kubelet",
      "system:serviceaccount:liqo:liqo-virtual-kubelet",
      "kubernetes.io/kubelet-serving",
    ],
    [
      "a process for that node alone",
      "system:serviceaccount:liqo-tenant-milan:milan",
      "kubernetes.io/kubelet-serving",
    ],
    [
      "the virtual kubelet on EKS",
      "system:serviceaccount:liqo:liqo-virtual-kubelet",
      "beta.eks.amazonaws.com/app-serving",
    ],
  ] as const) {
    it(`is approved for ${title}`, () => {
      assert.equal(refusal(request({ username, signerName }), "liqo", [virtualNode]), undefined);
    });
  }

  const nodes = { commonName: "system:node:milan", organization: "system:nodes" };
  const refused: [string, CertificateSigningRequest, VirtualNode[], RegExp][] = [
    ["no such virtual node", request(), [], /names no virtual node/],
    [
      "a real node's name",
      request({}, { ...nodes, commonName: "system:node:worker-1" }),
      [virtualNode],
      /"system:node:worker-1" names no virtual node/,
    ],
    [
      "no node's name",
      request({}, { ...nodes, commonName: "milan" }),
      [virtualNode],
      /names no virtual node/,
    ],
    [
      "administrators' group",
      request({}, { ...nodes, organization: "system:masters" }),
      [virtualNode],
      /system:masters/,
    ],
    [
      "another service account of the installation",
      request({ username: "system:serviceaccount:liqo:liqo-webhook" }),
      [virtualNode],
      /is not the virtual kubelet/,
    ],
    [
      "the virtual kubelet of another installation",
      request({ username: "system:serviceaccount:other:liqo-virtual-kubelet" }),
      [virtualNode],
      /is not the virtual kubelet/,
    ],
    ["a client's usage", request({ usages: ["client auth"] }), [virtualNode], /usage client auth/],
    [
      "a client certificate's signer",
      request({ signerName: "kubernetes.io/kube-apiserver-client" }),
      [virtualNode],
      /none of ours/,
    ],
    [
      "a second name, of a real node",
      hostile(subjectOf([O, "system:nodes"], [CN, "system:node:worker-1"], [CN, "system:node:milan"])),
      [virtualNode],
      /"system:node:worker-1" and "system:node:milan", expected "system:node:milan" alone/,
    ],
    [
      "a second group",
      hostile(subjectOf([O, "system:nodes"], [O, "system:masters"], [CN, "system:node:milan"])),
      [virtualNode],
      /"system:nodes" and "system:masters", expected "system:nodes" alone/,
    ],
    [
      "the name of another server",
      hostile(subjectOf([O, "system:nodes"], [CN, "system:node:milan"]), asksFor(extensions.dns)),
      [virtualNode],
      /kind DNS name, expected IP address/,
    ],
    ["no request", request({ request: "" }), [virtualNode], /no PEM block/],
  ];
  for (const [title, object, virtualNodes, expected] of refused) {
    it(`is left alone with ${title}`, () => {
      assert.match(refusal(object, "liqo", virtualNodes) ?? "", expected);
    });
  }
});
