import assert from "node:assert/strict";
import { eksToken, presignAwsUrl, signAwsRequest } from "../../../runtime/identity/aws-signature";

// Keys, time and expected signatures of the test suite that AWS publishes for signature version 4.
const keys = { accessKeyId: "AKIDEXAMPLE", secretAccessKey: "wJalrXUtnFEMI/K7MDENG+bPxRfiCYEXAMPLEKEY" };
const now = new Date("2015-08-30T12:36:00Z");
const scope = { region: "us-east-1", service: "service" };

const signatureOf = (method: string, url: string, body?: string, headers?: Record<string, string>) =>
  /Signature=(\w+)$/.exec(
    signAwsRequest({ method, url: new URL(url), body, headers }, scope, keys, now).authorization ?? "",
  )?.[1];

describe("requests signed for AWS", () => {
  it("have the published signature for a plain GET", () => {
    assert.equal(
      signatureOf("GET", "https://example.amazonaws.com/"),
      "5fa00fa31553b73ebf1942676e86291e8372ff2a2260956d9b8aae1d763fbf31",
    );
  });

  it("have the published signature whatever the order of the query", () => {
    const expected = "b97d918cfa904a5beff61c982a1b6f458b799221646efd99d3219ec94cdf2500";
    for (const query of ["Param1=value1&Param2=value2", "Param2=value2&Param1=value1"]) {
      assert.equal(signatureOf("GET", `https://example.amazonaws.com/?${query}`), expected);
    }
  });

  it("have the published signature for a form", () => {
    assert.equal(
      signatureOf("POST", "https://example.amazonaws.com/", "Param1=value1", {
        "content-type": "application/x-www-form-urlencoded",
      }),
      "ff11897932ad3f4e8b18135d722051e5ac45fc38421b1da7b9d196a0fe09473a",
    );
  });

  it("name the key and the scope, and never the secret", () => {
    const headers = signAwsRequest(
      { method: "GET", url: new URL("https://iam.amazonaws.com/") },
      { region: "us-east-1", service: "iam" },
      { ...keys, sessionToken: "of-a-role" },
      now,
    );
    assert.match(
      headers.authorization ?? "",
      /^AWS4-HMAC-SHA256 Credential=AKIDEXAMPLE\/20150830\/us-east-1\/iam\/aws4_request, SignedHeaders=host;x-amz-date;x-amz-security-token, /,
    );
    assert.equal(headers["x-amz-security-token"], "of-a-role");
    assert.ok(!JSON.stringify(headers).includes(keys.secretAccessKey));
  });
});

describe("a token for an EKS cluster", () => {
  it("is a pre-signed question to STS for that cluster", () => {
    const token = eksToken("milan-eks", "eu-south-1", keys, now);
    assert.match(token, /^k8s-aws-v1\.[\w-]+$/);
    const url = new URL(Buffer.from(token.slice("k8s-aws-v1.".length), "base64url").toString());
    assert.equal(url.host, "sts.eu-south-1.amazonaws.com");
    assert.equal(url.searchParams.get("Action"), "GetCallerIdentity");
    assert.equal(url.searchParams.get("X-Amz-SignedHeaders"), "host;x-k8s-aws-id");
    assert.equal(url.searchParams.get("X-Amz-Expires"), "60");
    assert.match(url.searchParams.get("X-Amz-Signature") ?? "", /^[0-9a-f]{64}$/);
  });

  it("differs by cluster, key and time only", () => {
    const token = (cluster: string, at: Date) => eksToken(cluster, "eu-south-1", keys, at);
    assert.equal(token("a", now), token("a", now));
    assert.notEqual(token("a", now), token("b", now));
    assert.notEqual(token("a", now), token("a", new Date("2015-08-30T12:46:00Z")));
  });

  it("is asked of the Chinese partition for a region there", () => {
    const url = new URL(
      Buffer.from(eksToken("a", "cn-north-1", keys, now).slice("k8s-aws-v1.".length), "base64url").toString(),
    );
    assert.equal(url.host, "sts.cn-north-1.amazonaws.com.cn");
  });

  it("signs what it presigns: the signature covers the expiry", () => {
    const presign = (expiresSeconds: number) =>
      presignAwsUrl(
        { method: "GET", url: new URL("https://sts.eu-south-1.amazonaws.com/?A=1"), expiresSeconds },
        { region: "eu-south-1", service: "sts" },
        keys,
        now,
      ).searchParams.get("X-Amz-Signature");
    assert.notEqual(presign(60), presign(61));
  });
});
