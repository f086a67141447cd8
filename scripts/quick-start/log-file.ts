import { join } from "node:path";

import { checkoutPrefix, stateFolder } from "../../provider/local-cluster/folders";

/** Holds all that the last `pulumi up` of `npm start` said, from its start to `npm stop`. */
export function logFile(): string {
  return join(stateFolder(), "logs", checkoutPrefix(), "quick-start.log");
}
