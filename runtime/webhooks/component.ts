import { hostname } from "node:os";

import { z } from "zod";

import { Name, type ObjectRef } from "../api";
import { type Component, defineComponent } from "../component/component";
import { boolean, ignored, integer, list, parsed, required, text } from "../component/flags";
import type { RuntimeContext } from "../kube";
import { DeploymentName, WEBHOOK_SECRET } from "../plan/deployments";
import { Port } from "../plan/component-deployment";
import { certificateController } from "./certificate-controller";
import type { ServingCertificates } from "./certificates";
import { ElectedLeadership, type Leadership, soleLeader } from "./leadership";
import { admissionRoutes } from "./routes";
import { AdmissionServer, webhookMetrics } from "./server";

const LEASE = "66cf253f.webhook.liqo.io";

const flags = z.object({
  clusterId: required(/^[a-z0-9]([-a-z0-9]*[a-z0-9])?$/, "give this cluster's ID"),
  liqoNamespace: text(Name.liqoNamespace),
  secretName: text(WEBHOOK_SECRET),
  webhookPort: integer(Port.webhook, 0, 65_535),
  /** `https://host:port` that API servers call in place of the Service, for those that reach no Service. */
  webhookUrl: text(),
  podcidr: list(),
  vkOptionsDefaultTemplate: parsed(`${Name.liqoNamespace}/${Name.vkOptionsTemplate}`, readRef),
  enableResourceEnforcement: boolean(true),
  liqoRuntimeClass: text(Name.runtimeClass),
  /** What pods of consumers may name besides the service account `default`; `*` for all. The controller manager is told the same. */
  allowedServiceAccounts: list(),
  allowedPriorityClasses: list(),
  allowedRuntimeClasses: list(),
  enableLeaderElection: boolean(false),
  /** What is booked follows a watch; there is nothing to refresh. */
  resourceValidatorRefreshInterval: ignored(),
});
type Flags = z.output<typeof flags>;

/**
 * The admission webhooks (offloading reference 16). Until it has a certificate it does not listen; until it has seen what is stored it is
 * not ready.
 */
export const webhook: Component<typeof flags> = defineComponent({
  name: "webhook",
  flags,
  start: (context, given) => {
    const { log, signal, health, metrics } = context;
    const routes = admissionRoutes(context, {
      leadership: leadershipOf(context, given),
      clusterID: given.clusterId,
      liqoNamespace: given.liqoNamespace,
      podCidrs: given.podcidr,
      runtimeClass: given.liqoRuntimeClass,
      vkOptionsTemplate: given.vkOptionsDefaultTemplate,
      enforceResources: given.enableResourceEnforcement,
      podPolicy: {
        serviceAccounts: given.allowedServiceAccounts,
        priorityClasses: given.allowedPriorityClasses,
        runtimeClasses: given.allowedRuntimeClasses,
      },
    });
    let server: AdmissionServer | undefined;
    health.addReadiness("webhook", () => (server === undefined ? "it has no certificate yet" : undefined));
    const observe = webhookMetrics(metrics);
    const serve = async (certificates: ServingCertificates) => {
      if (server !== undefined) return server.useCertificates(certificates);
      server = await AdmissionServer.start({
        routes,
        port: given.webhookPort,
        certificates,
        onAnswer: (answer) => {
          observe(answer);
          if (answer.error !== undefined)
            log.warn("webhook failed", { path: answer.path, error: answer.error });
          else if (!answer.verdict.allowed)
            log.debug("request refused", { path: answer.path, message: answer.verdict.message });
        },
      });
      log.info("webhooks are served", { port: server.port });
    };
    certificateController(context, {
      namespace: given.liqoNamespace,
      secretName: given.secretName,
      serviceName: DeploymentName.webhook,
      ...(given.webhookUrl === "" ? {} : { baseUrl: given.webhookUrl }),
      onCertificates: serve,
    });
    signal.addEventListener("abort", () => void server?.stop(), { once: true });
    return Promise.resolve();
  },
});

/** Without an election this process takes itself for the only one, and something else must mark it for the leader's Service. */
function leadershipOf(context: RuntimeContext, { enableLeaderElection, liqoNamespace }: Flags): Leadership {
  if (!enableLeaderElection) return soleLeader;
  const { signal } = context;
  const elected = {
    ...context,
    lease: { name: LEASE, namespace: liqoNamespace },
    pod: process.env.POD_NAME ?? hostname(),
  };
  const leadership = new ElectedLeadership(elected);
  context.shutdown.add(leadership.run(signal));
  return leadership;
}

function readRef(given: string): Required<ObjectRef> {
  const [namespace = "", name = "", ...rest] = given.split("/");
  if (namespace === "" || name === "" || rest.length > 0)
    throw new Error(`is ${JSON.stringify(given)}; write <namespace>/<name> of a VkOptionsTemplate`);
  return { namespace, name };
}
