import { stringify } from "yaml";

import { crdOf, OWN_KINDS } from "../crd";
import type { AnyDefinition } from "../define-kind";
import { type StructuralSchema, structuralSchema } from "../schema/structural-schema";

export const CRD_FOLDER = "runtime/api/crds";
export const REFERENCE_FOLDER = "docs/reference";

/** Every generated file: its content by its path in the package. */
export function generatedFiles(): Map<string, string> {
  const definitions = OWN_KINDS.map(({ definition }) => definition);
  return new Map([
    ...definitions.map((definition): [string, string] => [
      `${CRD_FOLDER}/${definition.group}_${definition.plural}.yaml`,
      `# Generated from runtime/api by npm run generate; do not edit.\n${yaml(crdOf(definition))}`,
    ]),
    ...definitions.map((definition): [string, string] => [
      `${REFERENCE_FOLDER}/${pageName(definition.kind)}`,
      referencePage(definition),
    ]),
    [`${REFERENCE_FOLDER}/README.md`, referenceIndex(definitions)],
  ]);
}

function yaml(object: unknown): string {
  return stringify(object, { lineWidth: 0, aliasDuplicateObjects: false });
}

/** The page of a kind under `docs/reference`. */
function referencePage(definition: AnyDefinition): string {
  const { group, version, kind, plural, shortNames, namespaced, rules, columns } = definition;
  const { spec, status } = definition;
  const names = [plural, ...(shortNames ?? [])].map((name) => `\`${name}\``).join(", ");
  return [
    `# ${kind}`,
    definition.summary,
    "| | |\n|---|---|",
    `| apiVersion | \`${group}/${version}\` |`,
    `| names | ${names} |`,
    `| scope | ${namespaced ? "namespace" : "cluster"} |`,
    `| status | ${statusText(definition)} |`,
    "",
    "## spec",
    "",
    fieldTable(structuralSchema(spec(), nameOnly)),
    ...(status === undefined ? [] : ["", "## status", "", fieldTable(structuralSchema(status(), nameOnly))]),
    ...(rules === undefined
      ? []
      : ["", "## Rules", "", ...rules.map((rule) => `- ${rule.message}: \`${rule.rule}\``)]),
    ...(columns === undefined
      ? []
      : [
          "",
          "## Columns",
          "",
          ...columns.map(
            ({ name, jsonPath, priority }) => `- ${name.trim()}: \`${jsonPath}\`${priority ? " (wide)" : ""}`,
          ),
        ]),
    "",
  ]
    .join("\n")
    .replace(`# ${kind}\n`, `# ${kind}\n\n`)
    .replace(`${definition.summary}\n`, `${definition.summary}\n\n`);
}

/** The page that lists the kinds. */
function referenceIndex(definitions: readonly AnyDefinition[]): string {
  const groups = [...new Set(definitions.map(({ group }) => group))];
  return [
    "# Kinds",
    "",
    "Generated from the schemas in `runtime/api`, as are the CRDs in `runtime/api/crds`.",
    ...groups.flatMap((group) => [
      "",
      `## ${group}`,
      "",
      ...definitions
        .filter((definition) => definition.group === group)
        .map(({ kind, summary }) => `- [${kind}](${pageName(kind)}): ${summary}`),
    ]),
    "",
  ].join("\n");
}

/** `ForeignCluster` has the page `foreign-cluster.md`. */
function pageName(kind: string): string {
  return `${kind.replace(/([a-z])([A-Z])/g, "$1-$2").toLowerCase()}.md`;
}

function statusText({ status, statusSubresource }: AnyDefinition): string {
  if (status === undefined) return "none";
  return (statusSubresource ?? true) ? "a subresource" : "a part of the object";
}

/** A Kubernetes type stands in the table by its name: its fields are in Kubernetes' own reference. */
function nameOnly(name: string): StructuralSchema {
  return name === "api.Quantity" ? { format: "quantity", type: "string" } : { format: name, type: "object" };
}

function fieldTable(schema: StructuralSchema): string {
  return ["| field | type | default | |", "|---|---|---|---|", ...rows(schema, "")].join("\n");
}

function rows(schema: StructuralSchema, prefix: string): string[] {
  return Object.entries(schema.properties ?? {}).flatMap(([name, field]) => {
    const path = `${prefix}${name}`;
    const required = schema.required?.includes(name) ?? false;
    const value = field.default === undefined ? "" : `\`${JSON.stringify(field.default)}\``;
    const notes = [required ? "Required." : "", field.description ?? "", ...ruleTexts(field)].filter(Boolean);
    return [
      `| \`${path}\` | ${typeText(field)} | ${value} | ${cell(notes.join(" "))} |`,
      ...innerRows(field, path),
    ];
  });
}

function innerRows(field: StructuralSchema, path: string): string[] {
  if (field.items) return innerRows(field.items, `${path}[]`);
  if (field.additionalProperties) return innerRows(field.additionalProperties, `${path}.*`);
  return rows(field, `${path}.`);
}

function ruleTexts(field: StructuralSchema): string[] {
  const texts = (field["x-kubernetes-validations"] ?? []).map(({ message }) => `Rule: ${message}.`);
  if (field.minLength !== undefined) texts.push(`At least ${field.minLength} characters.`);
  if (field.minItems !== undefined) texts.push(`At least ${field.minItems} items.`);
  if (field.maxItems !== undefined) texts.push(`At most ${field.maxItems} items.`);
  if (field.maxProperties) texts.push(`At most ${field.maxProperties} of the fields.`);
  if (field.minimum !== undefined) texts.push(`At least ${field.minimum}.`);
  return texts;
}

function typeText(field: StructuralSchema): string {
  if (field.items && field.type === undefined) return `list of ${typeText(field.items)}, or one`;
  if (field.items) return `list of ${typeText(field.items)}`;
  if (field.additionalProperties) return `map to ${typeText(field.additionalProperties)}`;
  if (field.enum)
    return field.enum.map((value) => `\`${JSON.stringify(value).replace(/^"|"$/g, "")}\``).join(", ");
  if (field["x-kubernetes-preserve-unknown-fields"]) return "any object";
  if (field.format === "byte") return "base64";
  if (field.format === undefined || /^u?int/.test(field.format)) return field.type ?? "any";
  return field.format;
}

function cell(text: string): string {
  return text.replaceAll("|", "\\|").replaceAll("\n", " ");
}
