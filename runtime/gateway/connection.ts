import { Connection, gatewayObjectName, Label } from "../api";
import {
  type GlobalMetadata,
  type Informer,
  patchStatusIfChanged,
  type RuntimeContext,
  withGlobalMetadata,
  writeIfChanged,
} from "../kube";
import { connectionStatus } from "../networking/connection-status";
import type { Reachability } from "./ping-session";
import { type Gateway, ownedByGateway } from "./gateway";

/** The Connection object of a gateway: whether packets pass (networking reference 10.3, 10.4). */
export class ConnectionObject {
  private readonly connections: Informer<Connection>;
  private writing: Promise<void> = Promise.resolve();
  /** The status that was written last, until the cache has it. */
  private written: Connection | undefined;
  /** Whether this process has told that packets pass through its tunnel. */
  private confirmed = false;

  constructor(
    private readonly runtime: RuntimeContext,
    private readonly gateway: Gateway,
    private readonly global: GlobalMetadata,
    private readonly refreshMs: number,
    /** Whether the tunnel is another one than before this process, so that what is told of it is not told of this one yet. */
    private readonly isNewTunnel: () => boolean = () => false,
  ) {
    const { namespace, peer } = gateway;
    this.connections = runtime.informers.informer(Connection, {
      namespace,
      labelSelector: `${Label.remoteClusterID}=${peer}`,
    });
  }

  /**
   * Makes the object where it is missing, and tells what is known. One call works at a time.
   *
   * @param reachability undefined where nobody pings, and the tunnel counts as up once it is configured
   */
  async report(reachability: Reachability | undefined): Promise<void> {
    const before = this.writing;
    const work = before.then(() => this.write(reachability));
    this.writing = work.catch(() => undefined);
    await work;
  }

  private async write(reachability: Reachability | undefined): Promise<void> {
    await this.connections.whenSynced();
    const { client, clock } = this.runtime;
    const desired = withGlobalMetadata(this.desired(), this.global);
    const { object } = await writeIfChanged(client, Connection, desired, this.newest());
    this.written = object;
    const status =
      reachability === undefined
        ? { value: "Connected" }
        : connectionStatus(
            reachability,
            object.status,
            clock.now(),
            this.refreshMs,
            this.confirmed || !this.isNewTunnel(),
          );
    // With nothing new to tell, a spec that was edited and put back is answered all the same.
    const told = status ?? (object.status === undefined ? undefined : {});
    if (told === undefined) return;
    const written = await patchStatusIfChanged(client, Connection, object, told, { exact: ["latency"] });
    this.written = written.object;
    if (reachability?.state === "connected") this.confirmed = true;
  }

  /** Our last write may not have come back yet. */
  private newest(): Connection | undefined {
    const { namespace, name } = this.gateway;
    const cached = this.connections.get(gatewayObjectName(name), namespace);
    const { written } = this;
    if (cached === undefined || written === undefined || written.metadata.uid !== cached.metadata.uid) {
      return cached;
    }
    const version = (object: Connection) => BigInt(object.metadata.resourceVersion ?? "0");
    return version(written) > version(cached) ? written : cached;
  }

  private desired() {
    const { name, namespace, uid, peer, end } = this.gateway;
    return {
      apiVersion: "networking.liqo.io/v1beta1" as const,
      kind: "Connection" as const,
      metadata: {
        name: gatewayObjectName(name),
        namespace,
        labels: { [Label.remoteClusterID]: peer },
        ownerReferences: [ownedByGateway(this.gateway)],
      },
      spec: {
        type: end === "server" ? ("Server" as const) : ("Client" as const),
        gatewayRef: {
          apiVersion: "networking.liqo.io/v1beta1",
          kind: end === "server" ? "WgGatewayServer" : "WgGatewayClient",
          name,
          namespace,
          uid,
        },
      },
    };
  }
}
