import assert from "node:assert/strict";
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";

import { packageRoot } from "../../../runtime/api";

/** Where the metrics of controllers and peerings are made. */
const FOLDERS = ["kube", "controller-manager", "replication", "webhooks", "virtual-kubelet"];
const NAME =
  /"((?:controller_runtime|workqueue|rest_client|leader_election|process|nodejs|liqo_(?:peer|replication|identity|issued|resource|kube|virtual_kubelet))_[a-z_]+)"/g;

describe("docs/user/metrics.md", () => {
  it("names every metric of the controllers", () => {
    const page = readFileSync(join(packageRoot(), "docs/user/metrics.md"), "utf8");
    const names = FOLDERS.flatMap((folder) => {
      const path = join(packageRoot(), "runtime", folder);
      return readdirSync(path, { recursive: true, encoding: "utf8" })
        .filter((file) => file.endsWith(".ts"))
        .flatMap((file) => [...readFileSync(join(path, file), "utf8").matchAll(NAME)])
        .map(([, name = ""]) => name);
    });
    assert.ok(names.length > 25, `${names.length} found`);
    assert.deepEqual(
      names.filter((name) => !page.includes(`\`${name}\``)),
      [],
    );
  });
});
