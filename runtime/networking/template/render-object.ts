import { isRecord } from "../../api/invalid-object";
import type { StructuralSchema } from "../../api/schema/structural-schema";
import { renderTemplate } from "./evaluate";
import { TemplateError } from "./tokens";
import type { TemplateStruct } from "./functions";

/** Below these keys everything is text in every Kubernetes object, however much it looks like a number. */
const TEXT_MAPS = new Set(["labels", "annotations", "matchLabels", "nodeSelector", "selector"]);

/**
 * A value with every template in its strings filled in (networking reference 9.1).
 *
 * What a template gives is text; where the field is a number or a switch, it becomes one. The schema says so, and where there is none, a
 * whole number is one outside of labels and the like. A key `?name` whose value names a field of the data is optional: the
 * field is left out when that, or what comes of it, is empty or zero.
 *
 * @param path of the value, for error texts
 * @throws TemplateError naming the path
 */
export function renderValue(
  value: unknown,
  data: TemplateStruct,
  schema: StructuralSchema | undefined,
  path: string,
): unknown {
  return new Renderer(data).value(value, schema, path);
}

const TEXT: StructuralSchema = { type: "string", additionalProperties: { type: "string" } };

class Renderer {
  constructor(private readonly data: TemplateStruct) {}

  value(value: unknown, schema: StructuralSchema | undefined, path: string): unknown {
    if (typeof value === "string") return typed(this.text(value, path), schema);
    if (Array.isArray(value)) {
      return value.map((item, index) => this.value(item, schema?.items, `${path}[${index}]`));
    }
    if (isRecord(value)) return this.record(value, schema, path);
    return schema?.type === "string" && (typeof value === "number" || typeof value === "boolean")
      ? String(value)
      : value;
  }

  private record(
    record: Record<string, unknown>,
    schema: StructuralSchema | undefined,
    path: string,
  ): Record<string, unknown> {
    const rendered: Record<string, unknown> = {};
    for (const [key, value] of Object.entries(record)) {
      const condition = conditionOf(key, value);
      const name = condition === undefined ? key : key.slice(1);
      const below = schemaOf(name, schema);
      const at = `${path}.${name}`;
      if (condition === undefined) rendered[name] = this.value(value, below, at);
      else {
        const result = this.value(`{{if ${condition}}}${String(value)}{{end}}`, below, at);
        if (result !== "" && result !== 0) rendered[name] = result;
      }
    }
    return rendered;
  }

  private text(template: string, path: string): string {
    try {
      return renderTemplate(template, this.data);
    } catch (error) {
      if (!(error instanceof TemplateError)) throw error;
      throw new TemplateError(`${path}: ${error.message}`, { cause: error });
    }
  }
}

function schemaOf(key: string, schema: StructuralSchema | undefined): StructuralSchema | undefined {
  const known = schema?.properties?.[key] ?? schema?.additionalProperties;
  return known ?? (TEXT_MAPS.has(key) ? TEXT : undefined);
}

/** The field that an optional key depends on: the first one that its value names. */
function conditionOf(key: string, value: unknown): string | undefined {
  if (!key.startsWith("?") || typeof value !== "string") return undefined;
  return /\{\{[^}]*?(\$?(?:\.[A-Za-z_]\w*)+)/.exec(value)?.[1];
}

function typed(text: string, schema: StructuralSchema | undefined): unknown {
  if (schema === undefined) return wholeNumber(text) ?? text;
  if (schema["x-kubernetes-int-or-string"] === true) return wholeNumber(text) ?? text;
  switch (schema.type) {
    case "integer":
    case "number":
      return wholeNumber(text) ?? text;
    case "boolean":
      return text === "true" ? true : text === "false" ? false : text;
    default:
      return text;
  }
}

function wholeNumber(text: string): number | undefined {
  const number = /^[+-]?\d+$/.test(text) ? Number(text) : Number.NaN;
  return Number.isSafeInteger(number) ? number : undefined;
}
