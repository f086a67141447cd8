import assert from "node:assert/strict";

import { nodeVersionFault } from "../../../runtime/liqoctl/program";
import { printable } from "../../../runtime/liqoctl/terminal";

describe("the Node that runs liqoctl", () => {
  for (const version of ["22.19.0", "22.20.1", "24.0.0", process.versions.node])
    it(`may be ${version}`, () => assert.equal(nodeVersionFault(version), undefined));
  for (const version of ["20.19.5", "22.18.0", "18.0.0"])
    it(`may not be ${version}`, () =>
      assert.match(
        nodeVersionFault(version) ?? "",
        new RegExp(`needs Node 22\\.19 or later, and this is ${version.replaceAll(".", "\\.")}; in a clone`),
      ));
});

describe("what liqoctl prints", () => {
  it("steers no terminal, whatever a peer says", () => {
    assert.equal(printable("a\u001b[2Jb\u009b1mc\rd\u0007"), "a\ufffd[2Jb\ufffd1mc\ufffdd\ufffd");
  });

  it("keeps lines, tabs and letters of all languages", () => {
    const text = "┌─ Città di Milano ─\n\tok: sì, 東京\n";
    assert.equal(printable(text), text);
  });
});
