import { isDeepStrictEqual } from "node:util";

import { Annotation, ConditionReason, type ResourceSlice, type StorageClass, type Tenant } from "../api";
import { amountFaults } from "../api/quantity";
import { type DesiredCondition, mergeConditions } from "../kube";
import { type DefaultClassOptions, type Grant, grantDefaultClass, isDefaultClass } from "./slice-class";

type Status = NonNullable<ResourceSlice["status"]>;
type Condition = NonNullable<Status["conditions"]>[number];
type AuthParams = NonNullable<Status["authParams"]>;

/** The state of a slice's credentials. */
export type SliceAuthentication =
  | { outcome: "accepted"; authParams: AuthParams }
  /** `why` becomes part of the message, for users of the consumer cluster. */
  | { outcome: "denied"; why?: string }
  /** The certificate is being signed: the previous condition stays. */
  | { outcome: "pending" };

export interface SliceFacts {
  authentication: SliceAuthentication;
  /** Undefined where the slice was refused before its resources were looked at. */
  resources?: {
    tenantCondition: Tenant["spec"]["tenantCondition"];
    storageClasses: readonly StorageClass[];
    defaultClass: DefaultClassOptions;
  };
}

const accepted = {
  Authentication: {
    type: "Authentication",
    status: "Accepted",
    reason: ConditionReason.sliceAuthenticationAccepted,
    message: "ResourceSlice authentication accepted",
  },
  Resources: {
    type: "Resources",
    status: "Accepted",
    reason: ConditionReason.sliceResourcesAccepted,
    message: "ResourceSlice resources accepted",
  },
} as const;

const denied = {
  Authentication: {
    type: "Authentication",
    status: "Denied",
    reason: ConditionReason.sliceAuthenticationDenied,
    message: "ResourceSlice authentication denied",
  },
  Resources: {
    type: "Resources",
    status: "Denied",
    reason: ConditionReason.sliceResourcesDenied,
    message: "ResourceSlice resources denied",
  },
} as const;

const classDisabled = {
  type: "Resources",
  status: "Denied",
  reason: ConditionReason.defaultClassDisabled,
  message: "The default resource slice class is disabled on this provider",
} as const;

/** The status of a provider's copy of a slice (control plane reference 6.7, 9.1, 10.2). Equal facts give an equal status. */
export function sliceStatus(slice: ResourceSlice, facts: SliceFacts, now: string): Status {
  const previous = slice.status ?? {};
  const desiredConditions: DesiredCondition<Condition>[] = [];
  const owned: Condition["type"][] = [];
  let { authParams } = previous;
  if (facts.authentication.outcome !== "pending") {
    owned.push("Authentication");
    if (facts.authentication.outcome === "accepted") {
      desiredConditions.push(accepted.Authentication);
      authParams = facts.authentication.authParams;
    } else desiredConditions.push(because(denied.Authentication, facts.authentication.why));
  }
  const resources = facts.resources === undefined ? {} : resourcesOf(slice, facts.resources);
  if (resources.desiredCondition !== undefined) {
    owned.push("Resources");
    desiredConditions.push(resources.desiredCondition);
  }
  const conditions = mergeConditions(previous.conditions, owned, desiredConditions, now);
  return {
    ...previous,
    ...resources.grant,
    ...(conditions.length === 0 ? {} : { conditions }),
    ...(authParams === undefined ? {} : { authParams }),
  };
}

function resourcesOf(
  slice: ResourceSlice,
  { tenantCondition, storageClasses, defaultClass }: NonNullable<SliceFacts["resources"]>,
): { desiredCondition?: DesiredCondition<Condition>; grant?: Grant } {
  switch (tenantCondition) {
    case "Drained":
      return { desiredCondition: because(denied.Resources, "the provider has drained this tenant") };
    case "Cordoned":
      return hasResources(slice)
        ? keptGrant(slice, () => grantDefaultClass(slice.spec.resources, defaultClass, storageClasses))
        : { desiredCondition: because(denied.Resources, "the provider has cordoned this tenant") };
    case "Active": {
      // The provider's own controllers answer other classes.
      if (!isDefaultClass(slice.spec.class)) return {};
      if (!defaultClass.enabled) return { desiredCondition: classDisabled };
      const faults = amountFaults(slice.spec.resources ?? {});
      if (faults.length > 0)
        return { desiredCondition: because(denied.Resources, `spec.resources: ${faults.join("; ")}`) };
      return {
        desiredCondition: accepted.Resources,
        grant: grantDefaultClass(slice.spec.resources, defaultClass, storageClasses),
      };
    }
  }
}

/** While its tenant is cordoned, an accepted slice keeps its grant. The condition says so where the slice now requests another. */
function keptGrant(
  slice: ResourceSlice,
  asked: () => Grant,
): { desiredCondition?: DesiredCondition<Condition> } {
  if (!isDefaultClass(slice.spec.class) || !isAccepted(slice, "Resources")) return {};
  if (isDeepStrictEqual(slice.status?.resources, asked().resources))
    return { desiredCondition: accepted.Resources };
  const why =
    "as granted before; what spec.resources asks for by now waits, as the provider has cordoned this tenant";
  return { desiredCondition: because(accepted.Resources, why) };
}

function because(
  desiredCondition: DesiredCondition<Condition>,
  why: string | undefined,
): DesiredCondition<Condition> {
  return why === undefined
    ? desiredCondition
    : { ...desiredCondition, message: `${desiredCondition.message}: ${why}` };
}

function hasResources(slice: ResourceSlice): boolean {
  return slice.status?.conditions?.some(({ type }) => type === "Resources") === true;
}

/** Whether both halves of a slice are accepted. */
export function isAccepted(slice: ResourceSlice, type: Condition["type"]): boolean {
  return (
    slice.status?.conditions?.some(
      (condition) => condition.type === type && condition.status === "Accepted",
    ) === true
  );
}

/** Whether a provider's copy is cordoned, by itself or with its Tenant (control plane reference 9.2). */
export function isCordoned(slice: ResourceSlice): boolean {
  return [Annotation.cordon, Annotation.cordonTenant].some((key) => {
    const value = slice.metadata.annotations?.[key];
    return value !== undefined && !["false", "False", "0"].includes(value);
  });
}
