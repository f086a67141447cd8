/** The objects of clusters whose networks are joined, as an installation and somebody who peers by hand write them. */
import {
  Configuration,
  GatewayClient,
  GatewayServer,
  Namespace,
  Network,
  Node,
  WgGatewayClientTemplate,
  WgGatewayServerTemplate,
} from "../../runtime/api";
import type { KubeClient } from "../../runtime/kube";
import { bare, type NetworkClusterPlan, type NodePlan } from "./network-plan";

/** The objects of an installation with networking. */
export async function createInstallation(client: KubeClient, plan: NetworkClusterPlan): Promise<void> {
  const create = async (name: string) =>
    client.create(Namespace, { apiVersion: "v1", kind: "Namespace", metadata: { name } });
  await create(plan.liqoNamespace);
  const pinned = { "ipam.liqo.io/network-not-remapped": "true", "ipam.liqo.io/network-shared": "true" };
  const network = (name: string, cidr: string, labels = {}, preAllocated = 0) =>
    client.create(Network, {
      apiVersion: "ipam.liqo.io/v1alpha1",
      kind: "Network",
      metadata: {
        name,
        namespace: plan.liqoNamespace,
        labels: { "ipam.liqo.io/network-type": name, ...labels },
        annotations: { "liqo.io/preinstalled": "true" },
      },
      spec: { cidr, ...(preAllocated > 0 && { preAllocated }) },
    });
  await network("pod-cidr", plan.podCidr, pinned);
  await network("service-cidr", plan.serviceCidr, pinned);
  await network("external-cidr", plan.externalCidr, {}, 1);
  await network("internal-cidr", plan.internalCidr);
  for (const node of plan.nodes) await createNode(client, node);
  const networking = { apiVersion: "networking.liqo.io/v1beta1" } as const;
  await client.create(WgGatewayServerTemplate, {
    ...networking,
    kind: "WgGatewayServerTemplate",
    metadata: { name: "wireguard-server", namespace: plan.liqoNamespace },
    spec: {
      objectKind: { ...networking, kind: "WgGatewayServer" },
      template: {
        metadata: { name: "{{ .Name }}", namespace: "{{ .Namespace }}" },
        spec: {
          service: {
            metadata: {},
            spec: {
              type: "{{ .Spec.Endpoint.ServiceType }}",
              selector: { "app.kubernetes.io/name": "{{ .Name }}" },
              ports: [{ port: "{{ .Spec.Endpoint.Port }}", protocol: "UDP" }],
            },
          },
          deployment: deploymentTemplate,
        },
      },
    },
  });
  await client.create(WgGatewayClientTemplate, {
    ...networking,
    kind: "WgGatewayClientTemplate",
    metadata: { name: "wireguard-client", namespace: plan.liqoNamespace },
    spec: {
      objectKind: { ...networking, kind: "WgGatewayClient" },
      template: {
        metadata: { name: "{{ .Name }}", namespace: "{{ .Namespace }}" },
        spec: { deployment: deploymentTemplate },
      },
    },
  });
}

/** The object of a node. */
export async function createNode(client: KubeClient, { name, address }: NodePlan): Promise<void> {
  await client.create(Node, { apiVersion: "v1", kind: "Node", metadata: { name }, spec: {} });
  const status = {
    addresses: [{ type: "InternalIP", address: bare(address) }],
    conditions: [{ type: "Ready", status: "True" }],
  };
  await client.patch(Node, { name }, { status }, { type: "merge", subresource: "status" });
}

/** Writes what a peering consists of on this side; the gateway's end is the client where a server is given. */
export async function createPeering(
  client: KubeClient,
  plan: NetworkClusterPlan,
  peer: NetworkClusterPlan | { id: string; podCidr: string; externalCidr: string },
  server?: { addresses: string[]; port: number },
): Promise<void> {
  const namespace = `liqo-tenant-${peer.id}`;
  const metadata = { name: peer.id, namespace, labels: { "liqo.io/remote-cluster-id": peer.id } };
  const networking = { apiVersion: "networking.liqo.io/v1beta1" } as const;
  await client.create(Namespace, {
    apiVersion: "v1",
    kind: "Namespace",
    metadata: {
      name: namespace,
      labels: { "liqo.io/remote-cluster-id": peer.id, "liqo.io/tenant-namespace": "true" },
    },
  });
  await client.create(Configuration, {
    ...networking,
    kind: "Configuration",
    metadata,
    spec: { remote: { cidr: { pod: [peer.podCidr], external: [peer.externalCidr] } } },
  });
  if (server === undefined) {
    await client.create(GatewayServer, {
      ...networking,
      kind: "GatewayServer",
      metadata,
      spec: {
        mtu: 1340,
        serverTemplateRef: {
          kind: "WgGatewayServerTemplate",
          name: "wireguard-server",
          namespace: plan.liqoNamespace,
        },
        endpoint: { port: 51840, serviceType: "NodePort" },
      },
    });
  } else {
    await client.create(GatewayClient, {
      ...networking,
      kind: "GatewayClient",
      metadata,
      spec: {
        mtu: 1340,
        clientTemplateRef: {
          kind: "WgGatewayClientTemplate",
          name: "wireguard-client",
          namespace: plan.liqoNamespace,
        },
        endpoint: server,
      },
    });
  }
}

const deploymentTemplate = {
  metadata: {},
  spec: {
    replicas: 1,
    selector: { matchLabels: { "app.kubernetes.io/name": "{{ .Name }}" } },
    template: {
      metadata: { labels: { "app.kubernetes.io/name": "{{ .Name }}" } },
      spec: { serviceAccountName: "{{ .Name }}", containers: [{ name: "gateway", image: "none" }] },
    },
  },
};
