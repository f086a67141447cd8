import assert from "node:assert/strict";

import fc from "fast-check";

import { creatorUserLabel } from "../../../runtime/plan/peer-objects";

describe("the creator's label", () => {
  const table: [username: string, label: string | undefined][] = [
    ["pool-a8a4c692b93b", "pool-a8a4c692b93b"],
    ["system:serviceaccount:a:b", "system-serviceaccount-a-b"],
    ["jane@example.com", "jane-example.com"],
    ["", undefined],
  ];
  for (const [username, label] of table) {
    it(`of ${JSON.stringify(username)} is ${JSON.stringify(label)}`, () => {
      assert.equal(creatorUserLabel(username), label);
    });
  }

  it("is a label value for any name", () => {
    fc.assert(
      fc.property(fc.string({ minLength: 1, maxLength: 300 }), (username) => {
        assert.match(creatorUserLabel(username) ?? "", /^[A-Za-z0-9]([-A-Za-z0-9_.]{0,61}[A-Za-z0-9])?$/);
      }),
    );
  });

  it("differs for long names that begin alike", () => {
    const long = "system:serviceaccount:".padEnd(80, "a");
    assert.notEqual(creatorUserLabel(`${long}1`), creatorUserLabel(`${long}2`));
  });
});
