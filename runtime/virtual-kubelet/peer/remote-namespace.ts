import { ShadowPod } from "../../api";
import { Label } from "../../api/keys";
import { Pod, Secret } from "../../api/kubernetes";
import type { KubeObject } from "../../api/meta";
import type { Informer, InformerSet } from "../../kube";
import { projectRemotePod, projectSecret, projectShadowPod } from "./projections";
import { boundTo, isTokenSecret, podOfTokenSecret } from "./token-secret";

/** Told of changes in a remote namespace. The node is the one that the object is bound to; undefined concerns every node. */
export interface RemoteListener {
  /** The ShadowPod or the pod of that name. */
  podChanged(name: string, nodeName: string | undefined): void;
  /** The ShadowPod or the pod of that name went. It concerns every node: a pod of another one may have waited for the name. */
  podGone(name: string): void;
  /** The tokens of the pod of that name. */
  tokensChanged(podName: string, nodeName: string | undefined): void;
  /** A whole list was received: changes during a gap in the watch had no event of their own. */
  listed(): void;
}

/**
 * What a namespace at the provider holds of our pods. The watches have no selector: a foreign object of the same name must be seen, or it would be taken
 * for ours, and the namespace was made for this consumer alone, so there is next to nothing else in it.
 */
export class RemoteNamespace {
  readonly pods: Informer<Pod>;
  readonly shadowPods: Informer<ShadowPod>;
  readonly secrets: Informer<Secret>;

  constructor(
    /** Of the provider, for further watches of the namespace. */
    readonly informers: InformerSet,
    readonly local: string,
    readonly remote: string,
    listener: RemoteListener,
  ) {
    this.pods = informers.informer(Pod, { namespace: remote, project: projectRemotePod });
    this.shadowPods = informers.informer(ShadowPod, { namespace: remote, project: projectShadowPod });
    this.secrets = informers.informer(Secret, { namespace: remote, project: projectSecret });

    follow(this.pods, listener);
    follow(this.shadowPods, listener);
    const tokens = (secret: Secret, nodeName: string | undefined) => {
      const { podName } = boundTo(secret);
      if (podName !== undefined && isTokenSecret(secret)) listener.tokensChanged(podName, nodeName);
    };
    this.secrets.on({
      added: (secret) => tokens(secret, nodeOf(secret)),
      updated: (_before, secret) => tokens(secret, nodeOf(secret)),
      deleted: (secret) => {
        // The deletion of a foreign Secret, too, frees the name for the tokens of a pod.
        const podName = isTokenSecret(secret)
          ? boundTo(secret).podName
          : podOfTokenSecret(secret.metadata.name);
        if (podName !== undefined) listener.tokensChanged(podName, undefined);
      },
    });
    const listed = () => {
      if (this.synced) listener.listed();
    };
    for (const informer of [this.pods, this.shadowPods, this.secrets]) informer.on({ listed });
  }

  /** Until then nothing can be concluded from the absence of an object. */
  get synced(): boolean {
    return this.pods.synced && this.shadowPods.synced && this.secrets.synced;
  }

  /** What the provider says where it forbids to list the namespace. */
  get forbidden(): string | undefined {
    return [this.pods, this.shadowPods, this.secrets].find(({ forbidden }) => forbidden)?.problem;
  }

  release(): void {
    for (const informer of [this.pods, this.shadowPods, this.secrets]) informer.release();
  }
}

function follow<T extends KubeObject>(informer: Informer<T>, listener: RemoteListener): void {
  informer.on({
    added: (object) => listener.podChanged(object.metadata.name, nodeOf(object)),
    updated: (_before, object) => listener.podChanged(object.metadata.name, nodeOf(object)),
    deleted: (object) => listener.podGone(object.metadata.name),
  });
}

function nodeOf({ metadata }: KubeObject): string | undefined {
  return metadata.labels?.[Label.reflectionNodeName];
}
