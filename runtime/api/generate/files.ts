import { stringify } from "yaml";

import { OWN_KINDS } from "../own-kinds";
import { crdOf } from "./custom-resource-definition";
import { pageName, referenceIndex, referencePage } from "./reference-page";

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
