import { randomUUID } from "node:crypto";
import { Configuration, FirewallConfiguration, IP, Label, Name, RouteConfiguration } from "../api";
import { isRecord } from "../api/invalid-object";
import { type PeerIPContext, peerIPFaults } from "../ipam/peer-ip-faults";
import { semanticallyEqual } from "../kube";
import { firewallFaults, routeFaults, withRuleNames } from "../networking/admission";
import { remoteFaults } from "../networking/configuration/configuration-decision";
import { tenantOf } from "../plan/peer-objects";
import {
  type AdmissionRequest,
  type AdmittedObject,
  ALLOWED,
  denied,
  patched,
  type Verdict,
} from "./admission-review";
import { verdictOnValidation } from "./validation";

/**
 * A Configuration gives networks that pods can have. A network that is in use here, or that overlaps this cluster's own, is remapped, so that is no fault.
 *
 * A peer describes only its own networks, not this cluster's: nodes translate addresses by those.
 *
 * @see networking reference 7
 */
export function validateConfiguration(
  request: AdmissionRequest,
  namespaceLabels: Readonly<Record<string, string>>,
): Verdict {
  const byPeer = request.groups.includes(Name.controlPlaneOrganization);
  return verdictOnValidation("Configuration", request, (object) => {
    const configuration = Configuration.fromApiServer(object.raw);
    const faults = remoteFaults(configuration).map(
      (fault) => `${fault}; give the networks that the peer's pods and IPs have`,
    );
    if (!byPeer) return { faults, warnings: [] };
    const peer = tenantOf(namespaceLabels);
    const label = object.metadata.labels[Label.remoteClusterID];
    if (label !== peer) {
      faults.push(
        `the label ${Label.remoteClusterID} is ${JSON.stringify(label ?? "")}, and namespace "${request.namespace}" is that of cluster "${peer ?? ""}"; write that one`,
      );
    }
    if (isChanged(request.oldObject, object)) {
      faults.push(
        "spec.local: this cluster's own networks are not a peer's to give; leave it as it is, or out",
      );
    }
    return { faults, warnings: [] };
  });
}

/** Whether an object says something new about this cluster's networks. */
function isChanged(before: AdmittedObject | undefined, after: AdmittedObject): boolean {
  const local = localOf(after);
  return local !== undefined && (before === undefined || !semanticallyEqual(local, localOf(before)));
}

function localOf({ raw }: AdmittedObject): unknown {
  return isRecord(raw.spec) ? raw.spec.local : undefined;
}

/** Names the rules of a FirewallConfiguration that have no name: agents identify rules by their names (networking reference 12). */
export function nameFirewallRules({ object }: AdmissionRequest): Verdict {
  if (object === undefined || object.metadata.deleting) return ALLOWED;
  const { table } = FirewallConfiguration.fromApiServer(object.raw).spec;
  return patched([{ op: "replace", path: "/spec/table", value: withRuleNames(table, randomUUID) }]);
}

/**
 * Checks the tables that the agents apply (networking reference 12).
 *
 * @param all the FirewallConfigurations of the cluster
 */
export function validateFirewallConfiguration(
  { object, oldObject }: AdmissionRequest,
  all: readonly FirewallConfiguration[],
): Verdict {
  if (object === undefined || object.metadata.deleting) return ALLOWED;
  const before = oldObject && FirewallConfiguration.fromApiServer(oldObject.raw);
  return verdict(firewallFaults(FirewallConfiguration.fromApiServer(object.raw), before, all));
}

/**
 * Checks the tables that the agents apply (networking reference 13).
 *
 * @param all the RouteConfigurations of the cluster
 */
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

/**
 * A peering user creates gateways and keys for its own cluster alone: by the label of a gateway this cluster's nodes decide where to send a peer's
 * packets.
 *
 * @see networking reference 9.1
 */
export function validatePeerGateway(
  { object, groups, username, namespace, name }: AdmissionRequest,
  namespaceLabels: Readonly<Record<string, string>>,
): Verdict {
  if (object === undefined || !groups.includes(Name.controlPlaneOrganization)) return ALLOWED;
  const label = object.metadata.labels[Label.remoteClusterID];
  const peer = tenantOf(namespaceLabels);
  if (label === undefined || label === peer) return ALLOWED;
  const kind = typeof object.raw.kind === "string" ? object.raw.kind : "object";
  return denied(
    `${kind} "${namespace}/${name || (object.metadata.name ?? "")}": the label ${Label.remoteClusterID} is "${label}", and the namespace is that of cluster "${peer ?? ""}"; user "${username}" of a peer speaks for that one alone, so write its ID there`,
  );
}

/**
 * An IP of a peering user must not expose an address of this cluster's infrastructure, nor one of another consumer.
 *
 * Peers are known by the group of their certificates; all others pass, since the API server may be too old to leave them out by itself.
 *
 * @see networking reference 8
 */
export async function validatePeerIP(
  request: AdmissionRequest,
  contextOf: () => Promise<PeerIPContext>,
): Promise<Verdict> {
  if (!request.groups.includes(Name.controlPlaneOrganization)) return ALLOWED;
  const found = await contextOf();
  return verdictOnValidation("IP", request, (object) => ({
    faults: peerIPFaults(IP.fromApiServer(object.raw), found),
    warnings: [],
  }));
}
