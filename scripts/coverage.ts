/**
 * `npm run coverage [-- PART-OF-A-PATH…]`: runs the tests with coverage of all processes that end in order, and prints the shares of `runtime`,
 * `provider`, `components` and `plugin`.
 */
import { spawnSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

import { z } from "zod";

import { packageRoot } from "../runtime/api/package-root";
import { table } from "./quick-start/table";

const share = z.object({ total: z.number(), covered: z.number() });
const fileSchema = z.object({ lines: share, functions: share, branches: share });
type Shares = z.infer<typeof fileSchema>;

const FOLDERS = ["runtime", "provider", "components", "plugin"];

/** Lines, functions and branches of all sources below a folder. */
function sumOf(folder: string, files: Readonly<Record<string, Shares>>): string[] {
  const inFolder = Object.entries(files).filter(([path]) =>
    path.startsWith(join(packageRoot(), folder, "/")),
  );
  const percent = (of: keyof Shares) => {
    const [covered, total] = inFolder.reduce(
      ([c, t], [, shares]) => [c + shares[of].covered, t + shares[of].total],
      [0, 0],
    );
    return `${((100 * covered) / total).toFixed(2)} % of ${total}`;
  };
  return [folder, percent("lines"), percent("functions"), percent("branches")];
}

function main(args: readonly string[]): number {
  const root = packageRoot();
  const folder = mkdtempSync(join(tmpdir(), "pulumi-liqo-coverage-"));
  const node = (...words: string[]) =>
    spawnSync(process.execPath, ["--max-old-space-size=8192", ...words], { cwd: root, stdio: "inherit" })
      .status ?? 1;
  try {
    const raw = join(folder, "raw");
    const tests = node(join(root, "dist", "scripts", "test.js"), "--coverage", raw, ...args);
    const report = node(
      join(root, "node_modules", "c8", "bin", "c8.js"),
      "report",
      `--temp-directory=${raw}`,
      `--reports-dir=${folder}`,
      "--reporter=json-summary",
      "--all",
      // Each process writes a few megabytes.
      "--merge-async",
      ...FOLDERS.flatMap((name) => [
        `--src=${name}`,
        `--include=${name}/**/*.ts`,
        `--include=dist/${name}/**/*.js`,
      ]),
      "--exclude-after-remap",
    );
    if (report !== 0) return report;
    const summary = z
      .record(z.string(), fileSchema)
      .parse(JSON.parse(readFileSync(join(folder, "coverage-summary.json"), "utf8")));
    console.log(
      table([["FOLDER", "LINES", "FUNCTIONS", "BRANCHES"], ...FOLDERS.map((name) => sumOf(name, summary))]),
    );
    return tests;
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

process.exitCode = main(process.argv.slice(2));
