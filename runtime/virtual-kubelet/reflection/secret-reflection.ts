import { SecretType } from "../../api/keys";
import { Secret } from "../../api/kubernetes";
import { projectSecret } from "../peer/projections";
import { defined } from "../pods/defined";
import { isTokenSecret } from "../tokens/token-secret";
import { sameMap } from "./config-map-reflection";
import { isAllowed } from "./policy";
import type { ReflectedKind } from "./reflected-kind";

/** Secrets (offloading reference 10.3), without those that hold tokens of service accounts. */
export const secretReflection: ReflectedKind<Secret> = {
  kind: Secret,
  remoteKind: Secret,
  resource: "Secret",
  workers: ({ flags }) => flags.secretReflectionWorkers,
  remoteName: (name) => name,
  localName: (name) => name,
  keptAtHome: ({ type, metadata: { annotations } }, { flags }) => {
    if (type === SecretType.serviceAccountToken) return { why: "secrets holding service account tokens" };
    const policy = flags.secretReflectionType;
    return isAllowed(policy, annotations) ? undefined : { why: `the current object (policy: "${policy}")` };
  },
  isAnothers: isTokenSecret,
  desired: ({ apiVersion, kind, data, type, immutable }, metadata) =>
    defined({ apiVersion, kind, metadata, data: data ?? {}, type, immutable }),
  exact: ["data"],
  mustBeReplaced: (remote, desired) =>
    remote.type !== desired.type ||
    (remote.immutable === true && (desired.immutable !== true || !sameMap(remote.data, desired.data))),
  projectRemote: projectSecret,
};
