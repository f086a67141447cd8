import type { ForeignCluster } from "../../api/core";

export type ModuleStatus = "Disabled" | "Healthy" | "Unhealthy";

type PeeringModule = NonNullable<NonNullable<ForeignCluster["status"]>["modules"]>["networking"];

/** A module of a peering in a word, and what is wrong with it (control plane reference 17.12). */
export function moduleStatus(module: PeeringModule | undefined): { status: ModuleStatus; alerts: string[] } {
  if (module?.enabled !== true) return { status: "Disabled", alerts: [] };
  const faulty = (module.conditions ?? []).filter(
    ({ status }) => status !== "Established" && status !== "Ready",
  );
  return {
    status: faulty.length === 0 ? "Healthy" : "Unhealthy",
    alerts: faulty.map(({ type, status, message }) => (message ? message : `${type} is ${status}`)),
  };
}
