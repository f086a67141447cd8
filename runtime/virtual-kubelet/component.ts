import { defineComponent } from "../component/component";
import { processFlags } from "./settings/flags";
import { start } from "./start";

/** The virtual kubelet as a component of the runtime: one process for many virtual nodes. */
export const virtualKubelet = defineComponent({ name: "virtual-kubelet", flags: processFlags, start });
