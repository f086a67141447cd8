import { Analyzer } from "@pulumi/pulumi/provider/experimental/analyzer";
import { generateSchema } from "@pulumi/pulumi/provider/experimental/schema";
import { z } from "zod";

import { resources } from "../provider";
import type { AnyDefinition } from "../provider/core/lifecycle";
import { packageName } from "../provider/core/liqo-resource";
import { componentNames } from "./components";
import type { PackageManifest } from "./plugin-provider";

/**
 * The schema of the package for programs in other languages: the components, as Pulumi's analyzer reads them from their TypeScript source,
 * and the resources, from the zod schemas that check their inputs.
 *
 * @param folder the package's sources; takes some seconds, so the result is kept in a file.
 */
export function packageSchema(folder: string, manifest: PackageManifest): object {
  const entry = { ...manifest, main: "components/index.ts" };
  const analyzer = new Analyzer(folder, packageName, entry, new Set(componentNames));
  const { components, typeDefinitions, dependencies } = analyzer.analyze();
  const schema = generateSchema(
    packageName,
    manifest.version,
    manifest.description,
    components,
    typeDefinitions,
    dependencies,
  );
  const types: Record<string, ObjectSpec> = {};
  const own: Record<string, ResourceSpec> = {};
  for (const { definition } of Object.values(resources)) {
    own[`${packageName}:index:${definition.type}`] = resourceSchema(definition, types);
  }
  return {
    ...schema,
    types: sorted({ ...schema.types, ...types }),
    resources: sorted({ ...schema.resources, ...own }),
  };
}

function sorted<T>(record: Record<string, T>): Record<string, T> {
  return Object.fromEntries(Object.entries(record).sort(([a], [b]) => (a < b ? -1 : 1)));
}

/** A type in Pulumi's package schema, as far as it is needed here. */
export interface TypeSpec {
  type?: string;
  $ref?: string;
  items?: TypeSpec;
  additionalProperties?: TypeSpec;
}

export interface PropertySpec extends TypeSpec {
  description?: string;
  default?: string | number | boolean;
  secret?: boolean;
  willReplaceOnChanges?: boolean;
}

export interface ObjectSpec {
  type: "object";
  description?: string;
  properties: Record<string, PropertySpec>;
  required: string[];
}

export interface ResourceSpec {
  description: string;
  inputProperties: Record<string, PropertySpec>;
  requiredInputs: string[];
  properties: Record<string, PropertySpec>;
  required: string[];
}

/** What zod's JSON schemas of inputs and outputs are made of. */
const jsonSchema = z.looseObject({
  type: z.string().optional(),
  description: z.string().optional(),
  default: z.unknown().optional(),
  items: z.unknown().optional(),
  properties: z.record(z.string(), z.unknown()).optional(),
  required: z.array(z.string()).optional(),
  additionalProperties: z.unknown().optional(),
});

const any: TypeSpec = { $ref: "pulumi.json#/Any" };

/** A resource in Pulumi's package schema, from the zod schemas of its inputs and computed values; nested objects go into `types`. */
export function resourceSchema(definition: AnyDefinition, types: Record<string, ObjectSpec>): ResourceSpec {
  const inputs = objectSchema(definition.type, z.toJSONSchema(definition.inputs, { io: "input" }), types);
  const state = z.object({ ...definition.inputs.shape, ...definition.computed.shape });
  const outputs = objectSchema(definition.type, z.toJSONSchema(state, { io: "output" }), types);
  const secrets: readonly string[] = [...definition.secretInputs, ...definition.secrets];
  const replaceOn: readonly string[] = definition.replaceOn;
  for (const [name, property] of [
    ...Object.entries(inputs.properties),
    ...Object.entries(outputs.properties),
  ]) {
    if (secrets.includes(name)) property.secret = true;
    if (replaceOn.includes(name)) property.willReplaceOnChanges = true;
  }
  for (const property of Object.values(outputs.properties)) delete property.default;
  return {
    description: definition.summary,
    inputProperties: inputs.properties,
    requiredInputs: inputs.required,
    properties: outputs.properties,
    required: outputs.required,
  };
}

function objectSchema(name: string, value: unknown, types: Record<string, ObjectSpec>): ObjectSpec {
  const { properties = {}, required = [], description } = jsonSchema.parse(value);
  const converted = Object.entries(properties).map(([property, schema]): [string, PropertySpec] => [
    property,
    propertySchema(`${name}${capitalised(property)}`, schema, types),
  ]);
  return {
    type: "object",
    ...(description !== undefined && { description }),
    properties: Object.fromEntries(converted),
    required,
  };
}

function propertySchema(name: string, value: unknown, types: Record<string, ObjectSpec>): PropertySpec {
  const { description, default: fallback } = jsonSchema.parse(value);
  const isPlain =
    typeof fallback === "string" || typeof fallback === "number" || typeof fallback === "boolean";
  return {
    ...typeSchema(name, value, types),
    ...(description !== undefined && { description }),
    ...(isPlain && { default: fallback }),
  };
}

function typeSchema(name: string, value: unknown, types: Record<string, ObjectSpec>): TypeSpec {
  const schema = jsonSchema.parse(value);
  switch (schema.type) {
    case "string":
    case "number":
    case "integer":
    case "boolean":
      return { type: schema.type };
    case "array":
      return { type: "array", items: typeSchema(`${name}Item`, schema.items ?? {}, types) };
    case "object": {
      if (schema.properties === undefined) {
        const values = schema.additionalProperties;
        return { type: "object", additionalProperties: typeSchema(`${name}Value`, values ?? {}, types) };
      }
      const token = `${packageName}:index:${name}`;
      types[token] = objectSchema(name, value, types);
      return { $ref: `#/types/${token}` };
    }
    default:
      return any;
  }
}

function capitalised(word: string): string {
  return `${word.charAt(0).toUpperCase()}${word.slice(1)}`;
}
