import { gatewayObjectName, type GatewayClient, type GatewayServer, Label } from "../../api";
import { keyOf } from "../../kube";
import type { TemplateStruct, TemplateValue } from "./values";

type Gateway = GatewayServer | GatewayClient;
type Reference = NonNullable<GatewayServer["spec"]["serverTemplateRef"]>;

/**
 * What templates of gateways may name: `.Spec` with the fields of the Go types, `.Name`, `.Namespace`, `.GatewayUID`, `.ClusterID` and
 * `.SecretName` (networking reference 9.1). Fields that are not given are zero, or nothing where Go has a pointer.
 *
 * @throws Error when the gateway does not say which peer it is for
 */
export function gatewayData(gateway: Gateway): TemplateStruct {
  const { name, namespace = "", uid = "", labels } = gateway.metadata;
  const clusterId = labels?.[Label.remoteClusterID];
  if (!clusterId) {
    throw new Error(
      `${gateway.kind} ${keyOf(gateway)} has no label ${Label.remoteClusterID}; set it to the peer's cluster ID`,
    );
  }
  return {
    Spec: gateway.kind === "GatewayServer" ? serverSpec(gateway.spec) : clientSpec(gateway.spec),
    Name: name,
    Namespace: namespace,
    GatewayUID: uid,
    ClusterID: clusterId,
    SecretName: keySecretName(gateway),
  };
}

/** The Secret with a gateway's keys: the one that it names, else the one that is made for it. */
export function keySecretName({ metadata, spec }: Gateway): string {
  return spec.secretRef?.name || gatewayObjectName(metadata.name);
}

function serverSpec(spec: GatewayServer["spec"]): TemplateStruct {
  const { endpoint } = spec;
  return {
    ServerTemplateRef: reference(spec.serverTemplateRef),
    MTU: spec.mtu ?? 0,
    Endpoint: {
      Port: endpoint?.port ?? 0,
      Ports: endpoint?.ports ?? [],
      ServiceType: endpoint?.serviceType ?? "",
      NodePort: endpoint?.nodePort ?? null,
      NodePorts: endpoint?.nodePorts ?? [],
      LoadBalancerIP: endpoint?.loadBalancerIP ?? null,
    },
    SecretRef: { Name: spec.secretRef?.name ?? "" },
    ServiceAnnotations: map(spec.serviceAnnotations),
    ServiceLabels: map(spec.serviceLabels),
  };
}

function clientSpec(spec: GatewayClient["spec"]): TemplateStruct {
  const { endpoint } = spec;
  return {
    ClientTemplateRef: reference(spec.clientTemplateRef),
    MTU: spec.mtu ?? 0,
    Endpoint: {
      Addresses: endpoint?.addresses ?? [],
      Port: endpoint?.port ?? 0,
      Ports: endpoint?.ports ?? [],
      Protocol: endpoint?.protocol ?? null,
    },
    SecretRef: { Name: spec.secretRef?.name ?? "" },
  };
}

function reference(ref: Reference | undefined): TemplateStruct {
  return {
    Kind: ref?.kind ?? "",
    Namespace: ref?.namespace ?? "",
    Name: ref?.name ?? "",
    UID: ref?.uid ?? "",
    APIVersion: ref?.apiVersion ?? "",
    ResourceVersion: ref?.resourceVersion ?? "",
    FieldPath: ref?.fieldPath ?? "",
  };
}

function map(entries: Record<string, string> | undefined): ReadonlyMap<string, TemplateValue> {
  return new Map(Object.entries(entries ?? {}));
}
