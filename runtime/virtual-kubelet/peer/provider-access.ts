import { DataKey } from "../../api/keys";
import { Secret } from "../../api/kubernetes";
import { parseCertificate, parseKubeconfig, usableKubeconfig } from "../../identity";
import {
  type Informer,
  InformerSet,
  KubeClient,
  messageOf,
  PEER_LIMITS,
  type RuntimeContext,
  type Timer,
} from "../../kube";
import { creatorUserLabel } from "../../plan/peer-objects";

interface SecretRef {
  name: string;
  namespace: string;
}

type Context = Pick<RuntimeContext, "clock" | "informers" | "log" | "metrics">;

/**
 * The clients of a provider's API server with the kubeconfig of one Secret. They follow the Secret: new connections use renewed credentials, while open
 * watches and sessions go on.
 */
export class ProviderAccess {
  /** Undefined until the Secret holds a kubeconfig that can be read. */
  client: KubeClient | undefined;
  /** The same with a connection of its own, for asking whether the provider lives: the answer must not wait behind others. */
  pingClient: KubeClient | undefined;
  /** Watches at the provider with this identity. */
  informers: InformerSet | undefined;
  /**
   * The value of the creator label that the provider's webhook would set on our objects. Setting it ourselves saves that call.
   * Undefined where the credentials do not show it.
   */
  creator: string | undefined;
  /** Why there is no client, or why it is not the newest, in one sentence. */
  problem: string | undefined;

  private readonly secrets: Informer<Secret>;
  private readonly listeners = new Set<() => void>();
  /** The Secret's data that is in use. */
  private used: string | undefined;
  /** Of credentials that expire, such as the tokens of an AWS identity. */
  private renewal: Timer | undefined;

  constructor(
    private readonly context: Context,
    private readonly ref: SecretRef,
  ) {
    this.problem = `${this.source} is not there yet`;
    this.secrets = context.informers.informer(Secret, {
      namespace: ref.namespace,
      fieldSelector: `metadata.name=${ref.name}`,
    });
    this.secrets.on({
      added: (secret) => this.take(secret),
      updated: (_before, secret) => this.take(secret),
    });
  }

  /** Called when there is a client, or another one. Returns the way to end it. */
  onChange(listener: () => void): () => void {
    this.listeners.add(listener);
    return () => this.listeners.delete(listener);
  }

  close(): void {
    this.secrets.release();
    this.renewal?.cancel();
    this.listeners.clear();
    this.drop();
  }

  private get source(): string {
    return `Secret "${this.ref.namespace}/${this.ref.name}"`;
  }

  /** A Secret that is gone or broken changes nothing: the present credentials may still be valid. */
  private take(secret: Secret): void {
    if (secret.data?.[DataKey.kubeconfig] === undefined) {
      this.problem = `${this.source} has no key ${DataKey.kubeconfig}`;
      return;
    }
    const data = JSON.stringify(secret.data);
    if (data !== this.used && this.refresh(secret.data)) this.used = data;
  }

  /** @returns whether the credentials can be used */
  private refresh(data: Readonly<Record<string, string>>): boolean {
    const { clock, log } = this.context;
    try {
      const { text, refreshAfterMs } = usableKubeconfig(data, new Date(clock.now())) ?? { text: "" };
      this.use(text);
      this.creator = creatorOf(text);
      this.problem = undefined;
      this.renewal?.cancel();
      if (refreshAfterMs !== undefined) this.renewal = clock.after(refreshAfterMs, () => this.refresh(data));
      return true;
    } catch (error) {
      this.problem = messageOf(error);
      log.warn("kubeconfig of the provider cannot be used", { secret: this.source, error });
      return false;
    }
  }

  private use(text: string): void {
    // The Secret is untrusted: its kubeconfig may run no program and read no file here.
    const options = {
      source: this.source,
      userAgent: "liqo-virtual-kubelet",
      selfContained: true,
      limits: PEER_LIMITS,
    };
    const next = KubeClient.fromKubeconfig(text, options);
    if (this.client !== undefined && this.client.server === next.server) {
      next.close();
      this.client.replaceCredentials(text, options);
      this.pingClient?.replaceCredentials(text, options);
      return;
    }
    // Another address may be another cluster: nothing that was cached of the old one is valid.
    this.drop();
    this.client = next;
    this.pingClient = next.sibling();
    this.informers = new InformerSet(next, {
      clock: this.context.clock,
      log: this.context.log,
      metrics: this.context.metrics,
    });
    for (const listener of this.listeners) listener();
  }

  private drop(): void {
    void this.informers?.stop();
    this.client?.close();
    this.pingClient?.close();
    this.client = undefined;
    this.pingClient = undefined;
    this.informers = undefined;
  }
}

/** The user that a client certificate names; with tokens and plugins the provider alone knows. */
function creatorOf(kubeconfig: string): string | undefined {
  try {
    const { certificate } = parseKubeconfig(kubeconfig);
    const name = certificate === undefined ? undefined : parseCertificate(certificate).commonName;
    return name === undefined ? undefined : creatorUserLabel(name);
  } catch {
    return undefined; // a kubeconfig that names files; the client can read it all the same
  }
}
