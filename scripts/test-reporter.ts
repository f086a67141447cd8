/** Mocha reporter: the lines of `spec`, and at the end the counts in the file that TEST_COUNTS_FILE names. */
import { writeFileSync } from "node:fs";

import Mocha from "mocha";

export = class CountingReporter extends Mocha.reporters.Spec {
  constructor(runner: Mocha.Runner, options: Mocha.MochaOptions) {
    super(runner, options);
    runner.once("end", () => {
      const { passes = 0, failures = 0, pending = 0 } = runner.stats ?? {};
      const file = process.env["TEST_COUNTS_FILE"];
      if (file !== undefined) writeFileSync(file, JSON.stringify({ passes, failures, pending }));
    });
  }
};
