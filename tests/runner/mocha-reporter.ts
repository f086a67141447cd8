/**
 * Mocha reporter: the lines of `spec`, and at the end the outcome, with what was waited for, in the file that TEST_OUTCOME_FILE names.
 */
import { readFileSync, writeFileSync } from "node:fs";
import { SourceMap } from "node:module";
import { dirname, join } from "node:path";

import Mocha from "mocha";
import { z } from "zod";

import { waits } from "../support/until";
import type { Failure, Report } from "./outcome";

const sourceMap = z.object({
  file: z.string(),
  version: z.number(),
  sources: z.array(z.string()),
  sourcesContent: z.array(z.string()).default([]),
  names: z.array(z.string()),
  mappings: z.string(),
  sourceRoot: z.string().default(""),
});

export = class OutcomeReporter extends Mocha.reporters.Spec {
  constructor(runner: Mocha.Runner, options: Mocha.MochaOptions) {
    super(runner, options);
    const passed: string[] = [];
    const pending: string[] = [];
    const failed: Failure[] = [];
    let hookMs = 0;
    runner.on("pass", (test: Mocha.Test) => passed.push(test.fullTitle()));
    runner.on("pending", (test: Mocha.Test) => pending.push(test.fullTitle()));
    runner.on("fail", (test: Mocha.Test, error: Error) => {
      if (error.stack !== undefined) error.stack = OutcomeReporter.inSources(error.stack);
      failed.push({ title: test.fullTitle(), message: error.message });
    });
    const begun = new Map<unknown, number>();
    runner.on("hook", (hook: Mocha.Hook) => begun.set(hook, performance.now()));
    runner.on("hook end", (hook: Mocha.Hook) => (hookMs += performance.now() - (begun.get(hook) ?? 0)));
    runner.once("end", () => {
      const file = process.env["TEST_OUTCOME_FILE"];
      const report: Report = { passed, pending, failed, waits: waits(), hookSeconds: hookMs / 1000 };
      if (file !== undefined) writeFileSync(file, JSON.stringify(report));
    });
  }

  /**
   * A stack with positions in the TypeScript sources. Only failures are translated: with Node's `--enable-source-maps` every promise of the Pulumi
   * SDK translates a stack, which takes a sixth of a program's processor time.
   */
  static inSources(stack: string): string {
    return stack.replace(
      /([^():\s]+\.js):(\d+):(\d+)/g,
      (position, file: string, line: string, column: string) => {
        try {
          const map = new SourceMap(sourceMap.parse(JSON.parse(readFileSync(`${file}.map`, "utf8"))));
          const origin = map.findOrigin(Number(line), Number(column));
          if (!("fileName" in origin)) return position;
          return `${join(dirname(file), origin.fileName)}:${origin.lineNumber}:${origin.columnNumber}`;
        } catch {
          return position; // no file of ours
        }
      },
    );
  }
};
