import { Name } from "../../api/keys";
import { ConfigMap } from "../../api/kubernetes";
import type { RuntimeContext } from "../../kube";
import type { ProcessFlags } from "../settings/flags";
import { ClientAuthentication, ClientAuthorization } from "./client-auth";
import { type KubeletBackend, KubeletServer } from "./kubelet-server";
import { type CertifiedKey, ServingCertificate } from "./serving-certificate";

/** Where API servers publish the CA of their own client certificates. */
const CLIENT_CA = {
  namespace: "kube-system",
  name: Name.clientAuthentication,
  key: "client-ca-file",
};

/** The kubelet endpoint of the process: serves from the start, with a certificate of the cluster as soon as there is one. */
export class KubeletEndpoint {
  private readonly server: KubeletServer;
  private readonly certificate: ServingCertificate;
  private certified: CertifiedKey;
  private clientCa = "";
  private keeping = false;

  private constructor(
    private readonly context: RuntimeContext,
    flags: ProcessFlags,
    backend: KubeletBackend,
    private node: string,
  ) {
    const { client, log } = context;
    this.certificate = new ServingCertificate(
      client,
      { type: flags.certificateType, node: () => this.node, address: flags.nodeIp },
      log,
    );
    this.certified = this.certificate.selfSigned();
    this.server = new KubeletServer(
      {
        authentication: new ClientAuthentication(client),
        authorization: new ClientAuthorization(client),
        backend,
        log,
      },
      this.tls(),
    );
    this.followClientCa();
  }

  /** Listens; ends with the context's signal. */
  static async start(
    context: RuntimeContext,
    flags: ProcessFlags,
    backend: KubeletBackend,
  ): Promise<{ endpoint: KubeletEndpoint; port: number }> {
    const endpoint = new KubeletEndpoint(context, flags, backend, flags.podName);
    const port = await endpoint.server.listen(flags.listenPort);
    context.signal.addEventListener("abort", () => void endpoint.server.close(), { once: true });
    return { endpoint, port };
  }

  /** Asks for a certificate that names a node. One node stands for all: clients check the address. */
  certifyFor(node: string): void {
    if (this.keeping) return;
    this.keeping = true;
    this.node = node;
    const use = (certified: CertifiedKey) => {
      this.certified = certified;
      this.server.replaceTls(this.tls());
    };
    void this.certificate.keep(use, this.context.signal);
  }

  private followClientCa(): void {
    const { namespace, name, key } = CLIENT_CA;
    const configMaps = this.context.informers.informer(ConfigMap, {
      namespace,
      fieldSelector: `metadata.name=${name}`,
    });
    const take = ({ data }: ConfigMap) => {
      const ca = data?.[key] ?? "";
      if (ca === this.clientCa) return;
      this.clientCa = ca;
      this.server.replaceTls(this.tls());
    };
    configMaps.on({ added: take, updated: (_before, configMap) => take(configMap) });
  }

  private tls() {
    return { ...this.certified, clientCa: this.clientCa };
  }
}
