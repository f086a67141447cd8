import {
  gatewayObjectName,
  type KubeObject,
  Service,
  WgGatewayClient,
  WgGatewayServer,
} from "../runtime/api";
import type { KubeClient } from "../runtime/kube";
import { asFarAsAllowed, lookMs } from "./core/cluster-access";
import type { ProviderContext } from "./core/definition";
import { staleStatus } from "./core/expectation";
import { waitForObject, type WaitResult } from "./core/object-wait";

/** Where a Service leads from outside its cluster. */
export interface Reached {
  port: number;
  /** Those of a load balancer; undefined where the Service does not tell. */
  addresses?: readonly string[];
}

/**
 * What the template of a gateway made, once that is of the present spec: of a server the Service that its peer reaches. The gateway's own status
 * is current before the objects made from it are.
 *
 * @returns undefined where there is no Service of that name, as with templates of other kinds, and where we may not look
 */
export async function madeOf(
  client: KubeClient,
  made: { kind: "GatewayServer" | "GatewayClient"; name: string; namespace: string; timeoutSeconds: number },
  context: ProviderContext,
): Promise<Reached | undefined> {
  const { name, namespace, timeoutSeconds } = made;
  const limits = { signal: context.signal, deadlineMs: lookMs };
  const common = { client, timeoutSeconds, nextStep: "see the log of the controller manager" };
  const isHere = async (found: Promise<KubeObject | undefined>) =>
    (await asFarAsAllowed(found)) !== undefined;
  const ref = { name, namespace };
  const what = "a status of its present spec";
  if (made.kind === "GatewayClient") {
    if (await isHere(client.get(WgGatewayClient, ref, limits)))
      await waitForObject(
        { ...common, kind: WgGatewayClient, kindName: "WgGatewayClient", ref, what, judge: judgeStatus },
        context,
      );
    return undefined;
  }
  if (await isHere(client.get(WgGatewayServer, ref, limits)))
    await waitForObject(
      { ...common, kind: WgGatewayServer, kindName: "WgGatewayServer", ref, what, judge: judgeStatus },
      context,
    );
  const service = { name: gatewayObjectName(name), namespace };
  if (!(await isHere(client.get(Service, service, limits)))) return undefined;
  return await waitForObject(
    { ...common, kind: Service, kindName: "Service", ref: service, what: "its address", judge: judgeService },
    context,
  );
}

function judgeStatus(object: KubeObject | undefined): WaitResult<undefined> {
  const seen = object === undefined ? "does not exist" : staleStatus(object);
  return seen === undefined ? { is: "met", value: undefined } : { is: "open", seen };
}

function judgeService(service: Service | undefined): WaitResult<Reached> {
  const [port] = service?.spec?.ports ?? [];
  if (service?.spec === undefined || port === undefined) return { is: "open", seen: "has no port" };
  switch (service.spec.type) {
    case "NodePort":
      return port.nodePort === undefined
        ? { is: "open", seen: "has no node port yet" }
        : { is: "met", value: { port: port.nodePort } };
    case "LoadBalancer": {
      const ingress = service.status?.loadBalancer?.ingress ?? [];
      const addresses = ingress.flatMap(({ ip, hostname }) => [ip ?? "", hostname ?? ""]).filter(Boolean);
      return addresses.length === 0
        ? { is: "open", seen: "its load balancer has no address yet (status.loadBalancer)" }
        : { is: "met", value: { port: port.port, addresses } };
    }
    default:
      return { is: "met", value: { port: port.port } };
  }
}

/** What a server tells that its Service does not; undefined where they agree. */
export function otherEndpoint(
  told: { addresses: readonly string[]; port: number },
  { port, addresses }: Reached,
): string | undefined {
  if (told.port !== port) return `status.endpoint has port ${told.port}, and its Service ${port}`;
  const other = told.addresses.find((address) => addresses?.includes(address) === false);
  return other === undefined
    ? undefined
    : `status.endpoint has address ${other}, which its Service does not have`;
}
