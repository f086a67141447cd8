import { X509Certificate } from "node:crypto";
import { z } from "zod";
import { CertificateError, parseCertificate } from "./certificate";
import { decodePem } from "./der";

/** Characters of base64. Bundles with all public authorities have about 300,000. */
const LONGEST_BUNDLE = 512 * 1024;
/** A chain of some certificates with long keys. */
const LONGEST_CERTIFICATE = 64 * 1024;
const LONGEST_URL = 2_048;
const LONGEST_AWS_FIELD = 2_048;

const url = (schemes: readonly string[], login: "with login" | "without login") =>
  z.string().refine((text) => text.length <= LONGEST_URL && isUrl(text, schemes, login === "with login"));
const awsField = z.string().max(LONGEST_AWS_FIELD);

/** The fields, each with what it has to be. An empty field is one that is not there, as Go programs write it. */
const FIELDS = {
  apiServer: {
    schema: url(["https:"], "without login"),
    fault: `is not the URL of an API server; give https:// with a host, without user and password, of ${LONGEST_URL} characters at most`,
  },
  proxyURL: {
    schema: url(["http:", "https:", "socks5:"], "with login"),
    fault: `is not the URL of a proxy; give http://, https:// or socks5:// with a host, of ${LONGEST_URL} characters at most`,
  },
  ca: {
    schema: z.string().max(LONGEST_BUNDLE).refine(isBundle),
    fault: `is not a bundle of certificates; give the base64 of PEM with certificates only, of ${LONGEST_BUNDLE} characters at most`,
  },
  signedCRT: {
    schema: z.string().max(LONGEST_CERTIFICATE).refine(isCertificate),
    fault: `is not a certificate; give the base64 of its PEM, of ${LONGEST_CERTIFICATE} characters at most`,
  },
  awsConfig: {
    schema: z.object({
      awsUserArn: awsField,
      awsAccessKeyID: awsField,
      awsSecretAccessKey: awsField,
      awsRegion: awsField.regex(/^[a-z0-9-]*$/),
      awsClusterName: awsField,
    }),
    fault: `is not the access to an EKS cluster; give awsUserArn, awsAccessKeyID, awsSecretAccessKey, awsRegion and awsClusterName, of ${LONGEST_AWS_FIELD} characters at most`,
  },
} as const;

/**
 * What keeps credentials that a provider hands out from being usable, each fault with its field and the way out; control plane reference 2.1 and 7 say
 * what providers write. No value is quoted, for some are secrets.
 */
export function authParamsFaults(authParams: unknown): string[] {
  const parsed = z.record(z.string(), z.unknown()).safeParse(authParams);
  if (!parsed.success) return ["is not an object; give what the provider's Tenant has there"];
  return Object.entries(FIELDS).flatMap(([name, { schema, fault }]) => {
    const value = parsed.data[name];
    return value === undefined || value === "" || schema.safeParse(value).success
      ? []
      : [`${name}: ${fault}`];
  });
}

/** The credentials without fields that nobody knows. To be called where {@link authParamsFaults} finds none. */
export function knownAuthParams(authParams: Readonly<Record<string, unknown>>): Record<string, unknown> {
  const known: Record<string, unknown> = {};
  for (const [name, { schema }] of Object.entries(FIELDS)) {
    const value = authParams[name];
    if (value !== undefined) known[name] = value === "" ? value : schema.parse(value);
  }
  return known;
}

function isUrl(text: string, schemes: readonly string[], login: boolean): boolean {
  if (!URL.canParse(text)) return false;
  const { protocol, hostname, username, password } = new URL(text);
  return schemes.includes(protocol) && hostname !== "" && (login || `${username}${password}` === "");
}

function isCertificate(base64: string): boolean {
  try {
    parseCertificate(Buffer.from(base64, "base64"));
    return true;
  } catch (error) {
    if (error instanceof CertificateError) return false;
    throw error;
  }
}

/** EKS hands out its bundle in base64, and that is what is encoded once more. */
function isBundle(base64: string): boolean {
  const text = Buffer.from(base64, "base64").toString("utf8");
  return holdsCertificates(text) || holdsCertificates(Buffer.from(text, "base64").toString("utf8"));
}

function holdsCertificates(text: string): boolean {
  let found = 0;
  for (let block = decodePem(text); block !== undefined; block = decodePem(block.rest)) {
    if (block.label !== "CERTIFICATE" || !isX509(block.der)) return false;
    found += 1;
  }
  return found > 0;
}

function isX509(der: Uint8Array): boolean {
  try {
    return new X509Certificate(der).raw.length > 0;
  } catch {
    return false;
  }
}
