import { createHash, createHmac } from "node:crypto";

/** Signature version 4 of AWS: the requests that IAM, EKS and STS accept. Pure functions of the request, the keys and the time. */

export interface AwsKeys {
  accessKeyId: string;
  secretAccessKey: string;
  /** Of temporary credentials, such as those of a role. */
  sessionToken?: string;
}

export interface AwsRequest {
  method: string;
  /** With its query. */
  url: URL;
  /** Names in lower case; `host` is added. */
  headers?: Readonly<Record<string, string>>;
  body?: string;
}

export interface AwsScope {
  region: string;
  /** As in `iam`, `eks` or `sts`. */
  service: string;
}

const algorithm = "AWS4-HMAC-SHA256";

/** The domain of a region's endpoints. */
export function awsDomain(region: string): string {
  return region.startsWith("cn-") ? "amazonaws.com.cn" : "amazonaws.com";
}

/** The headers to send, those given included. */
export function signAwsRequest(
  request: AwsRequest,
  scope: AwsScope,
  keys: AwsKeys,
  now: Date,
): Record<string, string> {
  const time = timestamp(now);
  const headers: Record<string, string> = {
    ...request.headers,
    host: request.url.host,
    "x-amz-date": time,
    ...(keys.sessionToken === undefined ? {} : { "x-amz-security-token": keys.sessionToken }),
  };
  const { signedHeaders, signature } = sign(request, headers, sha256(request.body ?? ""), scope, keys, time);
  headers.authorization = `${algorithm} Credential=${credential(keys, scope, time)}, SignedHeaders=${signedHeaders}, Signature=${signature}`;
  return headers;
}

/** A URL that carries its own signature, good for the given time. The headers given must be sent with it. */
export function presignAwsUrl(
  request: AwsRequest & { expiresSeconds: number },
  scope: AwsScope,
  keys: AwsKeys,
  now: Date,
): URL {
  const time = timestamp(now);
  const headers: Record<string, string> = { ...request.headers, host: request.url.host };
  const url = new URL(request.url);
  url.searchParams.set("X-Amz-Algorithm", algorithm);
  url.searchParams.set("X-Amz-Credential", credential(keys, scope, time));
  url.searchParams.set("X-Amz-Date", time);
  url.searchParams.set("X-Amz-Expires", String(request.expiresSeconds));
  url.searchParams.set("X-Amz-SignedHeaders", Object.keys(headers).sort().join(";"));
  if (keys.sessionToken !== undefined) url.searchParams.set("X-Amz-Security-Token", keys.sessionToken);
  const { signature } = sign({ ...request, url }, headers, sha256(request.body ?? ""), scope, keys, time);
  url.search = `${canonicalQuery(url)}&X-Amz-Signature=${signature}`;
  return url;
}

function sign(
  { method, url }: AwsRequest,
  headers: Record<string, string>,
  bodyHash: string,
  scope: AwsScope,
  keys: AwsKeys,
  time: string,
): { signedHeaders: string; signature: string } {
  const names = Object.keys(headers).sort();
  const signedHeaders = names.join(";");
  const canonical = [
    method,
    // S3 alone leaves the path as it is; the others encode its segments once more.
    url.pathname.split("/").map(encode).join("/"),
    canonicalQuery(url),
    ...names.map((name) => `${name}:${(headers[name] ?? "").trim().replace(/ +/g, " ")}`),
    "",
    signedHeaders,
    bodyHash,
  ].join("\n");
  const toSign = [algorithm, time, scopePath(scope, time), sha256(canonical)].join("\n");
  const dateKey = hmac(`AWS4${keys.secretAccessKey}`, time.slice(0, 8));
  const signingKey = hmac(hmac(hmac(dateKey, scope.region), scope.service), "aws4_request");
  return { signedHeaders, signature: hmac(signingKey, toSign).toString("hex") };
}

function canonicalQuery(url: URL): string {
  return [...url.searchParams]
    .map(([name, value]): [string, string] => [encode(name), encode(value)])
    .sort(([name, value], [otherName, otherValue]) =>
      name === otherName ? compare(value, otherValue) : compare(name, otherName),
    )
    .map(([name, value]) => `${name}=${value}`)
    .join("&");
}

function compare(left: string, right: string): number {
  return left < right ? -1 : left > right ? 1 : 0;
}

/** Everything but letters, digits and `-._~`. */
function encode(text: string): string {
  return encodeURIComponent(text).replace(
    /[!'()*]/g,
    (letter) => `%${letter.charCodeAt(0).toString(16).toUpperCase()}`,
  );
}

function scopePath({ region, service }: AwsScope, time: string): string {
  return `${time.slice(0, 8)}/${region}/${service}/aws4_request`;
}

function credential(keys: AwsKeys, scope: AwsScope, time: string): string {
  return `${keys.accessKeyId}/${scopePath(scope, time)}`;
}

/** `20150830T123600Z`. */
function timestamp(now: Date): string {
  return now.toISOString().replace(/[-:]|\.\d+/g, "");
}

function sha256(text: string): string {
  return createHash("sha256").update(text).digest("hex");
}

function hmac(key: string | Buffer, text: string): Buffer {
  return createHmac("sha256", key).update(text).digest();
}

/**
 * A bearer token for an EKS cluster: a pre-signed GetCallerIdentity request, which the cluster sends to STS to learn who the caller is. It is valid for 15
 * minutes; make another every ten (control plane reference 7.3).
 */
export function eksToken(clusterName: string, region: string, keys: AwsKeys, now: Date): string {
  const url = presignAwsUrl(
    {
      method: "GET",
      url: new URL(`https://sts.${region}.${awsDomain(region)}/?Action=GetCallerIdentity&Version=2011-06-15`),
      headers: { "x-k8s-aws-id": clusterName },
      expiresSeconds: 60,
    },
    { region, service: "sts" },
    keys,
    now,
  );
  return `k8s-aws-v1.${Buffer.from(url.href).toString("base64url")}`;
}
