import { readFileSync } from "node:fs";
import { join } from "node:path";

import { z } from "zod";

import { packageRoot } from "../../runtime/api/package-root";
import type { PackageManifest } from "./package-schema";

/** The generated schema, part of the package and of the repository. */
export const schemaFile = (): string => join(packageRoot(), "provider", "plugin", "schema.json");

const manifestSchema = z.object({ name: z.string(), version: z.string(), description: z.string() });

export function packageManifest(): PackageManifest {
  return manifestSchema.parse(JSON.parse(readFileSync(join(packageRoot(), "package.json"), "utf8")));
}
