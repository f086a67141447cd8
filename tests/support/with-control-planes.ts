import {
  startControlPlane,
  type ControlPlane,
  type ControlPlaneOptions,
} from "../../provider/local-cluster/control-plane";
import { storeDefaults, storeDefinitions } from "./stored-definitions";

export interface TestControlPlaneOptions extends Omit<ControlPlaneOptions, "name" | "beforeApiServer"> {
  /**
   * Whether the control plane starts with the definitions of our kinds (`stored`, the default). `absent` is for tests of how they come, such as
   * by an Installation, and for those that need none. Where they could not be stored, they are absent: `installDefinitions` sees to both.
   */
  definitions?: "stored" | "absent";
}

/**
 * For a mocha suite: starts the named control planes before its tests and stops them after. Call it inside `describe`; the
 * function returned gives a control plane by its name, from `before` hooks on.
 */
export function withControlPlanes<Name extends string>(
  options: Record<Name, TestControlPlaneOptions>,
): (name: Name) => ControlPlane {
  const started = new Map<string, ControlPlane>();
  before(async function () {
    this.timeout(30 * 60_000); // the first run on a machine builds the tools
    const names = Object.keys(options) as Name[];
    const results = await Promise.allSettled(
      names.map(async (name) => {
        const { definitions = "stored", ...rest } = options[name];
        const beforeApiServer = definitions === "stored" ? storeDefinitions : storeDefaults;
        const all = { progress: console.log, beforeApiServer, ...rest, name };
        started.set(name, await startControlPlane(all));
      }),
    );
    for (const result of results) if (result.status === "rejected") throw result.reason;
  });
  after(async function () {
    this.timeout(30_000);
    await Promise.all([...started.values()].map((controlPlane) => controlPlane.stop()));
  });
  return (name) => {
    const controlPlane = started.get(name);
    if (controlPlane === undefined)
      throw new Error(`the control plane ${name} is not running yet; use it inside a hook or a test`);
    return controlPlane;
  };
}
