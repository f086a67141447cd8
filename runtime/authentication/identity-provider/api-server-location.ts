import { controlPlaneNodeLabels, Node } from "../../api";
import { type Informer, type RuntimeContext, type Source, watches } from "../../kube";
import { apiServerUrl, caBundle, type EndpointOptions } from "./api-server-endpoint";

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
