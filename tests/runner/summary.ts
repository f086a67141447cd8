/** The end of a test run: a table of times, what failed, and the line that counts. */
import { table } from "../../scripts/quick-start/table";
import type { Outcome } from "./outcome";

/** Each file with its wall time, its processor time and what it waited for; the longest first. */
export function timeTable(outcomes: readonly Outcome[], wallSeconds: number): string {
  const rows = [...outcomes]
    .sort((a, b) => b.wallSeconds - a.wallSeconds)
    .map(({ name, wallSeconds: wall, cpuSeconds, waitedFor }) => [
      shortName(name),
      seconds(wall),
      cpuSeconds === undefined ? "-" : seconds(cpuSeconds),
      shorten(waitedFor, 100),
    ]);
  const sum = (values: readonly number[]) => values.reduce((total, value) => total + value, 0);
  const total = [
    "all, side by side",
    seconds(wallSeconds),
    seconds(sum(outcomes.map(({ cpuSeconds = 0 }) => cpuSeconds))),
    `${seconds(sum(outcomes.map(({ wallSeconds: wall }) => wall)))} one after the other`,
  ];
  return table([["FILE", "WALL", "CPU", "WAITED FOR"], ...rows, total]);
}

/** What failed stands once more at the end: of a long output often only that is kept. */
export function closingLines(outcomes: readonly Outcome[], errors: readonly string[]): string {
  const passed = outcomes.reduce((total, outcome) => total + outcome.passed, 0);
  const failed = [...outcomes.flatMap((outcome) => outcome.failed), ...errors];
  const known = outcomes.flatMap((outcome) => outcome.known);
  const listed = (heading: string, entries: readonly string[]) =>
    entries.length === 0 ? [] : [heading, ...entries.map((entry) => `  - ${entry}`), ""];
  return [
    "",
    ...listed("known to fail, see tests/known-failures.json:", known),
    ...listed("failed:", failed),
    ...(passed + failed.length + known.length === 0 ? ["no test ran: no test file has such a path"] : []),
    `${passed} passed, ${failed.length} failed`,
  ].join("\n");
}

function shortName(name: string): string {
  return name.replace(/^tests\/e2e\//, "").replace(/\.test\.js$/, "");
}

function shorten(text: string, length: number): string {
  return text.length > length ? `${text.slice(0, length - 1)}…` : text;
}

function seconds(value: number): string {
  return `${Math.round(value)} s`;
}
