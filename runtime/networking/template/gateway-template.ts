import {
  type GatewayClient,
  gatewayObjectName,
  type GatewayServer,
  Label,
  WgGatewayClient,
  type WgGatewayClientTemplate,
  WgGatewayServer,
  type WgGatewayServerTemplate,
} from "../../api";
import { isRecord } from "../../api/invalid-object";
import { embeddedSchema } from "../../api/schema/embedded";
import { type StructuralSchema, structuralSchema } from "../../api/schema/structural-schema";
import { keyOf } from "../../kube";
import type { TemplateStruct, TemplateValue } from "./functions";
import { renderValue } from "./render-object";
import { TemplateError } from "./tokens";

/** The object that a gateway's template becomes, before it gets its owner. */
interface RenderedGateway {
  apiVersion: string;
  kind: string;
  metadata: {
    name: string;
    namespace: string;
    labels: Record<string, string>;
    annotations: Record<string, string>;
  };
  spec: Record<string, unknown>;
}

/**
 * Makes of a gateway and its template the object that implements it (networking reference 9.1). A server's `serviceLabels` and
 * `serviceAnnotations` go over those of the template's Service.
 *
 * @throws TemplateError naming the template and the path in it
 */
export function renderGateway(
  gateway: GatewayServer | GatewayClient,
  template: WgGatewayServerTemplate | WgGatewayClientTemplate,
): RenderedGateway {
  const data = gatewayData(gateway);
  const { objectKind, template: pattern } = template.spec;
  const missing = (field: string) =>
    new TemplateError(`${template.kind} ${keyOf(template)}: ${field} is missing`);
  if (!objectKind?.apiVersion || !objectKind.kind) throw missing("spec.objectKind with apiVersion and kind");
  if (!isRecord(pattern?.metadata)) throw missing("spec.template.metadata");
  if (!isRecord(pattern.spec)) throw missing("spec.template.spec");
  const schema = schemaOf(objectKind.kind);
  try {
    const metadata = renderValue(pattern.metadata, data, METADATA, "spec.template.metadata");
    const spec = renderValue(pattern.spec, data, schema, "spec.template.spec");
    if (!isRecord(metadata) || !isRecord(spec)) throw missing("spec.template");
    return {
      apiVersion: objectKind.apiVersion,
      kind: objectKind.kind,
      metadata: {
        name: textOf(metadata.name) || gateway.metadata.name,
        namespace: textOf(metadata.namespace) || (gateway.metadata.namespace ?? ""),
        labels: textsOf(metadata.labels),
        annotations: textsOf(metadata.annotations),
      },
      spec: gateway.kind === "GatewayServer" ? withServiceMetadata(spec, gateway) : spec,
    };
  } catch (error) {
    if (!(error instanceof TemplateError)) throw error;
    throw new TemplateError(`${template.kind} ${keyOf(template)}: ${error.message}`, { cause: error });
  }
}

const METADATA: StructuralSchema = {
  properties: {
    name: { type: "string" },
    namespace: { type: "string" },
    labels: { additionalProperties: { type: "string" } },
    annotations: { additionalProperties: { type: "string" } },
  },
};

const schemas = new Map<string, StructuralSchema>();

/** The schema of a kind of ours, made when it is first needed; templates may also make kinds that we do not know. */
function schemaOf(kind: string): StructuralSchema | undefined {
  const known = [WgGatewayServer, WgGatewayClient].find((candidate) => candidate.kind === kind);
  if (known === undefined) return undefined;
  const schema = schemas.get(kind) ?? structuralSchema(known.specSchema, embeddedSchema);
  schemas.set(kind, schema);
  return schema;
}

function withServiceMetadata(spec: Record<string, unknown>, server: GatewayServer): Record<string, unknown> {
  const { serviceLabels, serviceAnnotations } = server.spec;
  if (serviceLabels === undefined && serviceAnnotations === undefined) return spec;
  const service = isRecord(spec.service) ? spec.service : {};
  const metadata = isRecord(service.metadata) ? service.metadata : {};
  const over = (below: unknown, above: Record<string, string> | undefined) => ({
    ...textsOf(below),
    ...above,
  });
  return {
    ...spec,
    service: {
      ...service,
      metadata: {
        ...metadata,
        labels: over(metadata.labels, serviceLabels),
        annotations: over(metadata.annotations, serviceAnnotations),
      },
    },
  };
}

function textOf(value: unknown): string {
  return typeof value === "string" ? value : "";
}

function textsOf(value: unknown): Record<string, string> {
  if (!isRecord(value)) return {};
  return Object.fromEntries(Object.entries(value).map(([key, text]) => [key, textOf(text)]));
}

type Gateway = GatewayServer | GatewayClient;
type Reference = NonNullable<GatewayServer["spec"]["serverTemplateRef"]>;

/**
 * What templates of gateways may name: `.Spec` with the fields of the Go types, `.Name`, `.Namespace`, `.GatewayUID`, `.ClusterID` and
 * `.SecretName` (networking reference 9.1). Fields that are not given are zero, or nothing where Go has a pointer.
 *
 * @throws Error when the gateway does not say which peer it is for
 */
function gatewayData(gateway: Gateway): TemplateStruct {
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
function keySecretName({ metadata, spec }: Gateway): string {
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
