import assert from "node:assert/strict";

import { type Desired, FirewallConfiguration, type KubeObject, RouteConfiguration } from "../../runtime/api";
import { AdmissionCluster, refusal } from "../support/admission-cluster";

describe("admission of tables that agents carry out, over the wire", function () {
  this.timeout(60_000);
  const cluster = AdmissionCluster.forSuite();
  const admin = () => cluster().admin;
  const firewall = (name: string, rules: object[], labels: Record<string, string> = {}) => ({
    apiVersion: "networking.liqo.io/v1beta1",
    kind: "FirewallConfiguration",
    metadata: { name, namespace: "liqo-tenant-rome", labels: { tables: "by-hand", ...labels } },
    spec: {
      table: {
        name: "by-hand",
        family: "IPV4",
        chains: [
          {
            name: "out",
            type: "filter",
            policy: "accept",
            hook: "postrouting",
            priority: 0,
            rules: { filterRules: rules },
          },
        ],
      },
    },
  });
  const accept = { match: [], action: "accept" };

  before(() => cluster().makeTenantNamespace("rome"));

  it("names their rules, keeps their names apart, and refuses what no agent could load", async () => {
    await cluster().make(firewall("first", [accept, accept]));
    const first = { name: "first", namespace: "liqo-tenant-rome" };
    const made = await admin().get(FirewallConfiguration, first);
    const names = made?.spec.table.chains?.[0]?.rules.filterRules?.map(({ name }) => name) ?? [];
    assert.equal(new Set(names).size, 2);
    assert.ok(names.every((name) => (name ?? "").length >= 32));
    const create = (object: Desired<KubeObject>) => refusal(cluster().make(object));
    assert.match(await create(firewall("second", [accept])), /"by-hand" is that of liqo-tenant-rome\/first/);
    assert.equal(await create(firewall("third", [accept], { other: "agents" })), "allowed");
    const clamp = { name: "clamp", match: [], action: "tcpmssclamp" };
    assert.match(await create(firewall("fourth", [clamp], { more: "agents" })), /tcp/);
    const renamed = { spec: { table: { name: "by-foot" } } };
    const change = admin().patch(FirewallConfiguration, first, renamed, { type: "merge" });
    assert.match(await refusal(change), /spec\.table\.name is immutable/);
  });

  it("refuses routes that contradict each other, and lets what is skipped and what goes pass", async () => {
    const twice = { dst: "10.71.0.0/16", dev: "eth0" };
    const rule = { fwmark: 7, routes: [twice, twice] };
    const route = (name: string, labels: Record<string, string>) => ({
      apiVersion: "networking.liqo.io/v1beta1",
      kind: "RouteConfiguration",
      metadata: { name, namespace: "liqo-tenant-rome", labels },
      spec: { table: { name, rules: [rule] } },
    });
    const create = (object: Desired<KubeObject>) => refusal(cluster().make(object));
    assert.match(await create(route("twice", {})), /10\.71\.0\.0\/16/);
    assert.equal(await create(route("skipped", { "liqo.io/webhook-skip": "true" })), "allowed");
    await admin().delete(RouteConfiguration, { name: "skipped", namespace: "liqo-tenant-rome" });
  });
});
