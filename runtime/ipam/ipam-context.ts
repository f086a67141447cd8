import type { RuntimeContext } from "../kube";
import type { IpamCaches } from "./caches";
import type { Ipam } from "./ipam";
import type { IpamOptions } from "./options";
import type { OwnAddressCaches } from "./own-address-caches";

/** What each of the controllers of networks and addresses is given. */
export interface IpamContext {
  runtime: RuntimeContext;
  options: IpamOptions;
  caches: IpamCaches;
  own: OwnAddressCaches;
  ipam: Ipam;
}
