import { IP } from "../../api/ipam";
import { Label, Name } from "../../api/keys";
import { Service } from "../../api/kubernetes";
import { Configuration } from "../../api/networking";
import type { PeeringSides } from "../../plan/peering";
import type { Pair } from "../cluster/pair";
import { PROXY_SERVICE } from "../../plan/optional-components";
import { CommandError } from "../failure";
import type { Run } from "../run";

/** What is asked of a pair of clusters. */
type ReachedPair = Pick<Pair, "providerId"> & {
  consumer: Pick<Pair["consumer"], "client">;
  provider: Pick<Pair["provider"], "client" | "liqoNamespace">;
};

/**
 * URL of the provider's proxy as the consumer reaches it through the tunnel: the address that the provider gave it in its external network, in
 * the place that the consumer has for that network (control plane reference 16.1, 17.6).
 */
export async function inBandProxy(
  run: Pick<Run, "call">,
  { consumer, provider, providerId }: ReachedPair,
  sides: PeeringSides,
): Promise<string> {
  const ref = { name: Name.apiServerProxyIP, namespace: provider.liqoNamespace };
  const told = (await provider.client.get(IP, ref, run.call))?.status?.ip;
  if (!told) {
    throw new CommandError(
      `--in-band: IP ${ref.namespace}/${ref.name} of ${providerId} has no address`,
      `install ${providerId} with networking and with the API server proxy, or leave --in-band out`,
    );
  }
  const selection = {
    namespace: sides.consumer.tenantNamespace,
    labelSelector: `${Label.remoteClusterID}=${providerId}`,
  };
  const [configuration] = await consumer.client.list(Configuration, selection, run.call);
  const original = configuration?.spec.remote?.cidr?.external?.[0];
  const here = configuration?.status?.remote?.cidr?.external?.[0];
  if (!original || !here) {
    throw new CommandError(
      `--in-band: the networks of the clusters are not connected: there is no Configuration for ${providerId} in ${selection.namespace}, or it has no place yet`,
      'connect them first with "liqoctl network connect", or leave --in-band out',
    );
  }
  return `http://${translated(told, original, here)}:${await proxyPort(run, provider, providerId)}`;
}

/** The port of the proxy's Service, which an installation may choose. */
async function proxyPort(
  run: Pick<Run, "call">,
  { client, liqoNamespace }: ReachedPair["provider"],
  providerId: string,
): Promise<number> {
  const ref = { name: PROXY_SERVICE, namespace: liqoNamespace };
  const port = (await client.get(Service, ref, run.call))?.spec?.ports?.[0]?.port;
  if (port !== undefined) return port;
  throw new CommandError(
    `--in-band: Service ${ref.namespace}/${ref.name} of ${providerId} is not there, or has no port`,
    `install ${providerId} with the API server proxy, or leave --in-band out`,
  );
}

/** An address in one network, at the same place in another of the same size. */
export function translated(address: string, from: string, to: string): string {
  const prefix = Number(from.split("/")[1] ?? "32");
  const hostBits = prefix === 0 ? 0xffffffff : 2 ** (32 - prefix) - 1;
  const moved = ((number(to.split("/")[0] ?? "") & ~hostBits) | (number(address) & hostBits)) >>> 0;
  return [24, 16, 8, 0].map((shift) => (moved >>> shift) & 255).join(".");
}

function number(address: string): number {
  return address.split(".").reduce((sum, part) => ((sum << 8) | Number(part)) >>> 0, 0);
}
