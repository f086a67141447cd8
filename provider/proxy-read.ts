import * as pulumi from "@pulumi/pulumi";
import { z } from "zod";

import { Configuration, IP, Name, Service, WellKnownLabel } from "../runtime/api";
import type { KubeClient } from "../runtime/kube";
import { isConfigured, mapAddress } from "../runtime/networking/address-mapping";
import {
  type ClusterArgs,
  clusterIDInput,
  clusterInputs,
  inCluster,
  lookMs,
  nameInput,
  timeoutInput,
  triggersInput,
  withSecretKubeconfig,
} from "./core/cluster-access";
import type { ProviderContext } from "./core/definition";
import { resourceFunctions } from "./core/lifecycle";
import { LiqoResource } from "./core/liqo-resource";
import { createdByWait, waitForObject } from "./core/object-wait";

const inputs = z.object({
  ...clusterInputs,
  liqoNamespace: nameInput
    .default(Name.liqoNamespace)
    .describe(`Namespace of the provider's control plane; \`${Name.liqoNamespace}\` by default.`),
  consumerKubeconfig: clusterInputs.kubeconfig.describe("Text of the kubeconfig of the consumer."),
  tenantNamespace: nameInput.describe("Namespace at the consumer for everything about the provider."),
  providerClusterId: clusterIDInput.describe("ID of the provider."),
  triggers: triggersInput,
  timeoutSeconds: timeoutInput(120),
});
type Inputs = z.output<typeof inputs>;
interface Limits {
  signal: AbortSignal;
  deadlineMs: number;
}

/** Where a consumer reaches the proxy of a provider's API server through the tunnel (networking reference 8). */
export const proxyRead = resourceFunctions({
  type: "ProxyRead",
  summary:
    "Waits until a provider's API server proxy has an address that peers reach, and reads it as the consumer knows it. A refresh reads it again.",
  inputs,
  computed: z.object({ url: z.string().describe("The proxy, as the consumer reaches it.") }),
  secrets: [],
  secretInputs: ["kubeconfig", "consumerKubeconfig"],
  replaceOn: ["providerClusterId"],

  ...createdByWait(({ providerClusterId }) => providerClusterId, wait),
  read: (_id, state, context) =>
    inCluster(state, context, async (client) => {
      const limits = { signal: context.signal, deadlineMs: lookMs };
      const ip = await client.get(IP, exported(state), limits);
      const port = await proxyPort(client, state, limits);
      const configuration = await inCluster(consumer(state), context, (there) =>
        there.get(Configuration, mapping(state), limits),
      );
      if (!ip?.status?.ip || port === undefined) return undefined;
      if (configuration === undefined || !isConfigured(configuration)) return undefined;
      return { url: url(mapAddress(ip.status.ip, configuration), port) };
    }),
});

const consumer = ({ consumerKubeconfig }: Inputs) => ({ kubeconfig: consumerKubeconfig });
const exported = ({ liqoNamespace }: Inputs) => ({ name: Name.apiServerProxyIP, namespace: liqoNamespace });
const mapping = ({ providerClusterId, tenantNamespace }: Inputs) => ({
  name: providerClusterId,
  namespace: tenantNamespace,
});
const url = (address: string, port: number) => `http://${address}:${port}`;

async function wait(inputs: Inputs, context: ProviderContext): Promise<{ url: string }> {
  const { timeoutSeconds, liqoNamespace } = inputs;
  const limits = { signal: context.signal, deadlineMs: lookMs };
  const [address, port] = await inCluster(inputs, context, async (client) => {
    const found = await proxyPort(client, inputs, limits);
    if (found === undefined) {
      throw new Error(
        `there is no proxy in namespace ${liqoNamespace} at ${client.server}, by which its API server is reached through the tunnel; give the cluster's Installation "proxy: true"`,
      );
    }
    const ip = await waitForObject(
      {
        client,
        kind: IP,
        kindName: "IP",
        ref: exported(inputs),
        timeoutSeconds,
        what: "the address by which peers reach the proxy of the API server",
        nextStep: `see that the Installation has networking, and what the controller manager in namespace ${liqoNamespace} says of the IP in its events`,
        judge: (object) =>
          object?.status?.ip
            ? { is: "met", value: object.status.ip }
            : { is: "open", seen: object === undefined ? "does not exist" : "status.ip is empty" },
      },
      context,
    );
    return [ip, found] as const;
  });
  return await inCluster(consumer(inputs), context, async (client) => {
    const here = await waitForObject(
      {
        client,
        kind: Configuration,
        kindName: "Configuration",
        ref: mapping(inputs),
        timeoutSeconds,
        what: "the places of the provider's networks",
        nextStep: "see that the networks of the two are connected, with a NetworkPeering or by hand",
        judge: (object) =>
          object !== undefined && isConfigured(object)
            ? { is: "met", value: mapAddress(address, object) }
            : {
                is: "open",
                seen: object === undefined ? "does not exist" : "its networks have no places yet",
              },
      },
      context,
    );
    return { url: url(here, port) };
  });
}

/** The port is the Service's: upstream's peers take 8118 for granted, but it may be another. */
async function proxyPort(
  client: KubeClient,
  { liqoNamespace }: Inputs,
  limits: Limits,
): Promise<number | undefined> {
  const selection = { namespace: liqoNamespace, labelSelector: `${WellKnownLabel.appName}=proxy` };
  const [service] = await client.list(Service, selection, limits);
  return service?.spec?.ports?.[0]?.port;
}

export interface ProxyReadArgs extends ClusterArgs {
  /** Namespace of the provider's control plane; `liqo` by default. */
  liqoNamespace?: pulumi.Input<string>;
  /** Text of the kubeconfig of the consumer; kept as a secret. */
  consumerKubeconfig: pulumi.Input<string>;
  /** Namespace at the consumer for everything about the provider. */
  tenantNamespace: pulumi.Input<string>;
  /** ID of the provider. */
  providerClusterId: pulumi.Input<string>;
  /** Arbitrary values: when one changes, look again. */
  triggers?: pulumi.Input<Record<string, pulumi.Input<string>> | undefined>;
  /** Longest time to wait, in seconds; 120 by default. */
  timeoutSeconds?: pulumi.Input<number>;
}

/** Waits until a provider's API server proxy has an address that peers reach, and reads it as the consumer knows it. */
export class ProxyRead extends LiqoResource {
  /** The proxy, as the consumer reaches it. */
  declare readonly url: pulumi.Output<string>;

  constructor(name: string, args: ProxyReadArgs, options?: pulumi.CustomResourceOptions) {
    const secret = withSecretKubeconfig(args);
    const consumerKubeconfig = pulumi.secret(args.consumerKubeconfig);
    super("proxyRead", name, { url: undefined, ...secret, consumerKubeconfig }, options);
  }
}
