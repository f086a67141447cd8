import { z } from "zod";

import { ForeignCluster } from "../../runtime/api";
import { clusterIDInput, clusterInputs, inCluster, lookMs, recorded, timeoutInput } from "../cluster-inputs";
import type { ProviderContext } from "../resource-definition";
import { resourceFunctions } from "../resource-functions";
import { type WaitResult, waitForObject } from "../waiting/object-wait";
import { presentTunnel } from "./present-tunnel";

const inputs = z.object({
  ...clusterInputs,
  peerClusterId: clusterIDInput.describe("ID of the cluster at the other end."),
  triggers: z
    .record(z.string(), z.string())
    .optional()
    .describe("Arbitrary values: when one changes, wait again."),
  timeoutSeconds: timeoutInput(120),
});
type Inputs = z.output<typeof inputs>;

/** Last step of a network peering: packets pass (networking reference 17). */
export const networkConnection = resourceFunctions({
  type: "NetworkConnection",
  summary:
    "Waits in a cluster until the tunnel to a peer is up, and says which step is missing while it is not. A refresh looks again: when it is down, the next run waits anew.",
  inputs,
  computed: z.object({ since: z.string().describe("When the connection was established.") }),
  secrets: [],
  secretInputs: ["kubeconfig"],
  replaceOn: ["peerClusterId"],

  async create(news, context) {
    const id = news.peerClusterId;
    return { id, computed: await recorded(id, () => wait(news, context)) };
  },
  read: (_id, state, context) =>
    inCluster(state, context, async (client) => {
      const limits = { signal: context.signal, deadlineMs: lookMs };
      const result = judge(await client.get(ForeignCluster, { name: state.peerClusterId }, limits));
      return result.is === "met" ? result.value : undefined;
    }),
  update: (id, _olds, news, context) => recorded(id, () => wait(news, context)),
});

function wait(inputs: Inputs, context: ProviderContext): Promise<{ since: string }> {
  const { peerClusterId } = inputs;
  const start = context.now();
  return inCluster(inputs, context, async (client) => {
    const established = () => {
      const spent = Math.ceil((context.now() - start) / 1000);
      return waitForObject(
        {
          client,
          kind: ForeignCluster,
          kindName: "ForeignCluster",
          ref: { name: peerClusterId },
          timeoutSeconds: Math.max(1, inputs.timeoutSeconds - spent),
          what: "the network connection",
          nextStep:
            "when the step that is missing is the connection itself, see that the client reaches the server's address and UDP port, and that each side has the other's PublicKey; the log of the gateway's pod in the tenant namespace says more",
          judge: (foreignCluster) => {
            const result = judge(foreignCluster);
            if (result.is !== "met") return result;
            const namespace = foreignCluster?.status?.tenantNamespace?.local ?? "";
            return { is: "met", value: { ...result.value, namespace } };
          },
        },
        context,
      );
    };
    const { namespace } = await established();
    const tunnel = { peerClusterId, namespace, deadline: start + inputs.timeoutSeconds * 1000 };
    await presentTunnel(client, tunnel, context);
    const { since } = await established();
    return { since };
  });
}

/** The steps in their order, and what each says when it is done. */
const STEPS = [
  ["NetworkConfigurationStatus", "Ready"],
  ["NetworkGatewayPresence", "Ready"],
  ["NetworkGatewayServerStatus", "Ready"],
  ["NetworkGatewayClientStatus", "Ready"],
  ["NetworkConnectionStatus", "Established"],
] as const;

function judge(foreignCluster: ForeignCluster | undefined): WaitResult<{ since: string }> {
  if (foreignCluster === undefined) return { is: "open", seen: "does not exist" };
  const networking = foreignCluster.status?.modules?.networking;
  if (networking?.enabled !== true) {
    return { is: "open", seen: "the networking module is not in use with this peer yet" };
  }
  const conditions = networking.conditions ?? [];
  const connection = conditions.find(({ type }) => type === "NetworkConnectionStatus");
  if (connection?.status === "Established") {
    return { is: "met", value: { since: connection.lastTransitionTime ?? "" } };
  }
  for (const [type, done] of STEPS) {
    const condition = conditions.find((candidate) => candidate.type === type);
    if (condition === undefined || condition.status === done) continue;
    const since = condition.lastTransitionTime === undefined ? "" : ` since ${condition.lastTransitionTime}`;
    return {
      is: "open",
      seen: `${type} is ${condition.status}${since} (${condition.reason ?? "no reason"}): ${condition.message ?? ""}`,
    };
  }
  return { is: "open", seen: "NetworkConnectionStatus is not told yet" };
}
