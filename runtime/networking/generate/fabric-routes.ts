import type { InternalFabric, RouteConfiguration } from "../../api";
import { controlledBy } from "../../kube";
import { type Generated, routeConfiguration } from "./configurations";
import { objectName } from "./metadata";

export function fabricRouteName(fabric: string): string {
  return objectName(`${fabric}-node-gw`);
}

/**
 * On every node: the way to a gateway, and through it to the networks of its peer (networking reference 14.6).
 *
 * @param priority of the rules; 0 lets the kernel choose
 */
export function fabricRoutes(fabric: InternalFabric, priority: number): Generated<RouteConfiguration> {
  const name = fabricRouteName(fabric.metadata.name);
  const { interface: ends, remoteCIDRs = [] } = fabric.spec;
  const gateway = `${ends.gateway.ip}/32`;
  const at = priority > 0 ? { priority } : {};
  return routeConfiguration(
    {
      name,
      namespace: fabric.metadata.namespace ?? "",
      audience: { category: "fabric" },
      owner: controlledBy(fabric),
    },
    {
      name,
      rules: [
        { dst: gateway, ...at, routes: [{ dst: gateway, dev: ends.node.name, scope: "link" }] },
        ...[...new Set(remoteCIDRs)]
          .sort()
          .map((dst) => ({ dst, ...at, routes: [{ dst, gw: ends.gateway.ip }] })),
      ],
    },
  );
}
