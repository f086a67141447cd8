import assert from "node:assert/strict";

import { Tenant } from "../../runtime/api";
import { blocksOf } from "../support/documents";
import { PEER, UNPEER, withLiqoctl } from "../support/liqoctl-pair";

describe("liqoctl", function () {
  this.timeout(120_000);
  const clusters = withLiqoctl();
  const { cli, controlPlane, ok, fails, writesDuring } = clusters;

  describe("before there is a peering", () => {
    it("says who the cluster is", async () => {
      assert.equal((await ok("info --get clusterid")).out, "rome\n");
      assert.equal((await ok("info -g local.version")).out, "0.1.0-test\n");
      assert.match(
        (await ok("version")).out,
        /^Client version: \d+\.\d+\.\d+\nServer version: 0\.1\.0-test\n$/,
      );
      const { local, health, peerings } = JSON.parse((await ok("info -o json")).out) as Record<
        string,
        unknown
      >;
      assert.deepEqual(local, {
        clusterID: "rome",
        version: "0.1.0-test",
        labels: { region: "europe" },
        APIServerAddr: controlPlane("rome").url,
      });
      assert.deepEqual([health, peerings], [{ healthy: true }, {}]);
    });

    it("names what is wrong with a kubeconfig", async () => {
      cli.write(
        "wrong-port.kubeconfig",
        controlPlane("rome").kubeconfig.replace(/127\.0\.0\.1:\d+/, "127.0.0.1:1"),
      );
      const unknown = await controlPlane("milan").kubeconfigFor({ name: "x" });
      cli.write(
        "stranger.kubeconfig",
        unknown.replace(/127\.0\.0\.1:\d+/, new URL(controlPlane("rome").url).host),
      );
      cli.write("broken.kubeconfig", "clusters: [");
      await fails(
        "info --kubeconfig nowhere.kubeconfig",
        /--kubeconfig nowhere\.kubeconfig: there is no such file/,
      );
      await fails("info --kubeconfig broken.kubeconfig", /broken\.kubeconfig is neither YAML nor JSON/);
      await fails("info --context athens", /has no context "athens"; it has: rome/);
      await fails("info --kubeconfig wrong-port.kubeconfig", /https:\/\/127\.0\.0\.1:1 .* cannot be reached/);
      await fails("info --kubeconfig stranger.kubeconfig", /certificate/);
      await fails("info -n elsewhere", /Liqo is not installed in namespace elsewhere/, /next: .*--namespace/);
      await fails(
        PEER.replace("milan.kubeconfig", "rome.kubeconfig").replace("liqo-system", "liqo"),
        /both kubeconfigs lead to a cluster of the ID rome/,
      );
    });

    it("names what is wrong with a flag", async () => {
      await fails("peer --timeout soon", /--timeout.*'soon' is invalid.*10m/);
      await fails("peer --cpu lots", /--cpu.*'lots' is invalid/);
      await fails("peeer", /unknown command 'peeer'[^]*peer/);
      await fails("info --outptu json", /unknown option '--outptu'[^]*--output/);
      await fails(`${PEER} --resource-slice-class ""`, /class: "" is empty/);
    });

    it("knows no peer of a wrong ID", async () => {
      await fails("info peer athens", /has no peer athens/, /it has no peers at all/);
      await fails(
        "create resourceslice pool --remote-cluster-id athens",
        /no tenant namespace for cluster athens/,
      );
    });

    it("tells that networks can't be connected where there is no networking", async () => {
      await fails(
        PEER.replace("--networking-disabled", ""),
        /installed without networking/,
        /next: .*--networking-disabled/,
      );
    });

    it("unpeers what is not peered, and writes nothing", async () => {
      assert.deepEqual(await writesDuring(() => ok(UNPEER)), []);
    });
  });

  describe("and its page", () => {
    it("holds commands that do what it says, one after the other", async function () {
      this.timeout(180_000);
      const lines = blocksOf("docs/user/liqoctl.md")
        .filter(({ language }) => language === "")
        .flatMap(({ at, text }) =>
          text.split("\n").map((line) => ({ at, line: line.replace(/ {2,}# .*$/, "") })),
        )
        .filter(({ line }) => /liqoctl/.test(line));
      assert.ok(lines.length >= 15, `${lines.length} commands`);
      for (const { at, line } of lines) {
        const { status, out, err } = await cli.shell(line);
        assert.equal(status, 0, `${at}: ${line}\n${out}${err}`);
      }
      assert.deepEqual(await clusters.milan.list(Tenant), [], "the page ends where it began");
    });
  });
});
