import type { FirewallConfiguration, RouteConfiguration } from "../api";
import type { RuntimeContext } from "../kube";
import type { NetworkingCaches } from "./caches";
import type { ObjectWriter } from "./object-writer";
import type { NetworkingOptions } from "./options";

/** What each of the networking controllers is given. */
export interface NetworkingContext {
  runtime: RuntimeContext;
  options: NetworkingOptions;
  caches: NetworkingCaches;
  firewalls: ObjectWriter<FirewallConfiguration>;
  routes: ObjectWriter<RouteConfiguration>;
}
