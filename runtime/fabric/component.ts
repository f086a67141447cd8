import { defineComponent } from "../component/component";
import { fabricFlags } from "./flags";
import { startFabric } from "./start";

/** The agent on each node. */
export const fabric = defineComponent({ name: "fabric", flags: fabricFlags, start: startFabric });
