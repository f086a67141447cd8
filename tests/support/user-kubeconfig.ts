/** A kubeconfig of another user of a cluster, by a certificate that the cluster signs. */
import { CertificateSigningRequest } from "../../runtime/api";
import {
  buildKubeconfig,
  createCertificateRequest,
  generateKeyPair,
  parseKubeconfig,
} from "../../runtime/identity";
import type { KubeClient } from "../../runtime/kube";
import { until } from "./until";

export async function userKubeconfig(
  admin: KubeClient,
  adminKubeconfig: string,
  user: { name: string; group: string },
): Promise<string> {
  const { privateKey } = generateKeyPair();
  const request = createCertificateRequest({ commonName: user.name, organization: user.group }, privateKey);
  const { metadata } = await admin.create(CertificateSigningRequest, {
    apiVersion: CertificateSigningRequest.apiVersion,
    kind: CertificateSigningRequest.kind,
    metadata: { generateName: "test-" },
    spec: {
      request: Buffer.from(request).toString("base64"),
      signerName: "kubernetes.io/kube-apiserver-client",
      usages: ["client auth"],
    },
  });
  const condition = { type: "Approved", status: "True", reason: "Test", message: "" };
  await admin.patch(
    CertificateSigningRequest,
    metadata,
    { status: { conditions: [condition] } },
    { type: "merge", subresource: "approval" },
  );
  const certificate = await until("the certificate is signed", async () => {
    const signed = await admin.get(CertificateSigningRequest, metadata);
    return signed?.status?.certificate;
  });
  const { server, ca } = parseKubeconfig(adminKubeconfig);
  return buildKubeconfig({
    providerClusterId: "milan",
    identityName: user.name,
    server,
    certificate: Buffer.from(certificate, "base64"),
    privateKey,
    ...(ca === undefined ? {} : { ca }),
  });
}
