/** Mocha reporter: the lines of `spec`, and at the end the outcome, failures by name, in the file that TEST_OUTCOME_FILE names. */
import { writeFileSync } from "node:fs";

import Mocha from "mocha";

export = class OutcomeReporter extends Mocha.reporters.Spec {
  constructor(runner: Mocha.Runner, options: Mocha.MochaOptions) {
    super(runner, options);
    const failed: { title: string; message: string }[] = [];
    runner.on("fail", (test: Mocha.Test, error: Error) => {
      failed.push({ title: test.fullTitle(), message: error.message });
    });
    runner.once("end", () => {
      const { passes = 0, pending = 0 } = runner.stats ?? {};
      const file = process.env["TEST_OUTCOME_FILE"];
      if (file !== undefined) writeFileSync(file, JSON.stringify({ passes, pending, failed }));
    });
  }
};
