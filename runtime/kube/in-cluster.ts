import { readFileSync } from "node:fs";
import { isIP } from "node:net";
import { join } from "node:path";

import { type Connection, KubeconfigError } from "./kubeconfig";

const SERVICE_ACCOUNT = "/var/run/secrets/kubernetes.io/serviceaccount";

/** The connection that every pod is given: environment variables and the mounted service account. Throws outside a pod. */
export function inClusterConnection(
  environment: Record<string, string | undefined>,
  folder = SERVICE_ACCOUNT,
): Connection {
  const host = environment.KUBERNETES_SERVICE_HOST;
  const port = environment.KUBERNETES_SERVICE_PORT ?? "443";
  if (host === undefined || host === "") {
    throw new KubeconfigError(
      "in-cluster configuration",
      "KUBERNETES_SERVICE_HOST",
      "is not set; outside a pod, give a kubeconfig",
    );
  }
  return {
    source: "in-cluster configuration",
    server: new URL(`https://${isIP(host) === 6 ? `[${host}]` : host}:${port}`),
    certificateAuthority: { file: join(folder, "ca.crt") },
    insecureSkipTlsVerify: false,
    credentials: { type: "token-file", file: join(folder, "token") },
    namespace: namespaceIn(folder),
  };
}

function namespaceIn(folder: string): string | undefined {
  try {
    return readFileSync(join(folder, "namespace"), "utf8").trim();
  } catch {
    return undefined;
  }
}
