/** What came of a test file, a check, or of all of them. */
import { existsSync, readFileSync } from "node:fs";

import { z } from "zod";

import type { KnownFailure } from "./known-failures";

const failureSchema = z.object({ title: z.string(), message: z.string() });

/** What the mocha reporter writes. */
export const reportSchema = z.object({
  passed: z.array(z.string()),
  pending: z.array(z.string()),
  failed: z.array(failureSchema),
  /** What the tests waited for, longest first, with the seconds that all waits of that name took. */
  waits: z.array(z.object({ what: z.string(), seconds: z.number() })),
  /** Seconds that hooks took: clusters made, reset and removed. */
  hookSeconds: z.number(),
});
export type Report = z.infer<typeof reportSchema>;
export type Failure = z.infer<typeof failureSchema>;

export interface Outcome {
  name: string;
  passed: number;
  /** What failed, one text each. */
  failed: string[];
  /** Known failures that occurred: they count as neither. */
  known: string[];
  wallSeconds: number;
  /** Processor time of the process and all that it started; undefined where the machine does not tell. */
  cpuSeconds: number | undefined;
  /** What most of the time was waited for. */
  waitedFor: string;
}

export interface Ended {
  code: number;
  /** Whether the run was told to stop meanwhile. */
  interrupted?: boolean;
  wallSeconds: number;
  cpuSeconds: number | undefined;
}

/** A check without tests of its own counts as one test. */
export function outcomeOfCheck(name: string, ended: Ended): Outcome {
  const failed = ended.code === 0 ? [] : [`${name}: ended with code ${ended.code}`];
  return { name, passed: 1 - failed.length, failed, known: [], waitedFor: "", ...times(ended) };
}

/** A process that ended without a report, or failed though no test did, counts as one failure; so does each skipped test. */
export function outcomeOfTests(
  name: string,
  report: Report | undefined,
  ended: Ended,
  known: readonly KnownFailure[],
): Outcome {
  const base = { name, known: [], ...times(ended) };
  if (report === undefined) {
    const failed = [
      ended.interrupted === true
        ? `${name}: interrupted`
        : `${name}: ended with code ${ended.code} before its tests did`,
    ];
    return { ...base, passed: 0, failed, waitedFor: "" };
  }
  const isKnown = ({ title }: Failure) => known.some((entry) => entry.title === title);
  const unexpected = report.failed.filter((failure) => !isKnown(failure));
  const expected = report.failed.filter(isKnown);
  const mended = known.filter(({ title }) => report.passed.includes(title));
  const absent = known.filter(
    ({ title }) =>
      !report.passed.includes(title) && !report.failed.some((failure) => failure.title === title),
  );
  const failed = [
    ...unexpected.map(({ title, message }) => `${name}: ${title}: ${firstLines(message)}`),
    ...report.pending.map((title) => `${name}: ${title}: a skipped test`),
    ...mended.map(
      ({ title }) =>
        `${name}: ${title}: passes, though tests/known-failures.json says that it fails; remove the entry`,
    ),
    ...absent.map(
      ({ title }) =>
        `${name}: ${title}: stands in tests/known-failures.json, and no such test ran; remove the entry`,
    ),
  ];
  if (failed.length === 0 && report.passed.length + expected.length === 0)
    failed.push(`${name}: holds no test`);
  if (failed.length === 0 && expected.length === 0 && ended.code !== 0)
    failed.push(`${name}: ended with code ${ended.code}, though no test failed`);
  return {
    ...base,
    passed: report.passed.length - mended.length,
    failed,
    known: expected.map(({ title }) => `${name}: ${title}`),
    waitedFor: waitedFor(report),
  };
}

export function readReport(file: string): Report | undefined {
  return existsSync(file) ? reportSchema.parse(JSON.parse(readFileSync(file, "utf8"))) : undefined;
}

/** Enough of an error to know it by; the whole of it stands where the test ran. */
function firstLines(message: string): string {
  return message.split("\n").slice(0, 5).join("\n    ").slice(0, 1000);
}

function waitedFor({ waits, hookSeconds }: Report): string {
  const entries = waits.slice(0, 2).map(({ what, seconds }) => `${what} ${Math.round(seconds)} s`);
  return [`hooks ${Math.round(hookSeconds)} s`, ...entries].join(", ");
}

function times({ wallSeconds, cpuSeconds }: Ended): Pick<Outcome, "wallSeconds" | "cpuSeconds"> {
  return { wallSeconds, cpuSeconds };
}
