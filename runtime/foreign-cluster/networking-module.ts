import { ConditionReason } from "../api";
import type { ConditionType, DesiredCondition, DesiredModule } from "./conditions";

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

export const networkingConditions: readonly ConditionType[] = [
  "NetworkConfigurationStatus",
  "NetworkGatewayPresence",
  "NetworkGatewayServerStatus",
  "NetworkGatewayClientStatus",
  "NetworkConnectionStatus",
];

/** The networking module as one of its resources makes it enabled (control plane reference 12.2, networking reference 17). */
export function networkingModule(facts: NetworkingFacts): DesiredModule {
  const { configuration, server, client, connection } = facts;
  const gateway = server !== undefined || client !== undefined;
  if (!configuration && !gateway && connection === undefined)
    return { enabled: false, desiredConditions: [] };
  return {
    enabled: true,
    desiredConditions: [
      configuration
        ? desiredCondition(
            "NetworkConfigurationStatus",
            "Ready",
            ConditionReason.networkConfigurationPresence,
            "The network configuration of the peer is present",
          )
        : desiredCondition(
            "NetworkConfigurationStatus",
            "NotReady",
            ConditionReason.networkConfigurationMissing,
            "No Configuration is there for the peer",
          ),
      gateway
        ? desiredCondition(
            "NetworkGatewayPresence",
            "Ready",
            ConditionReason.gatewayPresence,
            "A gateway for the peer is present",
          )
        : desiredCondition(
            "NetworkGatewayPresence",
            "NotReady",
            ConditionReason.gatewayMissing,
            "Neither a GatewayServer nor a GatewayClient is there for the peer",
          ),
      ...(server === undefined ? [] : [gatewayCondition("NetworkGatewayServerStatus", server)]),
      ...(client === undefined ? [] : [gatewayCondition("NetworkGatewayClientStatus", client)]),
      connectionCondition(connection),
    ],
  };
}

function gatewayCondition(type: ConditionType, { name, deployment }: GatewayFacts): DesiredCondition {
  if (deployment === undefined) {
    return desiredCondition(
      type,
      "NotReady",
      ConditionReason.gatewaysNotReady,
      `Deployment gw-${name} is not there`,
    );
  }
  const { readyReplicas, unavailableReplicas } = deployment;
  if (readyReplicas === 0) {
    return desiredCondition(
      type,
      "NotReady",
      ConditionReason.gatewaysNotReady,
      `No replica of the gateway Deployment gw-${name} is ready`,
    );
  }
  if (unavailableReplicas > 0) {
    return desiredCondition(
      type,
      "SomeNotReady",
      ConditionReason.gatewaysSomeNotReady,
      `Some replicas of the gateway Deployment gw-${name} are not available`,
    );
  }
  return desiredCondition(
    type,
    "Ready",
    ConditionReason.gatewaysReady,
    `All replicas of the gateway Deployment gw-${name} are ready`,
  );
}

function connectionCondition(value: string | undefined): DesiredCondition {
  const type = "NetworkConnectionStatus";
  switch (value) {
    case undefined:
      return desiredCondition(
        type,
        "NotReady",
        ConditionReason.connectionMissing,
        "No Connection is there for the peer",
      );
    case "Connected":
      return desiredCondition(
        type,
        "Established",
        ConditionReason.connectionEstablished,
        "The tunnel to the peer is up",
      );
    case "Connecting":
      return desiredCondition(
        type,
        "Pending",
        ConditionReason.connectionPending,
        "The tunnel to the peer is being set up",
      );
    default:
      return desiredCondition(
        type,
        "Error",
        ConditionReason.connectionError,
        "The tunnel to the peer is down",
      );
  }
}

function desiredCondition(
  type: ConditionType,
  status: DesiredCondition["status"],
  reason: string,
  message: string,
): DesiredCondition {
  return { type, status, reason, message };
}
