import assert from "node:assert/strict";

import * as pulumi from "@pulumi/pulumi";

import { hasUnknown, isUnknown } from "../../../provider/core/input-check";

const markers = [
  "1c4a061d-8072-4f0a-a4cb-0ff528b18fe7",
  "3eeb2bf0-c639-47a8-9e75-3b44932eb421",
  "04da6b54-80e4-46f7-96ec-b56ff0331ba9",
  "6a19a0b0-7e62-4c92-b797-7f8e31da9cc2",
  "030794c1-ac77-496b-92df-f27374a8bd58",
  "e48ece36-62e2-4504-bad9-02848725956a",
  "dd056dcd-154b-4c76-9bd3-c8f88648b5ff",
];

describe("values that are not known yet", () => {
  for (const marker of markers) it(`are marked by ${marker}`, () => assert.equal(isUnknown(marker), true));

  it("include what the SDK itself sends", () => assert.equal(isUnknown(pulumi.runtime.unknownValue), true));

  it("are found at any depth", () => {
    const [unknown] = markers;
    assert.equal(hasUnknown({ a: [{ b: unknown }] }), true);
    assert.equal(hasUnknown([unknown]), true);
    for (const known of [undefined, null, 0, "", "04da6b54", {}, [], { a: [{ b: "c" }] }]) {
      assert.equal(hasUnknown(known), false);
    }
  });
});
