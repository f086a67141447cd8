import assert from "node:assert/strict";

import { nodeVersionFault } from "../../../runtime/liqoctl/node-version";

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
