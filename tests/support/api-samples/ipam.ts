/** One object of each kind of ipam.liqo.io, with every field it has. */
import { type Manifest, manifest } from "./manifest";
import { serviceTemplate } from "./templates";

export const IPAM: Manifest[] = [
  manifest(
    "ipam.liqo.io",
    "Network",
    "external-cidr",
    {
      spec: { cidr: "10.70.0.0/16", preAllocated: 1 },
      status: { observedGeneration: 2, cidr: "10.72.0.0/16" },
    },
    "default",
  ),
  manifest(
    "ipam.liqo.io",
    "IP",
    "printer",
    {
      spec: {
        ip: "192.168.7.20",
        networkRef: { kind: "Network", name: "external-cidr", namespace: "default" },
        serviceTemplate,
        masquerade: true,
      },
      status: { observedGeneration: 2, ip: "10.72.0.4", cidr: "10.72.0.0/16" },
    },
    "default",
  ),
];
