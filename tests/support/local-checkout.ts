import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

import { downAllClusters } from "../../provider/local-cluster/local-clusters";

/**
 * For a mocha suite: local clusters made by its tests, in this process or in others that inherit its environment, belong to a checkout of
 * their own, so that those of a person who works in this one are left alone. All of them are removed at the end. Call it inside `describe`.
 *
 * @param prefix 1 to 6 lower-case letters or digits, another one for each suite
 */
export function ownCheckout(prefix: string): { readonly folder: string } {
  const folder = mkdtempSync(join(tmpdir(), `pulumi-liqo-${prefix}-`));
  const environment = { ...process.env };
  const removeAll = async () => {
    await downAllClusters();
    rmSync(folder, { recursive: true, force: true });
  };
  const interrupted = (signal: NodeJS.Signals) => {
    void removeAll().finally(() => process.exit(signal === "SIGINT" ? 130 : 143));
  };

  before(() => {
    process.env["PULUMI_LIQO_PREFIX"] = prefix;
    process.env["PULUMI_LIQO_STATE"] = folder;
    process.once("SIGINT", interrupted).once("SIGTERM", interrupted);
  });
  after(async function () {
    this.timeout(120_000);
    process.off("SIGINT", interrupted).off("SIGTERM", interrupted);
    try {
      await removeAll();
    } finally {
      process.env = environment;
    }
  });
  return { folder };
}
