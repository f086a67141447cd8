/** Writes `provider/plugin/schema.json` anew: a part of `npm run generate`. */
import { writeFileSync } from "node:fs";

import { packageRoot } from "../runtime/api/package-root";
import { packageSchema } from "./package-schema";
import { packageManifest, schemaFile } from "./plugin-provider";

writeFileSync(
  schemaFile(),
  `${JSON.stringify(packageSchema(packageRoot(), packageManifest()), undefined, 2)}\n`,
);
