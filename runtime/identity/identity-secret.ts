import { parseDocument, stringify } from "yaml";
import { DataKey } from "../api/keys";
import { eksToken } from "./eks-token";

/** The kubeconfig in an identity Secret, ready for use. */
export interface UsableKubeconfig {
  text: string;
  /** When to make it anew, because the token in it expires; undefined for certificates. */
  refreshAfterMs?: number;
}

const awsKeys = [
  DataKey.awsAccessKeyID,
  DataKey.awsSecretAccessKey,
  DataKey.awsRegion,
  DataKey.awsEksClusterID,
  DataKey.awsIamUserArn,
] as const;

/** EKS honours a token for 15 minutes. */
const tokenRefreshMs = 10 * 60_000;

/**
 * Reads the data of an identity Secret (control plane reference 4.4, 7.3): the kubeconfig as it stands there, or for an AWS identity with a
 * fresh token in it.
 *
 * @param data base64 by key, as in a Secret
 * @returns undefined where the Secret has no kubeconfig
 */
export function usableKubeconfig(
  data: Readonly<Record<string, string>> | undefined,
  now: Date,
): UsableKubeconfig | undefined {
  const read = (key: string) => Buffer.from(data?.[key] ?? "", "base64").toString("utf8");
  const text = read(DataKey.kubeconfig);
  if (text === "") return undefined;
  if (!awsKeys.every((key) => data?.[key])) return { text };
  const token = eksToken(
    read(DataKey.awsEksClusterID),
    read(DataKey.awsRegion),
    { accessKeyId: read(DataKey.awsAccessKeyID), secretAccessKey: read(DataKey.awsSecretAccessKey) },
    now,
  );
  const document = parseDocument(text);
  document.setIn(["users", 0, "user"], { token });
  // The token is one long word, which must not be folded.
  return { text: stringify(document.toJS(), { lineWidth: 0 }), refreshAfterMs: tokenRefreshMs };
}
