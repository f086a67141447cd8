import type * as pulumi from "@pulumi/pulumi";
import { z } from "zod";

import { DataKey, GatewayClient, GatewayServer, Secret } from "../runtime/api";
import type { KubeClient } from "../runtime/kube";
import {
  type ClusterArgs,
  clusterInputs,
  inCluster,
  lookMs,
  nameInput,
  objectId,
  timeoutInput,
  triggersInput,
  withSecretKubeconfig,
} from "./core/cluster-access";
import type { InputFault, ProviderContext } from "./core/definition";
import { staleStatus } from "./core/expectation";
import { resourceFunctions } from "./core/lifecycle";
import { LiqoResource } from "./core/liqo-resource";
import { createdByWait, waitForObject, type WaitResult } from "./core/object-wait";
import { madeOf, otherEndpoint, type Reached } from "./gateway-endpoint";

/** The two ends of a tunnel. */
export const gatewayEnd = z.enum(["GatewayServer", "GatewayClient"]);
type GatewayEnd = z.output<typeof gatewayEnd>;

const inputs = z.object({
  ...clusterInputs,
  kind: gatewayEnd.describe("Which end of the tunnel it is."),
  namespace: nameInput.describe("Namespace of the gateway: the one for everything about the peer."),
  name: nameInput.describe("Name of the gateway."),
  triggers: triggersInput,
  timeoutSeconds: timeoutInput(120),
});
type Inputs = z.output<typeof inputs>;
type Gateway = GatewayServer | GatewayClient;

const computed = z.object({
  publicKey: z.string().describe("The gateway's WireGuard key, base64; for its peer."),
  addresses: z.array(z.string()).describe("Addresses of a server; none of a client."),
  port: z.number().describe("Port of a server; 0 of a client."),
});
type Computed = z.output<typeof computed>;

/** What the other end of a tunnel has to know of a gateway (networking reference 16). */
export const gatewayRead = resourceFunctions({
  type: "GatewayRead",
  summary:
    "Waits until a gateway has its keys and, for a server, an address, and reads what its peer has to know. A refresh reads it again, so that a new address or key reaches the peer with the next run.",
  inputs,
  computed,
  secrets: [],
  secretInputs: ["kubeconfig"],
  replaceOn: ["kind", "namespace", "name"],
  validateChange: (olds, news) =>
    olds.namespace === (news.namespace ?? olds.namespace) && olds.name === (news.name ?? olds.name)
      ? sameEnd("kind", olds.kind, news.kind)
      : [],

  ...createdByWait(objectId, wait),
  read: (_id, state, context) =>
    inCluster(state, context, async (client) => {
      const { name, namespace } = state;
      const limits = { signal: context.signal, deadlineMs: lookMs };
      const gateway =
        state.kind === "GatewayServer"
          ? await client.get(GatewayServer, { name, namespace }, limits)
          : await client.get(GatewayClient, { name, namespace }, limits);
      const result = judge(gateway);
      return result.is === "met" ? await withKey(client, result.value, limits) : undefined;
    }),
});

interface Reachable {
  /** What was made from the template. */
  made: { name: string; namespace: string };
  secret: { name: string; namespace: string };
  addresses: string[];
  port: number;
}

async function wait(inputs: Inputs, context: ProviderContext): Promise<Computed> {
  const { kind, name, namespace } = inputs;
  const start = context.now();
  return await inCluster(inputs, context, async (client) => {
    const left = () => {
      const spent = Math.ceil((context.now() - start) / 1000);
      return { timeoutSeconds: Math.max(1, inputs.timeoutSeconds - spent) };
    };
    const common = {
      client,
      kindName: kind,
      ref: { name, namespace },
      what: kind === "GatewayServer" ? "its keys and its address" : "its keys",
      nextStep: `look with "kubectl describe ${kind.toLowerCase()},wg${kind.toLowerCase()},service -n ${namespace}" what keeps it; a Service of type LoadBalancer needs a cluster that gives addresses, take serviceType NodePort where there is none`,
    };
    const until = (service?: Reached) => {
      const judgeNow = (gateway: Gateway | undefined) => judgePresent(gateway, service);
      return kind === "GatewayServer"
        ? waitForObject({ ...common, ...left(), kind: GatewayServer, judge: judgeNow }, context)
        : waitForObject({ ...common, ...left(), kind: GatewayClient, judge: judgeNow }, context);
    };
    const first = await until();
    const service = await madeOf(client, { ...first.made, kind, ...left() }, context);
    const reachable = service === undefined ? first : await until(service);
    const found = await withKey(client, reachable, { signal: context.signal, deadlineMs: lookMs });
    if (found !== undefined) return found;
    const { secret } = reachable;
    throw new Error(
      `${kind} ${namespace}/${name}: Secret ${secret.namespace}/${secret.name} has no ${DataKey.publicKey}; delete the Secret to have new keys made`,
    );
  });
}

/** What is there, or the first thing that is missing. */
function judge(gateway: Gateway | undefined): WaitResult<Reachable> {
  const open = (seen: string): WaitResult<Reachable> => ({ is: "open", seen });
  if (gateway === undefined) return open("does not exist");
  const { status } = gateway;
  const made = gateway.kind === "GatewayServer" ? gateway.status?.serverRef : gateway.status?.clientRef;
  if (made === undefined)
    return open("nothing was made from its template yet (status.serverRef, status.clientRef)");
  const { name, namespace = gateway.metadata.namespace ?? "" } = status?.secretRef ?? {};
  if (name === undefined) return open("it has no keys yet (status.secretRef)");
  const secret = { name, namespace };
  const own = { name: made.name ?? "", namespace: made.namespace ?? gateway.metadata.namespace ?? "" };
  if (gateway.kind === "GatewayClient")
    return { is: "met", value: { made: own, secret, addresses: [], port: 0 } };
  const { addresses = [], port = 0 } = gateway.status?.endpoint ?? {};
  if (addresses.length === 0) return open("its Service has no address yet (status.endpoint)");
  return { is: "met", value: { made: own, secret, addresses, port } };
}

/** The same, of the present spec; of a server also as its Service is by now. */
function judgePresent(gateway: Gateway | undefined, service?: Reached): WaitResult<Reachable> {
  const result = judge(gateway);
  const stale = gateway && staleStatus(gateway);
  if (result.is !== "met" || stale === undefined) {
    const other = result.is === "met" && service ? otherEndpoint(result.value, service) : undefined;
    return other === undefined ? result : { is: "open", seen: other };
  }
  return { is: "open", seen: stale };
}

async function withKey(
  client: KubeClient,
  { secret, addresses, port }: Reachable,
  limits: { signal: AbortSignal; deadlineMs: number },
): Promise<Computed | undefined> {
  const keys = await client.get(Secret, secret, limits);
  const publicKey = keys?.data?.[DataKey.publicKey];
  return publicKey ? { publicKey, addresses, port } : undefined;
}

/**
 * Refuses a tunnel that is turned round. A cluster has one gateway for a peer: a run removes the former end as its last step, and until then neither of
 * the two works.
 */
export function sameEnd(
  property: string,
  before: GatewayEnd | undefined,
  now: GatewayEnd | undefined,
): InputFault[] {
  if (before === undefined || now === undefined || before === now) return [];
  const reason = `is "${now}", but the cluster has the ${before} of this peering, and cannot have both. Put "server" back as it was; or take the network of the peering out, run once, and then give the other server`;
  return [{ property, reason }];
}

export interface GatewayReadArgs extends ClusterArgs {
  /** Which end of the tunnel it is. */
  kind: pulumi.Input<"GatewayServer" | "GatewayClient">;
  /** Namespace of the gateway: the one for everything about the peer. */
  namespace: pulumi.Input<string>;
  /** Name of the gateway. */
  name: pulumi.Input<string>;
  /** Arbitrary values: when one changes, look again. */
  triggers?: pulumi.Input<Record<string, pulumi.Input<string>> | undefined>;
  /** Longest time to wait, in seconds; 120 by default. */
  timeoutSeconds?: pulumi.Input<number>;
}

/**
 * Waits until a gateway has its keys and, for a server, an address, and reads what its peer has to know. A refresh reads it again, so that a
 * new address or key reaches the peer with the next run.
 */
export class GatewayRead extends LiqoResource {
  /** The gateway's WireGuard key, base64; for its peer. */
  declare readonly publicKey: pulumi.Output<string>;
  /** Addresses of a server; none of a client. */
  declare readonly addresses: pulumi.Output<string[]>;
  /** Port of a server; 0 of a client. */
  declare readonly port: pulumi.Output<number>;

  constructor(name: string, args: GatewayReadArgs, options?: pulumi.CustomResourceOptions) {
    super(
      "gatewayRead",
      name,
      { publicKey: undefined, addresses: undefined, port: undefined, ...withSecretKubeconfig(args) },
      options,
    );
  }
}
