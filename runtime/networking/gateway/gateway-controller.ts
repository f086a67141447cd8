import {
  EventReason,
  GatewayClient as Client,
  GatewayServer as Server,
  type KubeObject,
  Label,
  WgGatewayClient,
  WgGatewayServer,
} from "../../api";
import {
  controlledBy,
  type Controller,
  exceptStatus,
  type Informer,
  keyOf,
  patchStatusIfChanged,
  runController,
  Terminal,
  watches,
  withGlobalMetadata,
  writeIfChanged,
} from "../../kube";
import { maySpeakOf } from "../../plan/peer-objects";
import { peerOf } from "../labels";
import type { NetworkingContext } from "../networking-context";
import { renderGateway } from "../template/gateway-template";
import { TemplateError } from "../template/tokens";
import { type Gateway, type GatewayCaches, gatewayKey, gatewayOwnerKeys } from "../caches";
import { isMadeFrom, withTemplateHash } from "./gateway-workload";

type Template = Parameters<typeof renderGateway>[1];

/** Makes of each GatewayServer and GatewayClient what its template says, and tells what became of it (networking reference 9.1). */
export function runGatewayController(networking: NetworkingContext, gateways: GatewayCaches): Controller {
  const { runtime, caches } = networking;
  const usersOf =
    <G extends Gateway>(informer: Informer<G>) =>
    (template: KubeObject) =>
      informer
        .list()
        .filter((gateway) => keyOf(template) === templateKey(gateway))
        .map(gatewayKey);
  return runController(
    {
      name: "gateway",
      sources: [
        watches(caches.servers, { keys: (gateway) => [gatewayKey(gateway)] }),
        watches(caches.clients, { keys: (gateway) => [gatewayKey(gateway)] }),
        watches(gateways.serverTemplates, { keys: usersOf(caches.servers) }),
        watches(gateways.clientTemplates, { keys: usersOf(caches.clients) }),
        watches(gateways.wgServers, { keys: gatewayOwnerKeys }),
        watches(gateways.wgClients, { keys: gatewayOwnerKeys }),
        watches(gateways.peerNamespaces, {
          keys: ({ metadata }) =>
            [...caches.servers.list(), ...caches.clients.list()]
              .filter((gateway) => gateway.metadata.namespace === metadata.name)
              .map(gatewayKey),
          when: exceptStatus,
        }),
      ],
      objectOf: (key) => caches.gatewayOf(key),
      reconcile: (key) => reconcile(networking, gateways, caches.gatewayOf(key)),
    },
    runtime,
  );
}

async function reconcile(
  { runtime, options }: NetworkingContext,
  gateways: GatewayCaches,
  gateway: Gateway | undefined,
): Promise<void> {
  if (gateway === undefined || gateway.metadata.deletionTimestamp) return;
  const { client } = runtime;
  const peer = peerOf(gateway);
  const home = gateways.peerNamespaces.get(gateway.metadata.namespace ?? "");
  if (!maySpeakOf(home, peer)) {
    // Whoever may make it there would get what this cluster sends to the other one.
    throw new Terminal(
      EventReason.wrongNamespace,
      `namespace "${gateway.metadata.namespace}" is not the tenant namespace of cluster "${peer}"; create the ${gateway.kind} there, or set the label ${Label.remoteClusterID} to the cluster whose namespace this is`,
    );
  }
  const rendered = render(gateway, templateOf(gateways, gateway));
  const { kind } = gateway.kind === "GatewayServer" ? WgGatewayServer : WgGatewayClient;
  if (rendered.kind !== kind || rendered.apiVersion !== WgGatewayServer.apiVersion) {
    throw new Terminal(
      "UnusableTemplate",
      `the template makes a ${rendered.apiVersion} ${rendered.kind}; a ${gateway.kind} becomes a ${kind}`,
    );
  }
  const { name, namespace } = rendered.metadata;
  const labels = { ...rendered.metadata.labels, [Label.remoteClusterID]: peer };
  // Whoever deletes the gateway does not wait for what was made of it.
  const ownerReferences = [{ ...controlledBy(gateway), blockOwnerDeletion: false }];
  const metadata = withTemplateHash({ ...rendered.metadata, labels, ownerReferences }, rendered.spec);
  const desired = withGlobalMetadata({ ...rendered, metadata }, options.global);
  const paths = ["spec", "metadata.labels", "metadata.annotations"];

  if (gateway.kind === "GatewayServer") {
    const observed = gateways.wgServers.get(name, namespace);
    const { object } = await writeIfChanged(
      client,
      WgGatewayServer,
      WgGatewayServer.parse(desired),
      observed,
      {
        exact: isMadeFrom(desired, observed) ? [] : paths,
      },
    );
    const { endpoint, secretRef, internalEndpoint } = object.status ?? {};
    await patchStatusIfChanged(client, Server, gateway, {
      serverRef: referenceTo(object),
      endpoint: endpoint ?? null,
      secretRef: secretRef ?? null,
      internalEndpoint: internalEndpoint ?? null,
    });
  } else {
    const observed = gateways.wgClients.get(name, namespace);
    const { object } = await writeIfChanged(
      client,
      WgGatewayClient,
      WgGatewayClient.parse(desired),
      observed,
      {
        exact: isMadeFrom(desired, observed) ? [] : paths,
      },
    );
    const { secretRef, internalEndpoint } = object.status ?? {};
    await patchStatusIfChanged(client, Client, gateway, {
      clientRef: referenceTo(object),
      secretRef: secretRef ?? null,
      internalEndpoint: internalEndpoint ?? null,
    });
  }
}

function render(gateway: Gateway, template: Template): ReturnType<typeof renderGateway> {
  try {
    return renderGateway(gateway, template);
  } catch (error) {
    if (!(error instanceof TemplateError)) throw error;
    throw new Terminal("UnusableTemplate", error.message, { cause: error });
  }
}

function templateOf(gateways: GatewayCaches, gateway: Gateway): Template {
  const field = gateway.kind === "GatewayServer" ? "serverTemplateRef" : "clientTemplateRef";
  const ref = templateRef(gateway);
  if (!ref?.name) throw new Terminal("TemplateMissing", `spec.${field} is missing; name a template`);
  const known = gateway.kind === "GatewayServer" ? gateways.serverTemplates : gateways.clientTemplates;
  const found = known.get(ref.name, ref.namespace || gateway.metadata.namespace);
  if (found !== undefined) return found;
  throw new Terminal(
    "TemplateMissing",
    `spec.${field} names ${ref.kind ?? "a template"} ${templateKey(gateway)}, which does not exist`,
  );
}

function templateRef(gateway: Gateway) {
  return gateway.kind === "GatewayServer" ? gateway.spec.serverTemplateRef : gateway.spec.clientTemplateRef;
}

function templateKey(gateway: Gateway): string {
  const ref = templateRef(gateway);
  return `${ref?.namespace || gateway.metadata.namespace}/${ref?.name}`;
}

function referenceTo({ apiVersion, kind, metadata: { name, namespace, uid } }: KubeObject) {
  return { apiVersion, kind, name, namespace, uid };
}
