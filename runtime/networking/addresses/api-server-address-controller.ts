import { EndpointSlice, IP, Label, LabelValue, Service, WellKnownLabel } from "../../api";
import { type Controller, runController, watches, withGlobalMetadata, writeIfChanged } from "../../kube";
import type { NetworkingContext } from "../networking-context";
import { apiServerEndpointIPs, apiServerIP, apiServerProxyIP } from "./api-server-addresses";

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
