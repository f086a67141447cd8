import assert from "node:assert/strict";
import { join } from "node:path";

import { packageRoot } from "../../../runtime/api";
import OutcomeReporter from "../../runner/mocha-reporter";

describe("the mocha reporter", () => {
  it("names the TypeScript sources in the stack of a failure, and leaves other positions alone", () => {
    const compiled = join(packageRoot(), "dist", "tests", "unit", "runner", "mocha-reporter.test.js");
    const thrown = new Error("seen").stack ?? "";
    assert.match(thrown, /mocha-reporter\.test\.(js|ts):\d+:\d+/);
    const here = /mocha-reporter\.test\.js:(\d+):(\d+)/.exec(thrown);
    const position = here === null ? "1:1" : `${here[1]}:${here[2]}`;
    const stack = `Error: seen\n    at Context.<anonymous> (${compiled}:${position})\n    at node:internal/timers:574:21`;
    const [message, frame, other] = OutcomeReporter.inSources(stack).split("\n");
    assert.equal(message, "Error: seen");
    assert.match(frame ?? "", /tests\/unit\/runner\/mocha-reporter\.test\.ts:\d+:\d+\)$/);
    assert.equal(other, "    at node:internal/timers:574:21");
  });
});
