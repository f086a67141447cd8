import { isIPv4 } from "node:net";

import { Annotation, EndpointSlice, IP, Label, LabelValue, Name, Service, WellKnownLabel } from "../../api";
import { type Controller, runController, watches, withGlobalMetadata, writeIfChanged } from "../../kube";
import { wantedIP, type WantedIP } from "../generated";
import { objectName } from "../labels";
import type { NetworkingContext } from "../networking-context";

const KEY = "api-server";
const TYPES: readonly (string | undefined)[] = [LabelValue.apiServer, LabelValue.apiServerProxy];

/** Keeps the IPs by which peers reach this cluster's API server: those that the options ask for, and no others. */
export function runApiServerAddressController(networking: NetworkingContext): Controller {
  const { runtime, caches, options } = networking;
  const { informers } = runtime;
  const apiServer = informers.informer(Service, {
    namespace: "default",
    fieldSelector: "metadata.name=kubernetes",
  });
  const endpoints = informers.informer(EndpointSlice, {
    namespace: "default",
    labelSelector: `${WellKnownLabel.serviceName}=kubernetes`,
  });
  const proxies = informers.informer(Service, {
    namespace: options.liqoNamespace,
    labelSelector: `${WellKnownLabel.appName}=proxy`,
  });
  const keys = () => [KEY];
  const isOurs = ({ metadata }: IP) =>
    metadata.namespace === options.liqoNamespace && TYPES.includes(metadata.labels?.[Label.ipType]);

  const desired = () => [
    ...(options.apiServerBy === "service"
      ? apiServerIP(apiServer.list()[0], options.liqoNamespace)
      : apiServerEndpointIPs(endpoints.list(), options.liqoNamespace)),
    ...(options.exportProxy ? apiServerProxyIP(proxies.list()[0], options.liqoNamespace) : []),
  ];

  return runController(
    {
      name: "api-server-address",
      sources: [
        watches(apiServer, { keys }),
        watches(endpoints, { keys }),
        watches(proxies, { keys }),
        watches(caches.ips, { keys: (ip) => (isOurs(ip) ? [KEY] : []) }),
      ],
      reconcile: async () => {
        const wanted = new Map(desired().map((ip) => [ip.metadata.name, ip]));
        for (const observed of caches.ips.list().filter(isOurs)) {
          const { name, deletionTimestamp, uid } = observed.metadata;
          const same = wanted.get(name)?.spec.ip === observed.spec.ip;
          if (!same) {
            // The address is immutable: the IP goes, and comes back with the other one.
            wanted.delete(name);
            if (!deletionTimestamp) await runtime.client.delete(IP, observed.metadata, { uid });
          }
        }
        for (const ip of wanted.values()) {
          const observed = caches.ips.get(ip.metadata.name, ip.metadata.namespace);
          await writeIfChanged(runtime.client, IP, withGlobalMetadata(ip, options.global), observed);
        }
      },
    },
    runtime,
  );
}

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
