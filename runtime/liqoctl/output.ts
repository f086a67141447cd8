import { stringify } from "yaml";

import type { OutputFormat } from "./options";

/** A value for machines: one document, ending in a line break. */
export function formatted(value: unknown, format: OutputFormat): string {
  return format === "json" ? `${JSON.stringify(value, null, 2)}\n` : stringify(value, { lineWidth: 0 });
}
