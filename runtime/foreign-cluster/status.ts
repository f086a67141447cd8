import type { ForeignCluster } from "../api";
import { mergeConditions } from "../kube";
import { type ApiServerHealth, apiServerCondition } from "./api-server-checker";
import {
  authenticationConditions,
  type AuthenticationFacts,
  authenticationModule,
} from "./authentication-module";
import type { ConditionType, DesiredModule } from "./conditions";
import { networkingConditions, type NetworkingFacts, networkingModule } from "./networking-module";
import { offloadingConditions, offloadingModule, type VirtualNodeFacts } from "./offloading-module";

type Status = NonNullable<ForeignCluster["status"]>;
type Module = NonNullable<Status["modules"]>["networking"];

/** All that is known of a peer. A module that this installation does not have is left out. */
export interface PeerFacts {
  networking?: NetworkingFacts;
  authentication?: AuthenticationFacts;
  offloading?: VirtualNodeFacts[];
  apiServer: ApiServerHealth | "disabled";
}

interface PeerStatus {
  status: Status;
  /** Whether the peer's API server is to be checked. */
  checked: boolean;
}

const noModule: DesiredModule = { enabled: false, desiredConditions: [] };

/**
 * The status of a ForeignCluster as it follows from the facts (control plane reference 12.2). Of the previous status only the transition
 * times and, before the first check, the condition of the API server live on.
 */
export function peerStatus(
  previous: Status | undefined,
  generation: number | undefined,
  facts: PeerFacts,
  now: string,
): PeerStatus {
  const authentication = authenticationModule(facts.authentication ?? {});
  const offloading = facts.offloading === undefined ? noModule : offloadingModule(facts.offloading);
  const networking = facts.networking === undefined ? noModule : networkingModule(facts.networking);
  const consumer = authentication.consumer;
  const provider = authentication.provider || offloading.enabled;
  const { apiServerUrl, foreignProxyUrl, localNamespace, remoteNamespace } = authentication;
  const checked = Boolean(apiServerUrl ?? foreignProxyUrl);

  const merge = (
    name: keyof NonNullable<Status["modules"]>,
    owned: readonly ConditionType[],
    found: DesiredModule,
  ) =>
    withConditions(
      { enabled: found.enabled },
      mergeConditions(previous?.modules?.[name].conditions, owned, found.desiredConditions, now),
    );
  const desiredCondition = apiServerCondition(checked, facts.apiServer);
  const conditions =
    desiredCondition === "unchanged"
      ? previous?.conditions
      : mergeConditions(
          previous?.conditions,
          ["APIServerStatus"],
          desiredCondition === undefined ? [] : [desiredCondition],
          now,
        );

  const status: Status = withConditions(
    {
      ...(generation === undefined ? {} : { observedGeneration: generation }),
      role: consumer ? (provider ? "ConsumerAndProvider" : "Consumer") : provider ? "Provider" : "Unknown",
      modules: {
        networking: merge("networking", networkingConditions, networking),
        authentication: merge("authentication", authenticationConditions, authentication),
        offloading: merge("offloading", offloadingConditions, offloading),
      },
      ...(apiServerUrl ? { apiServerUrl } : {}),
      ...(foreignProxyUrl ? { foreignProxyUrl } : {}),
      ...(localNamespace || remoteNamespace
        ? {
            tenantNamespace: {
              ...(localNamespace ? { local: localNamespace } : {}),
              ...(remoteNamespace ? { remote: remoteNamespace } : {}),
            },
          }
        : {}),
    },
    conditions,
  );
  return { status, checked };
}

/** Upstream leaves an empty list out. */
function withConditions<T extends Module | Status>(value: T, conditions: T["conditions"]): T {
  return conditions === undefined || conditions.length === 0 ? value : { ...value, conditions };
}
