/** Nodes, pods and a fabric as they stand in a cluster, for the tests of this folder. */
import type { InternalFabric, InternalNode, Pod } from "../../../runtime/api";

const node = (name: string, last: number): InternalNode => ({
  apiVersion: "networking.liqo.io/v1beta1",
  kind: "InternalNode",
  metadata: { name, uid: `uid of ${name}` },
  spec: { interface: { gateway: { name: `liqo.${name}` }, node: { ip: `10.80.0.${last}` } } },
});
export const n1 = node("n1", 1);
export const n2 = node("n2", 2);
export const pod = (name: string, address: string, over: Partial<Pod> = {}): Pod => ({
  apiVersion: "v1",
  kind: "Pod",
  metadata: { name, namespace: "shop" },
  spec: { containers: [] },
  status: { phase: "Running", podIP: address },
  ...over,
});
export const fabric = (over: Partial<InternalFabric["spec"]> = {}): InternalFabric => ({
  apiVersion: "networking.liqo.io/v1beta1",
  kind: "InternalFabric",
  metadata: { name: "milan", namespace: "liqo-tenant-milan", uid: "f" },
  spec: {
    mtu: 1340,
    gatewayIP: "10.42.2.5",
    interface: { node: { name: "liqo.A" }, gateway: { ip: "10.80.0.3" } },
    remoteCIDRs: ["10.71.0.0/16", "10.68.0.0/16"],
    ...over,
  },
});
