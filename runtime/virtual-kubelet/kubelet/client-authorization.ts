import { SubjectAccessReview } from "../../api/kubernetes";
import type { KubeClient } from "../../kube";
import type { ClientIdentity } from "./client-authentication";
import { ExpiringCache } from "./expiring-cache";

/** How long answers hold, in milliseconds; as long as a kubelet's. */
const ALLOWED_CACHE_MS = 300_000;
const DENIED_CACHE_MS = 30_000;
const MAX_ANSWERS = 5000;

/** What somebody wants to do with a node. */
export interface NodeAccess {
  verb: "get" | "create";
  /** Of the node: `proxy`, `stats` or `metrics`. */
  subresource: string;
  /** Empty: any node. */
  node: string;
}

/** Asks the API server who may do what with a node, as a kubelet does. */
export class ClientAuthorization {
  private readonly answers = new ExpiringCache<boolean>(MAX_ANSWERS);

  constructor(private readonly client: KubeClient) {}

  async isAllowed(identity: ClientIdentity, access: NodeAccess): Promise<boolean> {
    const key = JSON.stringify([
      identity.user,
      identity.groups,
      access.verb,
      access.subresource,
      access.node,
    ]);
    return await this.answers.get(
      key,
      (allowed) => (allowed ? ALLOWED_CACHE_MS : DENIED_CACHE_MS),
      () => this.review(identity, access),
    );
  }

  private async review(identity: ClientIdentity, { verb, subresource, node }: NodeAccess): Promise<boolean> {
    const { status } = await this.client.post(SubjectAccessReview, {
      apiVersion: SubjectAccessReview.apiVersion,
      kind: SubjectAccessReview.kind,
      spec: {
        user: identity.user,
        groups: identity.groups,
        uid: identity.uid,
        resourceAttributes: { verb, version: "v1", resource: "nodes", subresource, name: node },
      },
    });
    return status?.allowed === true;
  }
}
