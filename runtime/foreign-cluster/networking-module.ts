import { ConditionReason } from "../api";
import type { ConditionType, Finding } from "./conditions";

/** A gateway of a peer and the Deployment `gw-<name>` that runs it; undefined while there is none. */
export interface GatewayFacts {
  name: string;
  deployment?: { readyReplicas: number; unavailableReplicas: number };
}

/** What exists of the networking with one peer. */
export interface NetworkingFacts {
  configuration: boolean;
  server?: GatewayFacts;
  client?: GatewayFacts;
  /** `status.value` of the Connection, empty while unset; undefined without a Connection. */
  connection?: string;
}

export interface ModuleFindings {
  enabled: boolean;
  findings: Finding[];
}

export const networkingConditions: readonly ConditionType[] = [
  "NetworkConfigurationStatus",
  "NetworkGatewayPresence",
  "NetworkGatewayServerStatus",
  "NetworkGatewayClientStatus",
  "NetworkConnectionStatus",
];

/** The networking module as one of its resources makes it enabled (control plane reference 12.2, networking reference 17). */
export function networkingModule(facts: NetworkingFacts): ModuleFindings {
  const { configuration, server, client, connection } = facts;
  const gateway = server !== undefined || client !== undefined;
  if (!configuration && !gateway && connection === undefined) return { enabled: false, findings: [] };
  return {
    enabled: true,
    findings: [
      configuration
        ? finding(
            "NetworkConfigurationStatus",
            "Ready",
            ConditionReason.networkConfigurationPresence,
            "The network configuration of the peer is present",
          )
        : finding(
            "NetworkConfigurationStatus",
            "NotReady",
            ConditionReason.networkConfigurationMissing,
            "No Configuration is there for the peer",
          ),
      gateway
        ? finding(
            "NetworkGatewayPresence",
            "Ready",
            ConditionReason.gatewayPresence,
            "A gateway for the peer is present",
          )
        : finding(
            "NetworkGatewayPresence",
            "NotReady",
            ConditionReason.gatewayMissing,
            "Neither a GatewayServer nor a GatewayClient is there for the peer",
          ),
      ...(server === undefined ? [] : [gatewayFinding("NetworkGatewayServerStatus", server)]),
      ...(client === undefined ? [] : [gatewayFinding("NetworkGatewayClientStatus", client)]),
      connectionFinding(connection),
    ],
  };
}

function gatewayFinding(type: ConditionType, { name, deployment }: GatewayFacts): Finding {
  if (deployment === undefined) {
    return finding(type, "NotReady", ConditionReason.gatewaysNotReady, `Deployment gw-${name} is not there`);
  }
  const { readyReplicas, unavailableReplicas } = deployment;
  if (readyReplicas === 0) {
    return finding(
      type,
      "NotReady",
      ConditionReason.gatewaysNotReady,
      `No replica of the gateway Deployment gw-${name} is ready`,
    );
  }
  if (unavailableReplicas > 0) {
    return finding(
      type,
      "SomeNotReady",
      ConditionReason.gatewaysSomeNotReady,
      `Some replicas of the gateway Deployment gw-${name} are not available`,
    );
  }
  return finding(
    type,
    "Ready",
    ConditionReason.gatewaysReady,
    `All replicas of the gateway Deployment gw-${name} are ready`,
  );
}

function connectionFinding(value: string | undefined): Finding {
  const type = "NetworkConnectionStatus";
  switch (value) {
    case undefined:
      return finding(
        type,
        "NotReady",
        ConditionReason.connectionMissing,
        "No Connection is there for the peer",
      );
    case "Connected":
      return finding(
        type,
        "Established",
        ConditionReason.connectionEstablished,
        "The tunnel to the peer is up",
      );
    case "Connecting":
      return finding(
        type,
        "Pending",
        ConditionReason.connectionPending,
        "The tunnel to the peer is being set up",
      );
    default:
      return finding(type, "Error", ConditionReason.connectionError, "The tunnel to the peer is down");
  }
}

function finding(type: ConditionType, status: Finding["status"], reason: string, message: string): Finding {
  return { type, status, reason, message };
}
