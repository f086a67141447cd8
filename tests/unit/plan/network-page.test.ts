import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { join } from "node:path";

import { parseAllDocuments } from "yaml";

import { GatewayClient, GatewayServer } from "../../../runtime/api";
import { packageRoot } from "../../../runtime/api/package-root";
import { gatewayClient, gatewayServer, networkLinkSchema } from "../../../runtime/plan/networking/peering";

/** Whose manifests for a kind stand in the page, as they are copied. */
function manifestOfPage(kind: string): unknown {
  const page = readFileSync(join(packageRoot(), "docs/user/network.md"), "utf8");
  const found = [...page.matchAll(/^```yaml\n(.*?)^```$/gms)]
    .flatMap(([, text = ""]) => parseAllDocuments(text))
    .filter((document) => document.get("kind") === kind)
    .map((document): unknown => document.toJS());
  assert.equal(found.length, 1, `docs/user/network.md has one ${kind}`);
  return found[0];
}

describe("the manifests of docs/user/network.md", () => {
  const link = networkLinkSchema.parse({ serviceType: "NodePort", nodePort: 31840 });
  const atMilan = { side: { clusterId: "milan", tenantNamespace: "liqo-tenant-rome" }, peer: "rome" };
  const atRome = { side: { clusterId: "rome", tenantNamespace: "liqo-tenant-milan" }, peer: "milan" };
  const told = { addresses: ["203.0.113.10"], port: 31840 };
  for (const [kind, api, written] of [
    ["GatewayServer", GatewayServer, gatewayServer(atMilan, link, "liqo-system")],
    ["GatewayClient", GatewayClient, gatewayClient(atRome, link, "liqo", told)],
  ] as const)
    it(`have the ${kind} that the component writes, as the API takes it`, () => {
      const manifest = manifestOfPage(kind);
      assert.deepEqual(manifest, written);
      assert.doesNotThrow(() => api.parse(manifest));
    });
});
