import {
  Annotation,
  EventReason,
  type Kind,
  type KubeObject,
  Label,
  LabelValue,
  MutatingWebhookConfiguration,
  Secret,
  ValidatingWebhookConfiguration,
} from "../api";
import {
  type Controller,
  type Informer,
  type Outcome,
  runController,
  type RuntimeContext,
  watches,
} from "../kube";
import { WEBHOOK_CONFIGURATION } from "../plan/webhooks";
import { leaderServiceName } from "../plan/webhook-registration";
import {
  type CertificateData,
  decideCertificates,
  type ServingCertificates,
  type TrustingConfiguration,
  trustPatch,
} from "./certificates";

interface CertificateOptions {
  /** The Liqo namespace. */
  namespace: string;
  secretName: string;
  serviceName: string;
  /** `https://host:port` that API servers call in place of the Service. */
  baseUrl?: string;
  /** Told of the certificates to serve with: at first, and whenever they change. */
  onCertificates: (certificates: ServingCertificates) => Promise<void>;
}

const KEY = "certificates";
/** The longest time between two checks of a certificate, whatever its lifetime: clocks get corrected. */
const LOOK_AGAIN_MS = 12 * 3600 * 1000;
/** API servers watch the configurations; after this time all of them trust a new authority. */
const SPREAD_MS = 5_000;
/** An installer may create the registrations a little later than this process starts. */
const INSTALLING_MS = 10_000;

/**
 * Manages the webhook's certificates: issues and renews them in one named Secret, writes their authority into our own two configurations, and then hands
 * them to the server, so that no API server meets a certificate that it does not trust.
 *
 * Several replicas may do this at once: the first one to write the Secret decides, and the others follow.
 *
 * @see offloading reference 16.6
 */
export function certificateController(
  context: Pick<RuntimeContext, "client" | "events" | "informers" | "log" | "clock" | "signal" | "metrics">,
  options: CertificateOptions,
): Controller {
  const { informers } = context;
  const named = { fieldSelector: `metadata.name=${WEBHOOK_CONFIGURATION}` };
  const secrets = informers.informer(Secret, {
    namespace: options.namespace,
    fieldSelector: `metadata.name=${options.secretName}`,
  });
  const mutating = informers.informer(MutatingWebhookConfiguration, named);
  const validating = informers.informer(ValidatingWebhookConfiguration, named);
  const keys = () => [KEY];
  const keeper = new CertificateKeeper(context, options, { secrets, mutating, validating });
  return runController(
    {
      name: "webhook-certificates",
      sources: [
        // Where there is no Secret, nothing would ever be enqueued.
        { start: (enqueue) => (enqueue(KEY), () => undefined), whenSynced: () => Promise.resolve() },
        watches(secrets, { keys }),
        watches(mutating, { keys }),
        watches(validating, { keys }),
      ],
      reconcile: () => keeper.reconcile(),
    },
    context,
  );
}

interface Caches {
  secrets: Informer<Secret>;
  mutating: Informer<MutatingWebhookConfiguration>;
  validating: Informer<ValidatingWebhookConfiguration>;
}

class CertificateKeeper {
  private readonly names: readonly string[];
  private served: ServingCertificates | undefined;
  private readonly missingSince = new Map<string, number>();
  /** A new authority and when it was written into the configurations. */
  private spreading: { ca: string; since: number } | undefined;

  constructor(
    private readonly context: Pick<RuntimeContext, "client" | "events" | "log" | "clock">,
    private readonly options: CertificateOptions,
    private readonly caches: Caches,
  ) {
    const { serviceName: service, namespace, baseUrl } = options;
    this.names = [
      ...[service, leaderServiceName(service)].flatMap((name) => [
        name,
        `${name}.${namespace}`,
        `${name}.${namespace}.svc`,
        `${name}.${namespace}.svc.cluster.local`,
      ]),
      ...(baseUrl === undefined ? [] : [new URL(baseUrl).hostname]),
    ];
  }

  async reconcile(): Promise<Outcome> {
    const { clock, log } = this.context;
    const { namespace, secretName } = this.options;
    const secret = this.caches.secrets.get(secretName, namespace);
    // A deleted Secret is recreated; the authority that is in use stays trusted.
    const trusted = this.served === undefined ? {} : { ca: this.served.ca };
    const stored = decoded(secret);
    const decision = decideCertificates({ ...trusted, ...stored }, this.names, new Date(clock.now()));
    if (decision.do === "replace") {
      log.info("webhook certificates renewed", { newAuthority: decision.newAuthority });
      await this.store(secret, decision.data);
      return; // the watch brings them back, ours or those of a replica that was faster
    }
    if (!stored.ca) {
      // Somebody removed the authority; other replicas and the next start read it there.
      await this.store(secret, decision.data);
      return;
    }
    const lookAgainMs = this.tellMissing(secret);
    await this.spreadTrust(decision.data.ca);
    const waitMs = this.spreadingForMs(decision.data);
    if (waitMs > 0) return { requeueAfterMs: waitMs };
    if (!isSame(this.served, decision.data)) {
      await this.options.onCertificates(decision.data);
      this.served = decision.data;
    }
    return { requeueAfterMs: Math.min(decision.checkAgainAfterMs, lookAgainMs) };
  }

  /** Over the version that was decided on, so that of several replicas one wins (409 for the others). */
  private async store(secret: Secret | undefined, certificates: ServingCertificates): Promise<void> {
    const { client } = this.context;
    const { namespace, secretName, serviceName } = this.options;
    const data = Object.fromEntries(
      Object.entries(certificates).map(([key, pem]) => [key, Buffer.from(pem).toString("base64")]),
    );
    const labels = { ...secret?.metadata.labels, [Label.webhook]: LabelValue.true };
    const annotations = { ...secret?.metadata.annotations, [Annotation.webhookServiceName]: serviceName };
    if (secret !== undefined) {
      await client.replace(Secret, {
        ...secret,
        metadata: { ...secret.metadata, labels, annotations },
        data: { ...secret.data, ...data },
      });
      return;
    }
    await client.create(Secret, {
      apiVersion: "v1",
      kind: "Secret",
      metadata: { name: secretName, namespace, labels, annotations },
      type: "Opaque",
      data,
    });
  }

  /**
   * The installer makes the registrations; here it can only be told that one is gone. Returns when to look again, in milliseconds.
   */
  private tellMissing(secret: Secret | undefined): number {
    let lookAgainMs = LOOK_AGAIN_MS;
    const now = this.context.clock.monotonic();
    for (const { kind, cache } of [
      { kind: "MutatingWebhookConfiguration", cache: this.caches.mutating },
      { kind: "ValidatingWebhookConfiguration", cache: this.caches.validating },
    ]) {
      if (cache.get(WEBHOOK_CONFIGURATION) !== undefined) {
        this.missingSince.delete(kind);
        continue;
      }
      const since = this.missingSince.get(kind) ?? now;
      this.missingSince.set(kind, since);
      const leftMs = since + INSTALLING_MS - now;
      if (leftMs > 0) {
        lookAgainMs = Math.min(lookAgainMs, leftMs);
        continue;
      }
      const message = `${kind} "${WEBHOOK_CONFIGURATION}" is gone, so that API servers do not ask: pods of offloaded namespaces may start at home, and nothing is checked; install it again, as with "pulumi up --refresh"`;
      this.context.log.warn("not registered", { kind, name: WEBHOOK_CONFIGURATION });
      if (secret !== undefined) this.context.events.warning(secret, EventReason.notRegistered, message);
    }
    return lookAgainMs;
  }

  private async spreadTrust(ca: string): Promise<void> {
    const { client } = this.context;
    const { baseUrl } = this.options;
    const trust = { ca, ...(baseUrl === undefined ? {} : { baseUrl }) };
    const name = WEBHOOK_CONFIGURATION;
    const { mutating, validating } = this.caches;
    const write = async <T extends KubeObject & TrustingConfiguration>(
      kind: Kind<T>,
      present: T | undefined,
    ) => {
      const patch = present === undefined ? [] : trustPatch(present, trust);
      if (patch.length > 0) await client.patch(kind, { name }, patch, { type: "json" });
    };
    await Promise.all([
      write(MutatingWebhookConfiguration, mutating.get(name)),
      write(ValidatingWebhookConfiguration, validating.get(name)),
    ]);
  }

  /** How long a new authority must still spread before its certificates may be served; 0 while nothing is served that must go on working. */
  private spreadingForMs({ ca }: ServingCertificates): number {
    const { clock } = this.context;
    if (this.served === undefined || this.served.ca === ca) {
      this.spreading = undefined;
      return 0;
    }
    if (this.spreading?.ca !== ca) this.spreading = { ca, since: clock.monotonic() };
    return Math.max(0, this.spreading.since + SPREAD_MS - clock.monotonic());
  }
}

function decoded(secret: Secret | undefined): CertificateData {
  const text = (key: string) => {
    const value = secret?.data?.[key];
    return value === undefined ? undefined : Buffer.from(value, "base64").toString("utf8");
  };
  const [ca, certificate, key, authorityKey] = ["ca", "tls.crt", "tls.key", "ca.key"].map(text);
  return {
    ...(ca === undefined ? {} : { ca }),
    ...(certificate === undefined ? {} : { "tls.crt": certificate }),
    ...(key === undefined ? {} : { "tls.key": key }),
    ...(authorityKey === undefined ? {} : { "ca.key": authorityKey }),
  };
}

function isSame(a: ServingCertificates | undefined, b: ServingCertificates): boolean {
  return a?.ca === b.ca && a["tls.crt"] === b["tls.crt"] && a["tls.key"] === b["tls.key"];
}
