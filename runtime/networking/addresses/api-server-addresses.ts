import { isIPv4 } from "node:net";

import { Annotation, type EndpointSlice, Label, LabelValue, Name, type Service } from "../../api";
import { objectName } from "../generate/metadata";
import { wantedIP, type WantedIP } from "./wanted-ip";

/** The IPs by which peers reach this cluster's API server, directly or through the proxy (networking reference 8). */

/** For the Service `kubernetes` in `default`. */
export function apiServerIP(service: Service | undefined, liqoNamespace: string): WantedIP[] {
  return ofService(service, Name.apiServerIP, LabelValue.apiServer, liqoNamespace);
}

/** For the Service of the proxy. */
export function apiServerProxyIP(service: Service | undefined, liqoNamespace: string): WantedIP[] {
  return ofService(service, Name.apiServerProxyIP, LabelValue.apiServerProxy, liqoNamespace);
}

/** For each endpoint of the API server: nodes answer them, so what peers send leaves with a node's own address. */
export function apiServerEndpointIPs(slices: readonly EndpointSlice[], liqoNamespace: string): WantedIP[] {
  const byAddress = new Map<string, string>();
  for (const slice of [...slices].sort((a, b) => (a.metadata.name < b.metadata.name ? -1 : 1))) {
    const addresses = slice.endpoints.flatMap((endpoint) => endpoint.addresses).filter(isIPv4);
    for (const address of addresses) if (!byAddress.has(address)) byAddress.set(address, slice.metadata.name);
  }
  return [...byAddress].map(([address, slice]) =>
    wantedIP(
      exported(objectName(`${slice}-${address.replaceAll(".", "-")}`), liqoNamespace, {
        [Label.ipType]: LabelValue.apiServer,
        [Label.ipEndpointSlice]: slice,
      }),
      { ip: address, masquerade: true },
    ),
  );
}

function ofService(
  service: Service | undefined,
  name: string,
  type: string,
  liqoNamespace: string,
): WantedIP[] {
  const { clusterIP = "", clusterIPs = [] } = service?.spec ?? {};
  const ip = [clusterIP, ...clusterIPs].find((candidate) => isIPv4(candidate));
  return ip === undefined ? [] : [wantedIP(exported(name, liqoNamespace, { [Label.ipType]: type }), { ip })];
}

/** As if it had come with the installation: a removal does not wait for it. */
function exported(name: string, namespace: string, labels: Record<string, string>) {
  return { name, namespace, labels, annotations: { [Annotation.preinstalled]: LabelValue.true } };
}
