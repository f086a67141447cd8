import { chmod, mkdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";

import {
  CertificateAuthority,
  generateServiceAccountKeys,
  type KeyedCertificate,
} from "./certificate-authority";
import { clusterKubeconfig } from "./cluster-kubeconfig";

/** Where a cluster's keys are on disk. */
export interface PkiFiles {
  folder: string;
  /** Path of a file in it. */
  path: (name: string) => string;
}

export interface PkiSpec {
  folder: string;
  clusterName: string;
  /** URL of the API server in the kubeconfigs. */
  server: string;
  /** Addresses and names that the API server answers to. */
  addresses: string[];
  dnsNames: string[];
  /** Users beside the fixed ones, by the name of their files: the nodes' kubelets. */
  users?: Record<
    string,
    { commonName: string; organizations?: string[]; dnsNames?: string[]; addresses?: string[] }
  >;
}

/** The identities that every control plane has, by the name of their files. */
const fixedUsers = {
  admin: { commonName: "kubernetes-admin", organizations: ["system:masters"] },
  "controller-manager": { commonName: "system:kube-controller-manager" },
  scheduler: { commonName: "system:kube-scheduler" },
  proxy: { commonName: "system:kube-proxy" },
};

/**
 * Writes the keys of a control plane: CAs, the API server's certificate, the service-account keys, and for each user a certificate
 * and a kubeconfig (`<user>.kubeconfig`). Files are readable by their owner only.
 */
export async function writeControlPlanePki(spec: PkiSpec): Promise<PkiFiles> {
  await mkdir(spec.folder, { recursive: true, mode: 0o700 });
  await chmod(spec.folder, 0o700);
  const ca = await CertificateAuthority.create(`${spec.clusterName}-ca`);
  const frontProxyCa = await CertificateAuthority.create(`${spec.clusterName}-front-proxy-ca`);
  const users = { ...fixedUsers, ...spec.users };
  const [apiServer, frontProxy, kubeletClient, serviceAccount, ...clients] = await Promise.all([
    ca.issue({ commonName: "kube-apiserver", addresses: spec.addresses, dnsNames: spec.dnsNames }),
    frontProxyCa.issue({ commonName: "front-proxy-client" }),
    ca.issue({ commonName: "kube-apiserver-kubelet-client", organizations: ["system:masters"] }),
    generateServiceAccountKeys(),
    ...Object.values(users).map((user) => ca.issue(user)),
  ]);
  const files: Record<string, string> = {
    ...pair("ca", ca.pem),
    ...pair("front-proxy-ca", frontProxyCa.pem),
    ...pair("apiserver", apiServer),
    ...pair("front-proxy-client", frontProxy),
    ...pair("apiserver-kubelet-client", kubeletClient),
    "service-account.pub": serviceAccount.publicKey,
    "service-account.key": serviceAccount.privateKey,
  };
  for (const [index, userName] of Object.keys(users).entries()) {
    const client = clients[index];
    if (client === undefined) continue;
    const { clusterName, server } = spec;
    Object.assign(files, pair(userName, client), {
      [`${userName}.kubeconfig`]: clusterKubeconfig({
        clusterName,
        userName,
        server,
        caCertificate: ca.pem.certificate,
        client,
      }),
    });
  }
  await Promise.all(
    Object.entries(files).map(([name, content]) =>
      writeFile(join(spec.folder, name), content, { mode: 0o600 }),
    ),
  );
  return { folder: spec.folder, path: (name) => join(spec.folder, name) };
}

/** The cluster's authority, to issue certificates for more users. */
export async function loadCertificateAuthority(folder: string): Promise<CertificateAuthority> {
  const [certificate, privateKey] = await Promise.all(
    ["ca.crt", "ca.key"].map((name) => readFile(join(folder, name), "utf8")),
  );
  if (certificate === undefined || privateKey === undefined) throw new Error(`${folder} holds no authority`);
  return CertificateAuthority.fromPem({ certificate, privateKey });
}

function pair(name: string, { certificate, privateKey }: KeyedCertificate): Record<string, string> {
  return { [`${name}.crt`]: certificate, [`${name}.key`]: privateKey };
}
