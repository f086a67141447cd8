import { randomUUID } from "node:crypto";

import { FirewallConfiguration, RouteConfiguration } from "../api";
import { firewallFaults, routeFaults, withRuleNames } from "../networking/admission";
import { type AdmissionRequest, ALLOWED, denied, patched, type Verdict } from "./admission-review";

/** The tables that agents carry out, as people write them (networking reference 12, 13). */

/** Gives each rule of a FirewallConfiguration that has no name a new one: agents know rules by their names. */
export function nameFirewallRules({ object }: AdmissionRequest): Verdict {
  if (object === undefined || object.metadata.deleting) return ALLOWED;
  const { table } = FirewallConfiguration.fromApiServer(object.raw).spec;
  return patched([{ op: "replace", path: "/spec/table", value: withRuleNames(table, randomUUID) }]);
}

/** @param all the FirewallConfigurations of the cluster */
export function validateFirewallConfiguration(
  { object, oldObject }: AdmissionRequest,
  all: readonly FirewallConfiguration[],
): Verdict {
  if (object === undefined || object.metadata.deleting) return ALLOWED;
  const before = oldObject && FirewallConfiguration.fromApiServer(oldObject.raw);
  return verdict(firewallFaults(FirewallConfiguration.fromApiServer(object.raw), before, all));
}

/** @param all the RouteConfigurations of the cluster */
export function validateRouteConfiguration(
  { object, oldObject }: AdmissionRequest,
  all: readonly RouteConfiguration[],
): Verdict {
  if (object === undefined || object.metadata.deleting) return ALLOWED;
  const before = oldObject && RouteConfiguration.fromApiServer(oldObject.raw);
  return verdict(routeFaults(RouteConfiguration.fromApiServer(object.raw), before, all));
}

function verdict(faults: readonly string[]): Verdict {
  return faults.length === 0 ? ALLOWED : denied(faults.join("; "));
}
