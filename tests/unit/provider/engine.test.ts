import assert from "node:assert/strict";
import {
  mkdirSync,
  mkdtempSync,
  readFileSync,
  readlinkSync,
  realpathSync,
  rmSync,
  statSync,
  symlinkSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

import { linkPackage } from "../../../provider/engine/package-link";
import { homeVariables } from "../../../provider/engine/pulumi-home";

describe("the engine's home", () => {
  let folder: string;
  beforeEach(() => (folder = mkdtempSync(join(tmpdir(), "liqo-engine-"))));
  afterEach(() => rmSync(folder, { recursive: true }));
  const own = () => ({
    PULUMI_LIQO_CACHE: join(folder, "cache"),
    PULUMI_LIQO_STATE: join(folder, "state"),
    PULUMI_LIQO_PREFIX: "abc",
  });

  it("is ours by default: stacks in files of this checkout, a passphrase drawn once and for its owner only", () => {
    const variables = homeVariables(own());
    assert.equal(variables["PULUMI_HOME"], join(folder, "cache", "pulumi-home"));
    assert.equal(variables["PULUMI_BACKEND_URL"], `file://${join(folder, "state", "stacks", "abc")}`);
    const file = variables["PULUMI_CONFIG_PASSPHRASE_FILE"] ?? "";
    const passphrase = readFileSync(file, "utf8");
    assert.ok(passphrase.trim().length >= 32);
    assert.equal(statSync(file).mode & 0o777, 0o600);
    assert.deepEqual(homeVariables(own()), variables);
    assert.equal(readFileSync(file, "utf8"), passphrase);
  });

  it("is the user's where the user decided", () => {
    const elsewhere = { ...own(), PULUMI_BACKEND_URL: "s3://stacks", PULUMI_HOME: "/home/someone/.pulumi" };
    assert.deepEqual(homeVariables(elsewhere), {});
    assert.deepEqual(Object.keys(homeVariables({ ...own(), PULUMI_ACCESS_TOKEN: "t" })), ["PULUMI_HOME"]);
    const variables = homeVariables({ ...own(), PULUMI_CONFIG_PASSPHRASE: "mine" });
    assert.deepEqual(Object.keys(variables), ["PULUMI_HOME", "PULUMI_BACKEND_URL"]);
  });

  it("finds the package by its name within its own checkout, also after a checkout that moved", () => {
    linkPackage(folder);
    assert.equal(statSync(join(folder, "node_modules"), { throwIfNoEntry: false }), undefined);
    mkdirSync(join(folder, "node_modules"));
    const link = join(folder, "node_modules", "pulumi-liqo");
    symlinkSync("/nowhere/at/all", link);
    for (let time = 0; time < 2; time++) {
      linkPackage(folder);
      assert.equal(readlinkSync(link), "..");
      assert.equal(realpathSync(link), realpathSync(folder));
    }
  });
});
