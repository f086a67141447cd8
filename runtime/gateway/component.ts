import { defineComponent } from "../component/component";
import { gatewayFlags } from "./gateway";
import { startGateway } from "./start";

/** The tunnel to one peer, in a pod of its own. */
export const gateway = defineComponent({ name: "gateway", flags: gatewayFlags, start: startGateway });
