import { Deployment } from "../../api/kubernetes";
import { WellKnownLabel } from "../../api/keys";
import { apiServerAddressUrl } from "../../plan/installation-settings";
import type { Run } from "../run";
import type { Cluster } from "./cluster";

/** What the controller manager's Deployment says of an installation. */
export interface InstalledControllerManager {
  /** The image's tag. */
  version: string | undefined;
  /** Flags of the container, by name without dashes. */
  flags: ReadonlyMap<string, string>;
}

/** URL of the API server that the installation gives to peers; undefined where it leaves that to the cluster. */
export function apiServerOverride(manager: InstalledControllerManager | undefined): string | undefined {
  const address = manager?.flags.get("api-server-address-override");
  if (!address) return undefined;
  return apiServerAddressUrl(address);
}

const CONTAINER = "controller-manager";

/** @returns undefined where there is no such Deployment */
export async function installedControllerManager(
  run: Run,
  { client, liqoNamespace: namespace }: Cluster,
): Promise<InstalledControllerManager | undefined> {
  const labelSelector = `${WellKnownLabel.appName}=${CONTAINER}`;
  const [deployment] = await client.list(Deployment, { namespace, labelSelector }, run.call);
  const containers = deployment?.spec.template.spec?.containers ?? [];
  const container = containers.find(({ name }) => name === CONTAINER) ?? containers[0];
  if (container === undefined) return undefined;
  return { version: tagOf(container.image ?? ""), flags: flagsOf(container.args ?? []) };
}

/** `registry:5000/runtime:0.1.0@sha256:…` → `0.1.0` */
export function tagOf(image: string): string | undefined {
  const name = image.split("@")[0] ?? "";
  return /:([^:/]+)$/.exec(name)?.[1];
}

function flagsOf(args: readonly string[]): Map<string, string> {
  return new Map(
    args.flatMap((arg) => {
      const match = /^--([^=]+)(?:=(.*))?$/s.exec(arg);
      return match === null ? [] : [[match[1] ?? "", match[2] ?? "true"] as const];
    }),
  );
}
