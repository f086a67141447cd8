import { randomBytes } from "node:crypto";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

import { downAllClusters } from "../../provider/local-cluster/local-clusters";

/**
 * For a mocha suite: local clusters made by its tests, in this process or in others that inherit its environment, belong to a checkout of
 * their own, so that those of a person who works in this one are left alone. All of them are removed at the end. Call it inside `describe`.
 *
 * @param suite two letters to know its clusters by; the rest is drawn, as the same suite may run from two checkouts at once
 */
export function ownCheckout(suite: string): { readonly folder: string; readonly prefix: string } {
  const prefix = `${suite.slice(0, 2)}${randomBytes(2).toString("hex")}`;
  const folder = mkdtempSync(join(tmpdir(), `pulumi-liqo-${prefix}-`));
  const environment = { ...process.env };
  const removeAll = async () => {
    await downAllClusters();
    rmSync(folder, { recursive: true, force: true });
  };
  let leaving = false;
  const interrupted = (signal: NodeJS.Signals) => {
    if (leaving) return; // a terminal and the suite both send it: the second one must not cut the removal short
    leaving = true;
    void removeAll().finally(() => process.exit(signal === "SIGINT" ? 130 : 143));
  };

  before(() => {
    process.env["PULUMI_LIQO_PREFIX"] = prefix;
    process.env["PULUMI_LIQO_STATE"] = folder;
    process.on("SIGINT", interrupted).on("SIGTERM", interrupted);
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
  return { folder, prefix };
}
