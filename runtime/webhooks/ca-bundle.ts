import { isDeepStrictEqual } from "node:util";

import { Label, LabelValue } from "../api";
import type { PatchOperation } from "./admission-review";

interface ClientConfig {
  caBundle?: string;
  url?: string;
  service?: { name: string; namespace: string; path?: string; port?: number };
}

/** A webhook configuration, mutating or validating, as far as clients' trust goes. */
export interface TrustingConfiguration {
  metadata: { labels?: Record<string, string> };
  webhooks?: readonly { name: string; clientConfig: ClientConfig }[];
}

export interface Trust {
  /** PEM. */
  ca: string;
  /** `https://host:port` to call in place of the Service. */
  baseUrl?: string;
}

/**
 * The JSON Patch with which a configuration trusts a CA in every entry; empty when it does already, or when it does not carry the label that
 * asks for it. Each step first tests that the entry is the one meant: others may add and remove entries.
 */
export function trustPatch(configuration: TrustingConfiguration, trust: Trust): (PatchOperation | Test)[] {
  if (configuration.metadata.labels?.[Label.webhook] !== LabelValue.true) return [];
  return (configuration.webhooks ?? []).flatMap(({ name, clientConfig }, index) => {
    const wanted = trusting(clientConfig, trust);
    if (isDeepStrictEqual(clientConfig, wanted)) return [];
    const entry = `/webhooks/${index}`;
    return [
      { op: "test" as const, path: `${entry}/name`, value: name },
      { op: "replace" as const, path: `${entry}/clientConfig`, value: wanted },
    ];
  });
}

export interface Test {
  op: "test";
  path: string;
  value: unknown;
}

function trusting(present: ClientConfig, { ca, baseUrl }: Trust): ClientConfig {
  const caBundle = Buffer.from(ca).toString("base64");
  if (baseUrl === undefined) return { ...present, caBundle };
  const path = present.service?.path ?? (present.url === undefined ? "" : new URL(present.url).pathname);
  return { url: `${baseUrl}${path}`, caBundle };
}
