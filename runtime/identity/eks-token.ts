import { type AwsKeys, presignAwsUrl } from "./aws-signature";

/**
 * A bearer token for an EKS cluster: a pre-signed question to STS who its sender is, which the cluster asks on its behalf. Good for 15
 * minutes; make another every ten (control plane reference 7.3).
 */
export function eksToken(clusterName: string, region: string, keys: AwsKeys, now: Date): string {
  const domain = region.startsWith("cn-") ? "amazonaws.com.cn" : "amazonaws.com";
  const url = presignAwsUrl(
    {
      method: "GET",
      url: new URL(`https://sts.${region}.${domain}/?Action=GetCallerIdentity&Version=2011-06-15`),
      headers: { "x-k8s-aws-id": clusterName },
      expiresSeconds: 60,
    },
    { region, service: "sts" },
    keys,
    now,
  );
  return `k8s-aws-v1.${Buffer.from(url.href).toString("base64url")}`;
}
