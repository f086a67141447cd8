import { Label, LabelValue, Pod } from "../api";
import { type KubeClient, refOfKey } from "../kube";

/** The pods of ShadowPods, as the API server has them now. */
export interface PodsThere {
  get(key: string): Promise<Pod | undefined>;
  /** Those that have not ended, in pages. @param creator of all creators, where undefined */
  pages(creator: string | undefined): AsyncIterable<readonly Pod[]>;
}

const MANAGED = `${Label.managedBy}=${LabelValue.managedByShadowPod}`;
const NOT_ENDED = "status.phase!=Succeeded,status.phase!=Failed";
/** An admission waits for it. */
const DEADLINE_MS = 5_000;
/** Few objects, so that a page takes little memory. */
const PAGE_SIZE = 100;

export function podsThere(client: KubeClient, signal: AbortSignal): PodsThere {
  return {
    get: (key) => client.get(Pod, refOfKey(key), { signal, deadlineMs: DEADLINE_MS }),
    async *pages(creator) {
      const labelSelector = creator === undefined ? MANAGED : `${MANAGED},${Label.creatorUser}=${creator}`;
      const selection = { labelSelector, fieldSelector: NOT_ENDED };
      for await (const { items } of client.listPages(Pod, selection, { signal, pageSize: PAGE_SIZE }))
        yield items;
    },
  };
}
