import { request } from "undici";
import { z } from "zod";
import { awsDomain, type AwsKeys, type AwsScope, signAwsRequest } from "../../identity";
import type { Clock } from "../../kube";

/** A credential of an IAM user. */
export interface AccessKey {
  id: string;
  secret: string;
}

/** The calls of AWS that cloud identities need, and no more (the policy of control plane reference 17.4 allows just these). */
export interface AwsApi {
  /** Endpoint of an EKS cluster, and its CA as the base64 text that EKS gives. */
  describeCluster(name: string): Promise<{ endpoint: string; certificateAuthority: string }>;
  /** ARN of a user; undefined where there is none. */
  user(name: string): Promise<string | undefined>;
  /** @returns its ARN */
  createUser(name: string, tags: Readonly<Record<string, string>>): Promise<string>;
  /** @returns undefined where the user has as many keys as it may have */
  createAccessKey(user: string): Promise<AccessKey | undefined>;
  /** IDs of a user's keys. */
  accessKeys(user: string): Promise<string[]>;
  deleteAccessKey(user: string, id: string): Promise<void>;
}

/** AWS refused. The message names the action and AWS's own code and words; never a key. */
export class AwsError extends Error {
  override readonly name = "AwsError";

  constructor(
    readonly action: string,
    readonly code: string,
    message: string,
  ) {
    super(`${action}: ${code}: ${message}`);
  }
}

interface AwsHttpsApiOptions {
  keys: AwsKeys;
  /** Of the EKS cluster; IAM is the same everywhere. */
  region: string;
  clock: Clock;
  /** Base URL of IAM and EKS in place of AWS's own, for private endpoints and tests. */
  endpoints?: { iam: string; eks: string };
}

const clusterSchema = z.object({
  cluster: z.object({ endpoint: z.string(), certificateAuthority: z.object({ data: z.string() }) }),
});
const errorSchema = z.object({ message: z.string() });
const deadlineMs = 30_000;

/** AWS over HTTPS: IAM's query protocol and EKS's REST. */
export class AwsHttpsApi implements AwsApi {
  constructor(private readonly options: AwsHttpsApiOptions) {}

  async describeCluster(name: string): Promise<{ endpoint: string; certificateAuthority: string }> {
    const { region, endpoints } = this.options;
    const base = endpoints?.eks ?? `https://eks.${region}.${awsDomain(region)}`;
    const { status, body, type } = await this.send(
      "GET",
      new URL(`/clusters/${encodeURIComponent(name)}`, base),
      {
        region,
        service: "eks",
      },
    );
    if (status !== 200) {
      const parsed = errorSchema.safeParse(json(body));
      throw new AwsError(
        "eks:DescribeCluster",
        type || `HTTP ${status}`,
        parsed.data?.message ?? "no message",
      );
    }
    const { endpoint, certificateAuthority } = clusterSchema.parse(json(body)).cluster;
    return { endpoint, certificateAuthority: certificateAuthority.data };
  }

  async user(name: string): Promise<string | undefined> {
    try {
      return required(await this.iam("GetUser", { UserName: name }), "Arn", "iam:GetUser");
    } catch (error) {
      if (error instanceof AwsError && error.code === "NoSuchEntity") return undefined;
      throw error;
    }
  }

  async createUser(name: string, tags: Readonly<Record<string, string>>): Promise<string> {
    const parameters: Record<string, string> = { UserName: name };
    Object.entries(tags).forEach(([key, value], index) => {
      parameters[`Tags.member.${index + 1}.Key`] = key;
      parameters[`Tags.member.${index + 1}.Value`] = value;
    });
    return required(await this.iam("CreateUser", parameters), "Arn", "iam:CreateUser");
  }

  async createAccessKey(user: string): Promise<AccessKey | undefined> {
    try {
      const answer = await this.iam("CreateAccessKey", { UserName: user });
      return {
        id: required(answer, "AccessKeyId", "iam:CreateAccessKey"),
        secret: required(answer, "SecretAccessKey", "iam:CreateAccessKey"),
      };
    } catch (error) {
      if (error instanceof AwsError && error.code === "LimitExceeded") return undefined;
      throw error;
    }
  }

  async accessKeys(user: string): Promise<string[]> {
    return elements(await this.iam("ListAccessKeys", { UserName: user }), "AccessKeyId");
  }

  async deleteAccessKey(user: string, id: string): Promise<void> {
    await this.iam("DeleteAccessKey", { UserName: user, AccessKeyId: id });
  }

  private async iam(action: string, parameters: Record<string, string>): Promise<string> {
    const { region, endpoints } = this.options;
    const china = region.startsWith("cn-");
    const base =
      endpoints?.iam ?? (china ? "https://iam.cn-north-1.amazonaws.com.cn" : "https://iam.amazonaws.com");
    const body = new URLSearchParams({ Action: action, Version: "2010-05-08", ...parameters }).toString();
    const scope = { region: china ? "cn-north-1" : "us-east-1", service: "iam" };
    const answer = await this.send("POST", new URL("/", base), scope, body);
    if (answer.status === 200) return answer.body;
    const [code = `HTTP ${answer.status}`] = elements(answer.body, "Code");
    const [message = "no message"] = elements(answer.body, "Message");
    throw new AwsError(`iam:${action}`, code, message);
  }

  private async send(
    method: "GET" | "POST",
    url: URL,
    scope: AwsScope,
    body?: string,
  ): Promise<{ status: number; body: string; type: string }> {
    const given: Record<string, string> =
      body === undefined ? {} : { "content-type": "application/x-www-form-urlencoded" };
    const now = new Date(this.options.clock.now());
    const headers = signAwsRequest({ method, url, headers: given, body }, scope, this.options.keys, now);
    const answer = await request(url, {
      method,
      headers,
      ...(body === undefined ? {} : { body }),
      headersTimeout: deadlineMs,
      bodyTimeout: deadlineMs,
    });
    const type = answer.headers["x-amzn-errortype"];
    return {
      status: answer.statusCode,
      body: await answer.body.text(),
      type: typeof type === "string" ? (type.split(":")[0] ?? "") : "",
    };
  }
}

function json(text: string): unknown {
  try {
    return JSON.parse(text) as unknown;
  } catch {
    return undefined;
  }
}

/** The texts of all elements of a name in IAM's XML, whose elements of interest hold plain text only. */
function elements(xml: string, name: string): string[] {
  return [...xml.matchAll(new RegExp(`<${name}>([^<]*)</${name}>`, "g"))].map(([, text = ""]) =>
    text
      .replaceAll("&lt;", "<")
      .replaceAll("&gt;", ">")
      .replaceAll("&quot;", '"')
      .replaceAll("&apos;", "'")
      .replaceAll("&amp;", "&"),
  );
}

function required(xml: string, name: string, action: string): string {
  const [text] = elements(xml, name);
  if (text === undefined || text === "")
    throw new AwsError(action, "InvalidAnswer", `no ${name} in the answer`);
  return text;
}
