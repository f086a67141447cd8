import assert from "node:assert/strict";

import { printable } from "../../../runtime/liqoctl/terminal/terminal";

describe("what liqoctl prints", () => {
  it("steers no terminal, whatever a peer says", () => {
    assert.equal(printable("a\u001b[2Jb\u009b1mc\rd\u0007"), "a\ufffd[2Jb\ufffd1mc\ufffdd\ufffd");
  });

  it("keeps lines, tabs and letters of all languages", () => {
    const text = "┌─ Città di Milano ─\n\tok: sì, 東京\n";
    assert.equal(printable(text), text);
  });
});
