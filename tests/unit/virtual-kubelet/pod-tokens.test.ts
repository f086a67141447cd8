import assert from "node:assert/strict";

import type { Pod, Secret } from "../../../runtime/api/kubernetes";
import { holdsEarlierTokens } from "../../../runtime/virtual-kubelet/tokens/pod-tokens";
import { tokenMetadata } from "../../support/token-metadata";

describe("the token Secret that a pod of the same name left", () => {
  const pair = { origin: "rome", destination: "milan" };
  const secretOf = (podUid: string, of = pair): Secret => ({
    apiVersion: "v1",
    kind: "Secret",
    metadata: {
      name: "web-0-token",
      ...tokenMetadata(of, { podUid }),
    },
  });
  const pod = (fields: { annotations?: Record<string, string>; tokens?: boolean } = {}): Pod => ({
    apiVersion: "v1",
    kind: "Pod",
    metadata: { name: "web-0", uid: "new", annotations: fields.annotations },
    spec: {
      containers: [],
      volumes:
        fields.tokens === false
          ? []
          : [{ name: "api", projected: { sources: [{ serviceAccountToken: { path: "token" } }] } }],
    },
  });
  const foreign: Secret = { apiVersion: "v1", kind: "Secret", metadata: { name: "web-0-token" } };

  const cases: [what: string, held: boolean, secret: Secret | undefined, pod: Pod, isOffered: boolean][] = [
    ["holds up one that mounts tokens", true, secretOf("old"), pod(), true],
    ["holds up nobody once the tokens are the pod's own", false, secretOf("new"), pod(), true],
    ["holds up nobody when it is gone", false, undefined, pod(), true],
    ["holds up nobody who mounts no token", false, secretOf("old"), pod({ tokens: false }), true],
    ["holds up nobody where no tokens are given", false, secretOf("old"), pod(), false],
    [
      "holds up nobody who talks to the provider",
      false,
      secretOf("old"),
      pod({ annotations: { "liqo.io/api-server-support": "remote" } }),
      true,
    ],
    [
      "holds up nobody when another pair made it",
      false,
      secretOf("old", { origin: "turin", destination: "milan" }),
      pod(),
      true,
    ],
    ["holds up nobody when it is a stranger's", false, foreign, pod(), true],
  ];
  for (const [what, held, secret, local, isOffered] of cases) {
    it(what, () => assert.equal(holdsEarlierTokens(secret, local, isOffered, pair), held));
  }
});
