/** What a run of a stack has led to. */
import assert from "node:assert/strict";

import type { OutputMap, Stack } from "@pulumi/pulumi/automation";

/** A stack at rest: no change planned, nothing found by a refresh, and still no change planned after it. */
export async function settled(stack: Stack): Promise<void> {
  await stack.preview({ expectNoChanges: true });
  await stack.refresh({ expectNoChanges: true });
  await stack.preview({ expectNoChanges: true });
}

/** An output that is a text. */
export function text(output: OutputMap[string] | undefined): string {
  assert.equal(typeof output?.value, "string");
  return String(output?.value);
}
