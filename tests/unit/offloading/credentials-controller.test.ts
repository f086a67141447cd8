import assert from "node:assert/strict";

import {
  type CredentialsFacts,
  type CredentialsStep,
  decideCredentials,
} from "../../../runtime/offloading/credentials-controller";

describe("the credentials of a slice", () => {
  const idle: CredentialsFacts = { deleting: false, held: false, users: [], madeAgain: true };
  const cases: [string, Partial<CredentialsFacts>, CredentialsStep][] = [
    ["that nobody uses are left alone", {}, "nothing"],
    ["are held for a virtual node", { users: ["pool"] }, "hold"],
    ["are held once", { users: ["pool"], held: true }, "nothing"],
    ["are released when the last one is gone", { held: true }, "release"],
    ["that go and were never held are let go", { deleting: true, users: ["pool"] }, "nothing"],
    ["stay for their users", { deleting: true, held: true, users: ["a", "b"], madeAgain: false }, "tell"],
    ["go with the last user", { deleting: true, held: true, madeAgain: false }, "release"],
    ["go for those that take their place", { deleting: true, held: true, users: ["a"] }, "release"],
  ];
  for (const [what, facts, step] of cases) {
    it(what, () => assert.equal(decideCredentials({ ...idle, ...facts }), step));
  }
});
