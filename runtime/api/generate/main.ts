import { mkdirSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";

import { packageRoot } from "../package-root";
import { CRD_FOLDER, generatedFiles, REFERENCE_FOLDER } from "./generated-files";

/** Writes the CRDs and the reference pages, and removes those of kinds that are no more. */
function main(): void {
  const files = generatedFiles();
  for (const folder of [CRD_FOLDER, REFERENCE_FOLDER]) {
    mkdirSync(join(packageRoot(), folder), { recursive: true });
    for (const name of readdirSync(join(packageRoot(), folder))) {
      if (!files.has(`${folder}/${name}`)) rmSync(join(packageRoot(), folder, name));
    }
  }
  for (const [path, content] of files) writeFileSync(join(packageRoot(), path), content);
  process.stdout.write(`${files.size} files in ${CRD_FOLDER} and ${REFERENCE_FOLDER}\n`);
}

main();
