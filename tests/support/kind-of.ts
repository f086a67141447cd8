/** Which kind a manifest is of. */
import * as api from "../../runtime/api";
import type { Kind, KubeObject } from "../../runtime/api/meta";

const kinds = new Map<string, Kind<KubeObject>>();
for (const value of Object.values(api) as unknown[]) if (isKind(value)) kinds.set(key(value), value);

/** @throws when no kind of ours or of Kubernetes that we use is meant */
export function kindOf(manifest: { apiVersion: string; kind: string }): Kind<KubeObject> {
  const kind = kinds.get(key(manifest));
  if (kind === undefined)
    throw new Error(`${manifest.apiVersion} ${manifest.kind} is not among runtime/api's kinds`);
  return kind;
}

function key({ apiVersion, kind }: { apiVersion: string; kind: string }): string {
  return `${apiVersion} ${kind}`;
}

function isKind(value: unknown): value is Kind<KubeObject> {
  return typeof value === "object" && value !== null && "plural" in value && "fromApiServer" in value;
}
