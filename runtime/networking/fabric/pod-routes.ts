import {
  type FirewallConfiguration,
  type InternalNode,
  Label,
  LabelValue,
  Name,
  type Pod,
  type RouteConfiguration,
} from "../../api";
import { parseAddress } from "../../ipam/cidr";
import { controlledBy } from "../../kube";
import { firewallConfiguration, type Generated, Priority, routeConfiguration, source } from "../generated";
import { objectName } from "../labels";
import { podAddress } from "../address-mapping";

function podRouteName(node: string): string {
  return objectName(`${node}-gw-node`);
}

/** In every gateway: the way to a node, and through it to the pods on it (networking reference 14.5). */
export function podRoutes(
  node: InternalNode,
  pods: readonly Pod[],
  liqoNamespace: string,
): Generated<RouteConfiguration> {
  const { gateway, node: end } = node.spec.interface;
  const ip = `${end.ip}/32`;
  return routeConfiguration(
    {
      name: podRouteName(node.metadata.name),
      namespace: liqoNamespace,
      audience: { category: "gateway", subcategory: "fabric" },
      owner: controlledBy(node),
    },
    {
      name: node.metadata.name,
      rules: [
        { dst: ip, routes: [{ dst: ip, dev: gateway.name, scope: "link" }] },
        {
          iif: Name.tunnelInterface,
          routes: routedPods(pods).map(({ address, pod }) => ({
            dst: `${address}/32`,
            gw: end.ip,
            targetRef: { kind: "Pod", namespace: pod.metadata.namespace, name: pod.metadata.name },
          })),
        },
      ],
    },
  );
}

/** Whether a pod has an address on the network of pods that gateways route to. */
export function isRouted(pod: Pod): boolean {
  return (
    pod.spec?.hostNetwork !== true &&
    pod.metadata.labels?.[Label.shadowPod] !== LabelValue.true &&
    pod.status?.phase !== "Succeeded" &&
    pod.status?.phase !== "Failed" &&
    podAddress(pod) !== undefined
  );
}

/** An address that was given to a new pod while the old one is still listed is the new one's. */
function routedPods(pods: readonly Pod[]): { address: string; pod: Pod }[] {
  const byAddress = new Map<string, Pod>();
  for (const pod of pods.filter(isRouted)) {
    const address = podAddress(pod) ?? "";
    const other = byAddress.get(address);
    if (other === undefined || isYounger(pod, other)) byAddress.set(address, pod);
  }
  return [...byAddress]
    .map(([address, pod]) => ({ address, pod }))
    .sort((a, b) => parseAddress(a.address) - parseAddress(b.address));
}

function isYounger(a: Pod, b: Pod): boolean {
  const [deletingA, deletingB] = [a, b].map(({ metadata }) => Boolean(metadata.deletionTimestamp));
  if (deletingA !== deletingB) return deletingB === true;
  return (a.metadata.creationTimestamp ?? "") > (b.metadata.creationTimestamp ?? "");
}

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
