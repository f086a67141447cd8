import { DataKey, Label, Name, remoteCertificateName, ResourceSlice, Secret } from "../api";
import { type Controller, keyOfRef, type Outcome, runController, watches } from "../kube";
import type { AuthenticationContext } from "./context";

/** A replicator recreates a deleted copy sooner than this, and the copy then finds its certificate. */
const GRACE_MS = 10_000;
const PREFIX = `${Name.remoteCertificate}-`;

/**
 * At the provider: deletes the Secrets of certificates whose slice is gone (control plane reference 7.2 names them after the slice). These Secrets have no
 * owner, in other versions neither, so that a copy that is deleted and recreated finds its certificate.
 */
export function runCertificateCollector({ runtime, caches }: AuthenticationContext): Controller {
  const { client, clock } = runtime;
  const { peerSecrets, slices } = caches;
  /** By key of the Secret, on the monotonic clock. */
  const withoutSlice = new Map<string, number>();

  /** The slice that a Secret's certificate is for, there or not; undefined where it holds none. */
  function sliceOf({ metadata, data }: Secret): { name: string; namespace: string } | undefined {
    const issued = metadata.name.startsWith(PREFIX) && data?.[DataKey.csr] !== undefined;
    return issued
      ? { name: metadata.name.slice(PREFIX.length), namespace: metadata.namespace ?? "" }
      : undefined;
  }

  async function reconcile(key: string): Promise<Outcome> {
    const secret = peerSecrets.getByKey(key);
    const slice = secret && sliceOf(secret);
    if (secret === undefined || slice === undefined || secret.metadata.deletionTimestamp) {
      withoutSlice.delete(key);
      return;
    }
    if (slices.get(slice.name, slice.namespace) !== undefined) {
      withoutSlice.delete(key);
      return;
    }
    const since = withoutSlice.get(key) ?? clock.monotonic();
    withoutSlice.set(key, since);
    const left = GRACE_MS - (clock.monotonic() - since);
    if (left > 0) return { requeueAfterMs: left };
    if ((await client.get(ResourceSlice, slice)) !== undefined) return;
    const { uid, resourceVersion } = secret.metadata;
    await client.delete(Secret, secret.metadata, { uid, resourceVersion });
    runtime.log.info("removed what was issued to a slice that is gone", {
      secret: key,
      peer: secret.metadata.labels?.[Label.remoteClusterID],
    });
  }

  return runController(
    {
      name: "certificate_collector",
      sources: [
        watches(peerSecrets, { when: ({ object }) => sliceOf(object) !== undefined }),
        watches(slices, {
          keys: ({ metadata: { name, namespace } }) => [
            keyOfRef({ name: remoteCertificateName(name), namespace }),
          ],
          when: ({ type }) => type !== "updated",
        }),
      ],
      objectOf: (key) => peerSecrets.getByKey(key),
      reconcile,
    },
    runtime,
  );
}
