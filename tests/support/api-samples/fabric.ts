/** What the nodes of a cluster get: overlay, routes and firewall. */
import { type Manifest, manifest, TIME } from "./manifest";
import { networking } from "./networking";

const applied = [
  { host: "rome-node-1", type: "Applied", status: "True", observedGeneration: 4, lastTransitionTime: TIME },
];

export const FABRIC: Manifest[] = [
  manifest("networking.liqo.io", "InternalNode", "rome-node-1", {
    spec: { interface: { gateway: { name: "liqo.bcdfghjklm" }, node: { ip: "10.80.0.1" } } },
    status: { observedGeneration: 2, nodeIP: { local: "10.200.1.1", remote: "172.30.0.11" } },
  }),
  networking("InternalFabric", "milan", {
    spec: {
      mtu: 1340,
      remoteCIDRs: ["10.73.0.0/16", "10.74.0.0/16"],
      interface: { node: { name: "liqo.nopqrstvwx" }, gateway: { ip: "10.80.0.2" } },
      gatewayIP: "10.200.1.7",
    },
  }),
  networking("GeneveTunnel", "milan-rome-node-1", {
    spec: {
      id: 7,
      internalNodeRef: { name: "rome-node-1" },
      internalFabricRef: { name: "milan", namespace: "liqo-tenant-milan" },
    },
  }),
  networking("RouteConfiguration", "milan-node-gw", {
    spec: {
      table: {
        name: "milan-node-gw",
        targetRef: { kind: "InternalFabric", name: "milan" },
        rules: [
          {
            dst: "10.73.0.0/16",
            src: "10.200.0.0/16",
            iif: "liqo-tunnel",
            oif: "eth0",
            fwmark: 5,
            priority: 100,
            targetRef: { kind: "Pod", name: "web-0" },
            routes: [
              {
                dst: "10.73.0.0/16",
                src: "10.80.0.1",
                gw: "10.80.0.2",
                dev: "liqo.nopqrstvwx",
                onlink: true,
                scope: "link",
                targetRef: { kind: "Pod", name: "web-0" },
              },
            ],
          },
          { routes: [] },
        ],
      },
    },
    status: { conditions: applied },
  }),
  networking("FirewallConfiguration", "milan-remap-podcidr", {
    spec: {
      table: {
        name: "remap-podcidr",
        family: "IPV4",
        chains: [
          {
            name: "outgoing",
            type: "nat",
            policy: "accept",
            hook: "prerouting",
            priority: -100,
            rules: {
              natRules: [
                {
                  name: "milan",
                  match: [
                    { op: "eq", ip: { value: "10.73.0.0/16", position: "dst" } },
                    { op: "neq", dev: { value: "liqo-tunnel", position: "in" } },
                    { op: "eq", proto: { value: "udp" }, port: { value: "53", position: "src" } },
                  ],
                  natType: "dnat",
                  to: "10.201.0.0/16",
                  targetRef: { kind: "Configuration", name: "milan" },
                },
              ],
            },
          },
          {
            name: "clamp",
            type: "filter",
            policy: "drop",
            hook: "forward",
            priority: 0,
            rules: {
              filterRules: [
                {
                  name: "mss",
                  counter: false,
                  match: [
                    { op: "eq", proto: { value: "tcp" }, port: { value: "80-90", position: "dst" } },
                    { op: "neq", ip: { value: "10.71.0.1-10.71.0.9", position: "src" } },
                    { op: "eq", dev: { value: "liqo-tunnel", position: "out" } },
                  ],
                  action: "tcpmssclamp",
                  value: "1300",
                },
              ],
            },
          },
          {
            name: "routes",
            type: "route",
            policy: "accept",
            hook: "output",
            priority: 1,
            rules: { routeRules: [{ name: "nothing" }] },
          },
        ],
      },
    },
    status: { conditions: applied },
  }),
];
