import { type EndpointSlice, type IP, Label, type Service, WellKnownLabel } from "../api";
import { controlledBy } from "../kube";

/** Value of the label that says which controller made an object. */
export const MANAGED_BY_IP = "ip";

/** Keeps Kubernetes' own controllers away from the slice. */
const SLICE_MANAGER = "ip.ipam.liqo.io";

/** The Service that an IP asks for, and the EndpointSlice that gives it the address; undefined where it asks for none (networking reference 8). */
export function serviceOf(ip: IP): { service: Service; endpointSlice: EndpointSlice } | undefined {
  const { serviceTemplate } = ip.spec;
  if (serviceTemplate?.spec === undefined) return undefined;
  const { name, namespace } = ip.metadata;
  const labels = { ...serviceTemplate.metadata?.labels, [Label.managedBy]: MANAGED_BY_IP };
  const metadata = { name, namespace, ownerReferences: [controlledBy(ip)] };
  return {
    service: {
      apiVersion: "v1",
      kind: "Service",
      metadata: { ...metadata, labels, annotations: { ...serviceTemplate.metadata?.annotations } },
      spec: serviceTemplate.spec,
    },
    endpointSlice: {
      apiVersion: "discovery.k8s.io/v1",
      kind: "EndpointSlice",
      metadata: {
        ...metadata,
        labels: {
          [Label.managedBy]: MANAGED_BY_IP,
          [WellKnownLabel.serviceName]: name,
          [WellKnownLabel.endpointSliceManagedBy]: SLICE_MANAGER,
        },
      },
      addressType: "IPv4",
      endpoints: [{ addresses: [ip.spec.ip], conditions: { ready: true } }],
      // The address is reached at the port that the Service shows; a target port would be one of pods.
      ports: (serviceTemplate.spec.ports ?? []).map(({ name: portName, port, protocol, appProtocol }) => ({
        name: portName ?? "",
        port,
        protocol: protocol ?? "TCP",
        ...(appProtocol !== undefined && { appProtocol }),
      })),
    },
  };
}
