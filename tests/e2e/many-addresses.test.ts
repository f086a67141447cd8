/** More addresses than the kernel takes chains: real controllers, an agent of a node in a network namespace, no gateway. */
import assert from "node:assert/strict";

import { FirewallConfiguration, IP, Namespace } from "../../runtime/api";
import { NetworkCluster } from "../support/network-cluster";
import { NetworkLab } from "../support/network-lab";
import { until } from "../support/until";
import { withControlPlanes } from "../support/with-control-planes";

/** The kernel takes 1,024 chains at a hook. */
const MANY = 1_030;

describe("the agent of a node with very many addresses", function () {
  this.timeout(120_000);
  const controlPlane = withControlPlanes({ rome: { controllerManager: true } });
  const lab = new NetworkLab();
  let cluster: NetworkCluster;

  before(async () => {
    cluster = await NetworkCluster.start(
      {
        id: "rome",
        liqoNamespace: "liqo",
        podCidr: "10.42.0.0/16",
        serviceCidr: "10.43.0.0/16",
        externalCidr: "10.60.0.0/18",
        internalCidr: "10.61.0.0/20",
        router: "172.18.0.1/24",
        outside: "203.0.113.1/24",
        nodes: [{ name: "rome-1", address: "172.18.0.2/24", podCidr: "10.42.0.0/24" }],
        behindNat: false,
      },
      lab,
      controlPlane("rome"),
    );
    await cluster.agents.fabric("rome-1");
    await cluster.kube.create(Namespace, {
      apiVersion: "v1",
      kind: "Namespace",
      metadata: { name: "shop" },
    });
  });
  after(async () => {
    await lab.close();
    await cluster?.stop();
  });

  const tables = async () => {
    const { host } = cluster.lan.nodeOf("rome-1");
    return (await host.run("nft list tables")).split("\n").filter((line) => line !== "");
  };
  const applied = async () => {
    const all = await cluster.kube.list(FirewallConfiguration, { namespace: "shop" });
    return all.filter(({ status }) =>
      status?.conditions?.some(({ host, status: is }) => host === "rome-1" && is === "True"),
    );
  };
  const create = (index: number) =>
    cluster.kube.create(IP, {
      apiVersion: IP.apiVersion,
      kind: IP.kind,
      metadata: { name: `machine-${index}`, namespace: "shop" },
      spec: { ip: `198.18.${index >> 8}.${index & 255}`, masquerade: true },
    });

  it("has them all in one table", async () => {
    const before = await tables();
    const begin = performance.now();
    const next = Array.from({ length: MANY }, (_, index) => index).values();
    const some = async () => {
      for (const index of next) await create(index);
    };
    await Promise.all(Array.from({ length: 16 }, some));
    const made = performance.now();
    await until("each is applied", async () => (await applied()).length === MANY, { timeoutMs: 90_000 });
    console.log(
      `      made in ${((made - begin) / 1000).toFixed(1)} s, applied ${((performance.now() - made) / 1000).toFixed(1)} s later`,
    );
    const added = (await tables()).filter((table) => !before.includes(table));
    assert.deepEqual(added, ["table ip liqo-addresses"]);
    const { host } = cluster.lan.nodeOf("rome-1");
    const listing = await host.run("nft list table ip liqo-addresses");
    const [ip] = await cluster.kube.list(IP, { namespace: "shop" });
    assert.ok(listing.includes(`${ip?.status?.ip ?? "nothing"} : ${ip?.spec.ip ?? ""}`));
  });

  it("still takes a table that comes later, as that of a new peer does", async () => {
    const ref = { name: "late", namespace: "shop" };
    const natRules = [{ name: "late", match: [], natType: "masquerade" as const }];
    await cluster.kube.create(FirewallConfiguration, {
      apiVersion: FirewallConfiguration.apiVersion,
      kind: FirewallConfiguration.kind,
      metadata: {
        ...ref,
        labels: {
          "networking.liqo.io/firewall-category": "fabric",
          "networking.liqo.io/firewall-subcategory": "all-nodes",
        },
      },
      spec: {
        table: {
          name: "late",
          family: "IPV4",
          chains: [
            {
              name: "post",
              type: "nat",
              policy: "accept",
              hook: "postrouting",
              priority: 100,
              rules: { natRules },
            },
          ],
        },
      },
    });
    await until("it is applied", async () =>
      (await applied()).some(({ metadata }) => metadata.name === ref.name),
    );
    assert.ok((await tables()).includes("table ip late"));
  });

  it("takes one more, and gives one back, without touching the others", async () => {
    const { host } = cluster.lan.nodeOf("rome-1");
    const handle = async () =>
      /chain prerouting-100 \{ # handle (\d+)/.exec(
        await host.run("nft -a list table ip liqo-addresses"),
      )?.[1];
    const before = await handle();
    assert.ok(before);
    await create(MANY);
    await until("one more is applied", async () => (await applied()).length === MANY + 2);
    await cluster.kube.delete(IP, { name: "machine-0", namespace: "shop" });
    await until("one less is there", async () => {
      const lines = await host.run("nft list table ip liqo-addresses");
      return (lines.match(/ : 198\.18\./g) ?? []).length === MANY;
    });
    assert.equal(await handle(), before);
  });
});
