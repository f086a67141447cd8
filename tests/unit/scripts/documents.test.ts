import assert from "node:assert/strict";

import { commandsOf, documents } from "../../support/documents";

describe("the commands of the documents", () => {
  // tests/e2e/quick-start.test.ts runs those of kubectl as they stand.
  it("of kubectl can be typed as they stand", () => {
    const commands = documents().flatMap((document) =>
      commandsOf(document, "kubectl")
        .filter((command) => command.split(" ").length > 2)
        .map((command) => `${document}: ${command}`),
    );
    assert.ok(commands.length >= 12, `${commands.length} commands`);
    assert.deepEqual(
      commands.filter((command) => /<[^>]+>/.test(command)),
      [],
    );
  });
});
