import { controlPlaneNodeLabels, Node } from "../../api";
import { type Informer, type RuntimeContext, type Source, watches } from "../../kube";
import { apiServerAddressUrl } from "../../plan/installation-settings";

/** How consumers are told to reach this cluster's API server. */
export interface EndpointOptions {
  /** `--api-server-address-override`: URL, or host with port; empty for the address of a control-plane node. */
  addressOverride: string;
  /** `--ca-override`: base64 of a PEM bundle; empty for the CA that this process itself uses. */
  caOverride: string;
  /** `--trusted-ca`: a public authority signed the certificate, so that no CA is handed out. */
  trustedCa: boolean;
}

const addressTypes = ["ExternalDNS", "ExternalIP", "InternalDNS", "InternalIP", "Hostname"];

/**
 * URL of this cluster's API server for consumers (control plane reference 7.1).
 *
 * @throws Error when there is neither an override nor a control-plane node, as on managed clusters.
 */
export function apiServerUrl(addressOverride: string, nodes: readonly Node[]): string {
  if (addressOverride !== "") return apiServerAddressUrl(addressOverride);
  const members =
    controlPlaneNodeLabels
      .map((label) => nodes.filter(({ metadata }) => metadata.labels?.[label] !== undefined))
      .find((found) => found.length > 0) ?? [];
  for (const type of addressTypes) {
    for (const node of members) {
      const found = node.status?.addresses?.find((address) => address.type === type);
      if (found !== undefined) return `https://${bracketed(found.address)}:6443`;
    }
  }
  throw new Error(
    "no control-plane node with an address is visible, as on managed clusters; give the Installation apiServer: { address: … }, or set --api-server-address-override, to the API server's URL",
  );
}

function bracketed(address: string): string {
  return address.includes(":") ? `[${address}]` : address;
}

/**
 * CA bundle for consumers, as base64 of PEM; undefined when a public authority is trusted.
 *
 * @param ownCa PEM that this process itself trusts for the API server.
 */
export function caBundle(
  options: Pick<EndpointOptions, "caOverride" | "trustedCa">,
  ownCa: string | undefined,
): string | undefined {
  const bundle =
    options.caOverride !== ""
      ? Buffer.from(options.caOverride, "base64")
      : options.trustedCa
        ? undefined
        : Buffer.from(ownCa ?? "");
  if (bundle === undefined) return undefined;
  let end = bundle.length;
  // Overrides made by other tools may carry zero bytes of padding at the end.
  while (end > 0 && bundle[end - 1] === 0) end--;
  return end === 0 ? undefined : bundle.subarray(0, end).toString("base64");
}

/** Keeps of a control-plane node what its address is read from. */
const addressesOnly = ({ apiVersion, kind, metadata, status }: Node): Node => ({
  apiVersion,
  kind,
  metadata: {
    name: metadata.name,
    uid: metadata.uid,
    resourceVersion: metadata.resourceVersion,
    labels: metadata.labels,
  },
  spec: {},
  status: { addresses: status?.addresses },
});

/** Where consumers reach this cluster's API server; follows the control-plane nodes unless the address is given. */
export class ApiServerLocation {
  private readonly nodes: Informer<Node>[];

  constructor(
    private readonly runtime: RuntimeContext,
    private readonly options: EndpointOptions,
  ) {
    this.nodes =
      options.addressOverride === ""
        ? controlPlaneNodeLabels.map((labelSelector) =>
            runtime.informers.informer(Node, { labelSelector, project: addressesOnly }),
          )
        : [];
  }

  /** @throws Error where there is neither an override nor a control-plane node */
  async current(): Promise<{ apiServer: string; ca: string | undefined }> {
    const nodes = this.nodes.flatMap((informer) => informer.list());
    return {
      apiServer: apiServerUrl(this.options.addressOverride, nodes),
      ca: caBundle(this.options, await this.runtime.client.certificateAuthority()),
    };
  }

  /** Sources of the given keys for when the address changes. */
  changes(keys: () => string[]): Source[] {
    return this.nodes.map((informer) =>
      watches(informer, {
        keys,
        when: (event) =>
          event.type !== "updated" ||
          JSON.stringify(event.before.status?.addresses) !== JSON.stringify(event.object.status?.addresses),
      }),
    );
  }
}
