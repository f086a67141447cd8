import assert from "node:assert/strict";
import { createPrivateKey, X509Certificate } from "node:crypto";
import { mkdtempSync, readdirSync, readFileSync, rmSync, statSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

import { parseKubeconfig } from "../../../runtime/identity";
import { CertificateAuthority } from "../../../provider/local-cluster/certificate-authority";
import {
  loadCertificateAuthority,
  writeControlPlanePki,
} from "../../../provider/local-cluster/control-plane-pki";

describe("a local cluster's certificates", () => {
  it("carry the names asked for and are signed by their authority, also after it was stored", async () => {
    const authority = await CertificateAuthority.fromPem((await CertificateAuthority.create("rome-ca")).pem);
    const issued = await authority.issue({
      commonName: "kube-apiserver",
      organizations: ["a", "b"],
      addresses: ["172.30.0.16", "10.96.0.1"],
      dnsNames: ["kubernetes.default.svc"],
    });
    const certificate = new X509Certificate(issued.certificate);
    const issuer = new X509Certificate(authority.pem.certificate);
    assert.ok(issuer.ca && !certificate.ca);
    assert.ok(certificate.checkIssued(issuer) && certificate.verify(issuer.publicKey));
    assert.equal(certificate.subject, "O=a\nO=b\nCN=kube-apiserver");
    assert.equal(certificate.checkIP("10.96.0.1"), "10.96.0.1");
    assert.equal(certificate.checkIP("10.96.0.2"), undefined);
    assert.equal(certificate.checkHost("kubernetes.default.svc"), "kubernetes.default.svc");
    assert.ok(certificate.checkPrivateKey(createPrivateKey(issued.privateKey)));
    const other = await CertificateAuthority.create("milan-ca");
    assert.equal(certificate.verify(new X509Certificate(other.pem.certificate).publicKey), false);
  });

  it("are readable by their owner alone, with a kubeconfig for each user", async () => {
    const folder = mkdtempSync(join(tmpdir(), "pki-test-"));
    try {
      await writeControlPlanePki({
        folder,
        clusterName: "rome",
        server: "https://172.30.0.16:6443",
        addresses: ["172.30.0.16"],
        dnsNames: [],
        users: { "rome-1": { commonName: "system:node:rome-1", organizations: ["system:nodes"] } },
      });
      for (const name of readdirSync(folder))
        assert.equal(statSync(join(folder, name)).mode & 0o077, 0, name);
      const kubeconfig = parseKubeconfig(readFileSync(join(folder, "rome-1.kubeconfig"), "utf8"));
      assert.equal(kubeconfig.server, "https://172.30.0.16:6443");
      assert.equal(kubeconfig.contextName, "rome");
      assert.equal(
        new X509Certificate(kubeconfig.certificate ?? "").subject,
        "O=system:nodes\nCN=system:node:rome-1",
      );
      const late = await (await loadCertificateAuthority(folder)).issue({ commonName: "reader" });
      assert.ok(
        new X509Certificate(late.certificate).verify(new X509Certificate(kubeconfig.ca ?? "").publicKey),
      );
    } finally {
      rmSync(folder, { recursive: true, force: true });
    }
  });
});
