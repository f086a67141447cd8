import type { ReflectionPair } from "../../runtime/virtual-kubelet/reflection/reflected-metadata";
import { tokenSecretMetadata } from "../../runtime/virtual-kubelet/peer/token-secret";

/** Labels and annotations of the Secret with the tokens of pod `web-0`, which expire on 2027-01-15. */
export function tokenMetadata(
  pair: ReflectionPair,
  { podUid = "u1", serviceAccount = "robot" }: { podUid?: string; serviceAccount?: string } = {},
): ReturnType<typeof tokenSecretMetadata> {
  return tokenSecretMetadata(
    { podName: "web-0", podUid, serviceAccount, nodeName: "milan-pool", expiresAt: 1_800_000_000_000 },
    pair,
  );
}
