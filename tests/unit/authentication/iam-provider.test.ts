import assert from "node:assert/strict";
import { once } from "node:events";
import { createServer, type IncomingMessage, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { parse } from "yaml";
import { AwsHttpsApi } from "../../../runtime/authentication/identity-provider/aws-api";
import { iamUserName, withMappedUser } from "../../../runtime/authentication/identity-provider/iam-provider";
import { controlPlaneSubject, resourceSliceSubject } from "../../../runtime/identity";
import { systemClock } from "../../../runtime/kube";

describe("the name of an IAM user", () => {
  it("follows from the subject and the cluster, in letters and digits", () => {
    const name = iamUserName(controlPlaneSubject("rome"), "milan");
    assert.match(name, /^liqo-[A-Za-z0-9]{40,44}$/);
    assert.equal(name, iamUserName(controlPlaneSubject("rome"), "milan"));
    assert.notEqual(name, iamUserName(controlPlaneSubject("rome"), "turin"));
    assert.notEqual(name, iamUserName(resourceSliceSubject("pool", "rome"), "milan"));
  });
});

describe("the list of mapped users", () => {
  const user = { userarn: "arn:aws:iam::1:user/liqo-x", username: "rome", groups: ["liqo.io"] };

  it("begins with the first", () => {
    for (const text of [undefined, "", "[]\n"])
      assert.deepEqual(parse(withMappedUser(text, user) ?? ""), [user]);
  });

  it("keeps the others, and what people wrote beside them", () => {
    const text =
      "# administrators\n- userarn: arn:aws:iam::1:user/anna\n  username: anna\n  groups: [system:masters]\n";
    const after = withMappedUser(text, user) ?? "";
    assert.match(after, /# administrators/);
    assert.deepEqual(parse(after), [
      { userarn: "arn:aws:iam::1:user/anna", username: "anna", groups: ["system:masters"] },
      user,
    ]);
    assert.equal(withMappedUser(after, user), undefined);
  });

  for (const text of ["a: b", "- 1", "- userarn: 1\n", "[", "text"]) {
    it(`is not touched where it is none: ${JSON.stringify(text)}`, () => {
      assert.throws(() => withMappedUser(text, user), /is not a YAML list of \{userarn, username, groups\}/);
    });
  }
});

describe("AWS over HTTP", () => {
  let server: Server;
  let api: AwsHttpsApi;
  let seen: { method?: string; url?: string; headers: IncomingMessage["headers"]; body: string }[];
  let answers: { status: number; body: string; headers?: Record<string, string> }[];

  before(async () => {
    server = createServer((request, response) => {
      let body = "";
      request.on("data", (chunk: Buffer) => (body += chunk.toString()));
      request.on("end", () => {
        seen.push({ method: request.method, url: request.url, headers: request.headers, body });
        const { status, body: text, headers } = answers.shift() ?? { status: 500, body: "" };
        response.writeHead(status, headers).end(text);
      });
    });
    server.listen(0, "127.0.0.1");
    await once(server, "listening");
    const base = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
    api = new AwsHttpsApi({
      keys: { accessKeyId: "AKIDEXAMPLE", secretAccessKey: "very-secret" },
      region: "eu-south-1",
      clock: systemClock,
      endpoints: { iam: base, eks: base },
    });
  });
  after(() => {
    server.closeAllConnections();
    server.close();
  });
  beforeEach(() => {
    seen = [];
    answers = [];
  });

  it("asks EKS for a cluster, signed for its region", async () => {
    answers.push({
      status: 200,
      body: JSON.stringify({ cluster: { endpoint: "https://x", certificateAuthority: { data: "Q0E=" } } }),
    });
    assert.deepEqual(await api.describeCluster("milan eks"), {
      endpoint: "https://x",
      certificateAuthority: "Q0E=",
    });
    assert.deepEqual([seen[0]?.method, seen[0]?.url], ["GET", "/clusters/milan%20eks"]);
    assert.match(seen[0]?.headers.authorization ?? "", /\/eu-south-1\/eks\/aws4_request/);
  });

  it("makes a user with its tags, signed for IAM's only region", async () => {
    answers.push({
      status: 200,
      body: "<CreateUserResponse><CreateUserResult><User><UserName>liqo-x</UserName><Arn>arn:aws:iam::1:user/liqo-x</Arn></User></CreateUserResult></CreateUserResponse>",
    });
    assert.equal(
      await api.createUser("liqo-x", { "liqo.io/managed-by": "liqo" }),
      "arn:aws:iam::1:user/liqo-x",
    );
    const form = new URLSearchParams(seen[0]?.body);
    assert.equal(form.get("Action"), "CreateUser");
    assert.equal(form.get("Tags.member.1.Key"), "liqo.io/managed-by");
    assert.match(seen[0]?.headers.authorization ?? "", /\/us-east-1\/iam\/aws4_request/);
  });

  it("tells a user that is not there from one that cannot be seen", async () => {
    const error = (code: string, message: string) =>
      `<ErrorResponse><Error><Type>Sender</Type><Code>${code}</Code><Message>${message}</Message></Error></ErrorResponse>`;
    answers.push({ status: 404, body: error("NoSuchEntity", "no such user") });
    assert.equal(await api.user("liqo-x"), undefined);
    answers.push({
      status: 403,
      body: error("AccessDenied", "not authorized to perform iam:GetUser &amp; more"),
    });
    await assert.rejects(api.user("liqo-x"), {
      name: "AwsError",
      message: "iam:GetUser: AccessDenied: not authorized to perform iam:GetUser & more",
    });
  });

  it("makes, lists and deletes keys", async () => {
    answers.push({
      status: 200,
      body: "<r><AccessKey><AccessKeyId>AK1</AccessKeyId><SecretAccessKey>s/+=1</SecretAccessKey></AccessKey></r>",
    });
    assert.deepEqual(await api.createAccessKey("liqo-x"), { id: "AK1", secret: "s/+=1" });
    answers.push({ status: 409, body: "<e><Code>LimitExceeded</Code><Message>two</Message></e>" });
    assert.equal(await api.createAccessKey("liqo-x"), undefined);
    answers.push({
      status: 200,
      body: "<r><member><AccessKeyId>AK1</AccessKeyId></member><member><AccessKeyId>AK2</AccessKeyId></member></r>",
    });
    assert.deepEqual(await api.accessKeys("liqo-x"), ["AK1", "AK2"]);
    answers.push({ status: 200, body: "<r/>" });
    await api.deleteAccessKey("liqo-x", "AK1");
    assert.equal(new URLSearchParams(seen.at(-1)?.body).get("AccessKeyId"), "AK1");
  });

  it("never shows the secret key in an error", async () => {
    answers.push({
      status: 400,
      body: '{"message":"no"}',
      headers: { "x-amzn-errortype": "InvalidParameterException:x" },
    });
    await assert.rejects(api.describeCluster("x"), (error: Error) => {
      assert.equal(error.message, "eks:DescribeCluster: InvalidParameterException: no");
      assert.ok(!JSON.stringify(error).includes("very-secret"));
      return true;
    });
  });
});
