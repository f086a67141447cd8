import type { EngineEvent } from "@pulumi/pulumi/automation";

/** What an engine event says to a person who waits; undefined for the many that say nothing new. */
export function announcement(event: EngineEvent): string | undefined {
  const { diagnosticEvent: diagnostic, resOutputsEvent: made, resOpFailedEvent: failed } = event;
  if (diagnostic !== undefined) {
    if (!TOLD.has(diagnostic.severity) || diagnostic.ephemeral === true) return undefined;
    const text = withoutColor(diagnostic.prefix ?? "", diagnostic.message);
    return ABOUT_PLUGINS.test(text) ? undefined : text;
  }
  if (failed !== undefined) return `${nameOf(failed.metadata.urn)}: ${failed.metadata.op} failed`;
  if (made === undefined || !MADE.has(made.metadata.op)) return undefined;
  const type = typeOf(made.metadata.urn);
  const worthALine = type.startsWith("pulumi-liqo:index:") || type === "kubernetes:apps/v1:Deployment";
  return worthALine ? `${nameOf(made.metadata.urn)}: ready` : undefined;
}

/** The error texts of an event, for the end. */
export function errorText(event: EngineEvent): string | undefined {
  const { diagnosticEvent: diagnostic } = event;
  if (diagnostic?.severity !== "error") return undefined;
  const where = diagnostic.urn === undefined ? "" : `${nameOf(diagnostic.urn)}: `;
  return `${where}${withoutColor("", diagnostic.message)}`;
}

/** Errors are told once, in the end, with their resources; what is for debugging may hold secrets and is never told. */
const TOLD: ReadonlySet<string> = new Set(["info", "info#err", "warning"]);
/** Where plugins were found, which the user has no part in. */
const ABOUT_PLUGINS = /using pulumi-resource-\S+ from \$PATH|resource plugin \S+ is expected to have version/;
const MADE: ReadonlySet<string> = new Set(["create", "update", "create-replacement"]);

/** `Peering rome-milan`, from a URN such as `urn:pulumi:stack::project::parent$type::name`. */
function nameOf(urn: string): string {
  const kind = typeOf(urn).split(":").at(-1) ?? "";
  return `${kind} ${urn.split("::").at(-1) ?? ""}`;
}

function typeOf(urn: string): string {
  return urn.split("::").at(2)?.split("$").at(-1) ?? "";
}

/** The engine marks colours as `<{%fg 1%}>`. */
function withoutColor(prefix: string, message: string): string {
  return `${prefix}${message}`.replace(/<\{%[^%]*%\}>/g, "").trim();
}
