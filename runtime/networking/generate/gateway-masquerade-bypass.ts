import { type FirewallConfiguration, type InternalNode, Label, LabelValue, type Pod } from "../../api";
import { controlledBy } from "../../kube";
import { firewallConfiguration, type Generated, Priority, source } from "./configurations";
import { objectName } from "./metadata";
import { podAddress } from "./node-routes";

export function gatewayMasqueradeBypassName(node: string): string {
  return objectName(`${node}-gw-masquerade-bypass`);
}

/**
 * On one node: what gateway pods on it send to nodes over the overlay keeps their address. Some CNIs masquerade it, and nodes take packets of the overlay
 * only from the address that they know (networking reference 14.7). Undefined where no gateway runs on the node.
 */
export function gatewayMasqueradeBypass(
  node: InternalNode,
  gateways: readonly Pod[],
  genevePort: number,
  liqoNamespace: string,
): Generated<FirewallConfiguration> | undefined {
  const rules = gateways.flatMap((pod) => {
    const address = podAddress(pod);
    if (address === undefined) return [];
    const { name, namespace } = pod.metadata;
    return [{ pod: { kind: "Pod", name, namespace }, address }];
  });
  if (rules.length === 0) return undefined;
  const name = gatewayMasqueradeBypassName(node.metadata.name);
  const generated = firewallConfiguration(
    {
      name,
      namespace: liqoNamespace,
      audience: { category: "fabric", subcategory: "single-node", unique: node.metadata.name },
      owner: controlledBy(node),
    },
    {
      name,
      chains: [
        {
          name: "pre-postrouting",
          type: "nat",
          policy: "accept",
          hook: "postrouting",
          priority: Priority.beforeSrcNat,
          rules: {
            natRules: rules
              .sort((a, b) => (a.address < b.address ? -1 : 1))
              .map(({ pod, address }) => ({
                // Gateways of two peers, each in its namespace, may have pods of one name.
                name: `${pod.namespace ?? ""}/${pod.name}`,
                match: [
                  source(address),
                  {
                    op: "eq",
                    proto: { value: "udp" },
                    port: { value: String(genevePort), position: "dst" },
                  },
                ],
                natType: "snat",
                to: address,
                targetRef: pod,
              })),
          },
        },
      ],
    },
  );
  generated.metadata.labels[Label.gatewayMasqueradeBypass] = LabelValue.true;
  return generated;
}
