import { EventReason, Label } from "../../api/keys";
import { type Pod, Secret } from "../../api/kubernetes";
import type { ObjectMeta } from "../../api/meta";
import {
  type Clock,
  type HeldKeys,
  type Informer,
  isAlreadyExists,
  isConflict,
  type KubeClient,
  type Outcome,
  refOfKey,
} from "../../kube";
import type { Peer } from "../peer/peer";
import type { ProviderAccess } from "../peer/provider-access";
import type { RemoteNamespace } from "../peer/remote-namespace";
import { boundTo, isTokenSecret, tokenSecretMetadata, tokenSecretName } from "../peer/token-secret";
import { isReflected } from "../reflection/reflected-metadata";
import type { ReflectionReport } from "../reflection/reflection-report";
import {
  accountOf,
  type GrantedToken,
  refreshTime,
  requestToken,
  type TokenSource,
  TokenWithheld,
  wantedTokens,
} from "./pod-tokens";

interface Parts {
  nodeName: string;
  localPods: Informer<Pod>;
  localClient: KubeClient;
  peer: Peer;
  access: ProviderAccess;
  /** Whether pods of this node get at the consumer's API server at all. */
  enabled: () => boolean;
  /** Whether the node stays, and with it this controller, so that deletions can be postponed. */
  stays: () => boolean;
  /** Busy while pods are leaving. */
  removals: HeldKeys;
  report: ReflectionReport;
  clock: Clock;
}

/** Renewals are spread over this time, in milliseconds. */
const SPREAD_MS = 30_000;
/** How long the cache may lag behind a Secret that we wrote, in milliseconds. */
const UNSEEN_MS = 60_000;
/** In a namespace without the right to make tokens it is tried again after this time, in milliseconds: the controllers give it as they see the namespace. */
const WITHHELD_MS = 1_000;
/** The longest time between the end of a pod and the deletion of its Secret, in milliseconds. */
const REMOVED_LATEST_MS = 30_000;

interface Issued {
  podUid: string;
  /** By key. */
  tokens: ReadonlyMap<string, GrantedToken>;
  /** When the Secret was written last, on the monotonic clock. */
  writtenAt: number;
  /** Its version then. */
  version: string;
  /** Whether the cache has shown the Secret: when it is not there after that, it was deleted, with its namespace perhaps. */
  seen: boolean;
}

/**
 * Requests tokens of local service accounts for offloaded pods, writes them to a Secret at the provider, which the remote pod mounts, and renews them in time
 * (offloading reference 10.8).
 */
export class TokenReconciler {
  private readonly issued = new Map<string, Issued>();
  /** Since when pods have been gone whose Secrets are still there, on the monotonic clock. */
  private readonly gone = new Map<string, number>();
  /** Namespaces whose tokens this cluster withholds from us: until when it is not asked again, on the monotonic clock, and what it said. */
  private readonly withheld = new Map<string, { until: number; error: unknown }>();

  constructor(private readonly parts: Parts) {}

  /** @param key `namespace/name` of a local pod */
  reconcile(key: string): Promise<Outcome> {
    return this.parts.report.counting(key, () => this.reconcileTokens(key));
  }

  private async reconcileTokens(key: string): Promise<Outcome> {
    const { peer, access, localPods, nodeName } = this.parts;
    const { namespace = "", name } = refOfKey(key);
    const remote = peer.cacheOf(namespace);
    if (remote?.synced !== true || access.client === undefined) return;
    const local = localPods.getByKey(key);
    const secret = remote.secrets.get(tokenSecretName(name), remote.remote);
    if (secret !== undefined && (!isReflected(secret, peer.pair) || !isTokenSecret(secret))) {
      this.failed(local, "remote object already exists");
      return;
    }
    const ofNode = secret !== undefined && isOfNode(secret, nodeName) ? secret : undefined;
    if (local === undefined) return await this.forget(key, ofNode, access.client);
    this.gone.delete(key);
    const sources = wantedTokens(local, this.parts.enabled());
    if (sources.length === 0 || hasEnded(local)) {
      if (ofNode !== undefined && boundTo(ofNode).podUid !== local.metadata.uid)
        await remove(access.client, ofNode);
      return;
    }
    return await this.keepFresh(key, local, sources, secret, remote, access.client);
  }

  /** Postpones the deletion of Secrets until all pods of a burst have left, which are gone sooner that way. Tokens of a deleted pod are void anyway. */
  private async forget(key: string, secret: Secret | undefined, client: KubeClient): Promise<Outcome> {
    this.issued.delete(key);
    if (secret === undefined) {
      this.gone.delete(key);
      return;
    }
    const { clock, stays, removals } = this.parts;
    const since = this.gone.get(key) ?? clock.monotonic();
    this.gone.set(key, since);
    const leftMs = since + REMOVED_LATEST_MS - clock.monotonic();
    if (leftMs > 0 && stays() && removals.hold(key)) return { requeueAfterMs: leftMs };
    await remove(client, secret);
  }

  private async keepFresh(
    key: string,
    local: Pod,
    sources: TokenSource[],
    secret: Secret | undefined,
    remote: RemoteNamespace,
    client: KubeClient,
  ): Promise<Outcome> {
    const now = this.parts.clock.now();
    let issued = this.knownTokens(key, local, sources, secret, remote);
    const due = sources.filter(({ key: token, expirationSeconds }) => {
      const granted = issued.tokens.get(token);
      return granted === undefined || now >= refreshTime(granted, expirationSeconds);
    });
    if (due.length > 0) {
      const heldBack =
        this.heldBack(local) ?? (await this.renew(key, local, due, issued, secret, remote, client));
      if (heldBack !== undefined) return heldBack;
      issued = this.issued.get(key) ?? issued;
    }
    const next = Math.min(
      ...sources.map(({ key: token, expirationSeconds }) =>
        refreshTime(issued.tokens.get(token) ?? { expiresAt: now }, expirationSeconds),
      ),
    );
    const renewal = Math.max(1_000, next - now) + Math.random() * SPREAD_MS;
    return { requeueAfterMs: secret === undefined ? Math.min(renewal, UNSEEN_MS) : renewal };
  }

  /** When to ask for a pod's tokens, where this cluster has just refused those of its namespace; one pod asks for all. */
  private heldBack(local: Pod): Outcome {
    const { namespace = "" } = local.metadata;
    const withheld = this.withheld.get(namespace);
    if (withheld === undefined) return;
    const leftMs = withheld.until - this.parts.clock.monotonic();
    if (leftMs <= 0) return;
    this.failed(local, withheld.error);
    return { requeueAfterMs: leftMs + Math.random() * WITHHELD_MS };
  }

  /** What we issued, or what the Secret says after a start of this process; nothing where the Secret is gone or another pod's. */
  private knownTokens(
    key: string,
    local: Pod,
    sources: TokenSource[],
    secret: Secret | undefined,
    remote: RemoteNamespace,
  ): Issued {
    const podUid = local.metadata.uid ?? "";
    const issued = this.issued.get(key);
    if (issued?.podUid === podUid) {
      issued.seen ||= secret !== undefined;
      const isLate =
        !issued.seen &&
        !remote.secrets.hasReached(issued.version) &&
        this.parts.clock.monotonic() - issued.writtenAt < UNSEEN_MS;
      if (secret !== undefined || isLate) return issued;
    }
    const bound = secret === undefined ? undefined : boundTo(secret);
    const tokens = new Map<string, GrantedToken>();
    if (bound?.podUid === podUid) {
      for (const { key: token } of sources) {
        if (secret?.data?.[token] !== undefined) tokens.set(token, { expiresAt: bound.expiresAt });
      }
    }
    return { podUid, tokens, writtenAt: Number.NEGATIVE_INFINITY, version: "", seen: secret !== undefined };
  }

  /** Requests new tokens and writes them. Until that has succeeded, the earlier ones stay in place. */
  private async renew(
    key: string,
    local: Pod,
    due: TokenSource[],
    before: Issued,
    secret: Secret | undefined,
    remote: RemoteNamespace,
    client: KubeClient,
  ): Promise<Outcome> {
    const { clock, report } = this.parts;
    const { namespace = "" } = local.metadata;
    try {
      const made = await Promise.all(
        due.map((source) => requestToken(this.parts.localClient, clock, local, source)),
      );
      this.withheld.delete(namespace);
      const tokens = new Map(before.tokens);
      const data: Record<string, string> = {};
      for (const { key: token, value, granted } of made) {
        data[token] = Buffer.from(value).toString("base64");
        tokens.set(token, granted);
      }
      const issued = { ...before, tokens };
      const { resourceVersion } = await this.write(local, data, issued, secret, remote, client);
      issued.version = resourceVersion ?? "";
      issued.writtenAt = clock.monotonic();
      this.issued.set(key, issued);
      report.refusedNoMore(local);
    } catch (error) {
      if (error instanceof TokenWithheld) {
        this.withheld.set(namespace, { until: clock.monotonic() + WITHHELD_MS, error: error.cause });
        return this.heldBack(local);
      }
      // A conflict means that the cache is behind: the event of the Secret requeues the key.
      if (!isConflict(error)) this.failed(local, error);
      throw error;
    }
  }

  private failed(local: Pod | undefined, error: unknown): void {
    this.parts.report.failed(local, error, EventReason.failedTokensReflection);
  }

  private async write(
    local: Pod,
    data: Record<string, string>,
    issued: Issued,
    secret: Secret | undefined,
    remote: RemoteNamespace,
    client: KubeClient,
  ): Promise<ObjectMeta> {
    const metadata = tokenSecretMetadata(
      {
        podName: local.metadata.name,
        podUid: issued.podUid,
        serviceAccount: accountOf(local),
        nodeName: this.parts.nodeName,
        expiresAt: Math.min(...[...issued.tokens.values()].map(({ expiresAt }) => expiresAt)),
      },
      this.parts.peer.pair,
    );
    const ref = { name: tokenSecretName(local.metadata.name), namespace: remote.remote };
    const { made, existing } =
      secret === undefined
        ? await this.createSecret({ ...ref, ...metadata }, data, client)
        : { made: undefined, existing: secret };
    if (made !== undefined) return made;
    // Keys of an earlier pod of the same name, whose volumes had other names.
    const surplus = Object.keys(existing.data ?? {}).filter((token) => !issued.tokens.has(token));
    const removed = Object.fromEntries(surplus.map((token) => [token, null]));
    const body = { metadata: { ...metadata, uid: existing.metadata.uid }, data: { ...data, ...removed } };
    return await client.patchForMetadata(Secret, ref, body, { type: "merge" });
  }

  /** @returns what was made, or the Secret of ours that the cache does not show yet */
  private async createSecret(
    metadata: { name: string; namespace: string },
    data: Record<string, string>,
    client: KubeClient,
  ): Promise<{ made: ObjectMeta; existing?: undefined } | { made?: undefined; existing: Secret }> {
    try {
      const { apiVersion, kind } = Secret;
      const made = await client.createForMetadata(Secret, {
        apiVersion,
        kind,
        metadata,
        type: "Opaque",
        immutable: false,
        data,
      });
      return { made };
    } catch (error) {
      if (!isAlreadyExists(error)) throw error;
      const existing = await client.get(Secret, metadata);
      const ours =
        existing !== undefined && isReflected(existing, this.parts.peer.pair) && isTokenSecret(existing);
      if (!ours) throw error;
      return { existing };
    }
  }
}

async function remove(client: KubeClient, { metadata }: Secret): Promise<void> {
  const { name, namespace, uid } = metadata;
  try {
    await client.delete(Secret, { name, namespace }, { uid });
  } catch (error) {
    if (!isConflict(error)) throw error; // another Secret by now: its own event
  }
}

function isOfNode({ metadata }: Secret, nodeName: string): boolean {
  return metadata.labels?.[Label.reflectionNodeName] === nodeName;
}

function hasEnded({ status }: Pod): boolean {
  return status?.phase === "Succeeded" || status?.phase === "Failed";
}
