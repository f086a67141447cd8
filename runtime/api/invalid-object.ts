/** A value is not an object of the kind it should be. The message names the object, and for each field the value and the way out. */
export class InvalidObjectError extends Error {
  override readonly name = "InvalidObjectError";

  /**
   * @param subject what was read, such as `Tenant "liqo-tenant-rome/rome"`
   * @param issues one sentence for each fault, each beginning with the field's path
   */
  constructor(
    readonly subject: string,
    readonly issues: readonly string[],
    options?: ErrorOptions,
  ) {
    super(issues.map((issue) => `${subject}: ${issue}`).join("\n"), options);
  }
}

/** Names an object for an error text, from whatever can be read of it: `Tenant "liqo-tenant-rome/rome"`. */
export function subjectOf(kind: string, value: unknown): string {
  if (!isRecord(value) || !isRecord(value.metadata)) return kind;
  const { name, generateName, namespace } = value.metadata;
  const known =
    typeof name === "string" ? name : typeof generateName === "string" ? `${generateName}…` : undefined;
  if (known === undefined) return kind;
  return typeof namespace === "string" ? `${kind} "${namespace}/${known}"` : `${kind} "${known}"`;
}

/** Whether a value is an object with named fields (no list, no null). */
export function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
