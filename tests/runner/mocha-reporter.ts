/**
 * Mocha reporter: the lines of `spec`, and at the end the outcome, with what was waited for, in the file that TEST_OUTCOME_FILE names.
 */
import { writeFileSync } from "node:fs";

import Mocha from "mocha";

import { waits } from "../support/until";
import type { Failure, Report } from "./outcome";

export = class OutcomeReporter extends Mocha.reporters.Spec {
  constructor(runner: Mocha.Runner, options: Mocha.MochaOptions) {
    super(runner, options);
    const passed: string[] = [];
    const pending: string[] = [];
    const failed: Failure[] = [];
    let hookMs = 0;
    runner.on("pass", (test: Mocha.Test) => passed.push(test.fullTitle()));
    runner.on("pending", (test: Mocha.Test) => pending.push(test.fullTitle()));
    runner.on("fail", (test: Mocha.Test, error: Error) =>
      failed.push({ title: test.fullTitle(), message: error.message }),
    );
    const begun = new Map<unknown, number>();
    runner.on("hook", (hook: Mocha.Hook) => begun.set(hook, performance.now()));
    runner.on("hook end", (hook: Mocha.Hook) => (hookMs += performance.now() - (begun.get(hook) ?? 0)));
    runner.once("end", () => {
      const file = process.env["TEST_OUTCOME_FILE"];
      const report: Report = { passed, pending, failed, waits: waits(), hookSeconds: hookMs / 1000 };
      if (file !== undefined) writeFileSync(file, JSON.stringify(report));
    });
  }
};
