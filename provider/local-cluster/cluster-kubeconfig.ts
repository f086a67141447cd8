import { stringify } from "yaml";

import type { KeyedCertificate } from "./certificate-authority";

export interface KubeconfigParts {
  /** Names the cluster, the context and, with the user, the credentials. */
  clusterName: string;
  userName: string;
  server: string;
  /** PEM. */
  caCertificate: string;
  client: KeyedCertificate;
}

/** A kubeconfig with one context, named after the cluster, that needs no other file. */
export function clusterKubeconfig(parts: KubeconfigParts): string {
  const user = `${parts.clusterName}-${parts.userName}`;
  return stringify({
    apiVersion: "v1",
    kind: "Config",
    clusters: [
      {
        name: parts.clusterName,
        cluster: { server: parts.server, "certificate-authority-data": base64(parts.caCertificate) },
      },
    ],
    users: [
      {
        name: user,
        user: {
          "client-certificate-data": base64(parts.client.certificate),
          "client-key-data": base64(parts.client.privateKey),
        },
      },
    ],
    contexts: [{ name: parts.clusterName, context: { cluster: parts.clusterName, user } }],
    "current-context": parts.clusterName,
  });
}

function base64(text: string): string {
  return Buffer.from(text).toString("base64");
}
