import { Analyzer } from "@pulumi/pulumi/provider/experimental/analyzer";
import { generateSchema } from "@pulumi/pulumi/provider/experimental/schema";

import { resources } from "../index";
import { packageName } from "../core/liqo-resource";
import { componentNames } from "./components";
import { resourceSchema, type ObjectSpec, type ResourceSpec } from "./resource-schema";

export interface PackageManifest {
  name: string;
  version: string;
  description: string;
}

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
