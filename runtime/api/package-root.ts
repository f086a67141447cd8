import { readFileSync } from "node:fs";
import { dirname, join } from "node:path";

let found: string | undefined;

/**
 * Folder of the package `pulumi-liqo`, wherever this file was compiled to: the nearest folder above that holds its package.json.
 *
 * @throws if there is none, as in a bundle that was moved out of its package
 */
export function packageRoot(): string {
  found ??= search(__dirname);
  return found;
}

/** Version of this package. */
export function packageVersion(): string {
  const content: unknown = JSON.parse(readFileSync(join(packageRoot(), "package.json"), "utf8"));
  if (
    typeof content === "object" &&
    content !== null &&
    "version" in content &&
    typeof content.version === "string"
  )
    return content.version;
  throw new Error("package.json of pulumi-liqo has no version");
}

function search(from: string): string {
  for (let folder = from; ; folder = dirname(folder)) {
    if (nameOfPackage(folder) === "pulumi-liqo") return folder;
    if (dirname(folder) === folder) {
      throw new Error(
        `no package.json named pulumi-liqo in ${from} or above; keep the compiled files inside the package`,
      );
    }
  }
}

function nameOfPackage(folder: string): unknown {
  try {
    const content: unknown = JSON.parse(readFileSync(join(folder, "package.json"), "utf8"));
    return typeof content === "object" && content !== null && "name" in content ? content.name : undefined;
  } catch {
    return undefined; // none here, or not ours
  }
}
