import assert from "node:assert/strict";
import { readdirSync, readFileSync } from "node:fs";
import { join, posix } from "node:path";

import { packageRoot } from "../../../runtime/api";
import { commandsOf, documents } from "../../support/documents";

describe("the commands of the documents", () => {
  // tests/e2e/quick-start.test.ts runs those of kubectl as they stand.
  it("of kubectl can be typed as they stand", () => {
    const commands = documents().flatMap((document) =>
      commandsOf(document, "kubectl")
        .filter((command) => command.split(" ").length > 2)
        .map((command) => `${document}: ${command}`),
    );
    assert.ok(commands.length >= 12, `${commands.length} commands`);
    assert.deepEqual(
      commands.filter((command) => /<[^>]+>/.test(command)),
      [],
    );
  });
});

describe("the files that documents name", () => {
  const pages = [...documents(), "docs/architecture.md", "CONTRIBUTING.md"];
  const read = (page: string) => readFileSync(join(packageRoot(), page), "utf8");
  const sources = ["components", "plugin", "provider", "runtime", "scripts", "tests"].flatMap((folder) =>
    readdirSync(join(packageRoot(), folder), { recursive: true, encoding: "utf8" }).map(
      (path) => `/${folder}/${path}`,
    ),
  );

  it("are there, as links", () => {
    const broken = pages.flatMap((page) =>
      [...read(page).matchAll(/\]\((?![a-z]+:)([^)\s#]+)(?:#[^)]*)?\)/g)]
        .map(([, target = ""]) => posix.join(posix.dirname(page), target))
        .filter((target) => !isThere(target))
        .map((target) => `${page}: ${target}`),
    );
    assert.deepEqual(broken, []);
  });

  it("are there, as sources: `virtual-kubelet/start.ts` and `tests/unit/ipam` alike", () => {
    const named = pages.flatMap((page) =>
      [...read(page).matchAll(/`((?:[\w.*{},-]+\/)+[\w.*{},-]+)`/g)].map(([, path = ""]) => ({ page, path })),
    );
    const ofSources = named.filter(
      ({ path }) => path.endsWith(".ts") || /^(components|plugin|runtime|scripts|tests)\//.test(path),
    );
    assert.ok(ofSources.length > 100, `${ofSources.length} found`);
    const missing = ofSources.filter(({ path }) => {
      const pattern = patternOf(path);
      return !sources.some((source) => pattern.test(source));
    });
    assert.deepEqual(
      missing.map(({ page, path }) => `${page}: ${path}`),
      [],
    );
  });

  function isThere(path: string): boolean {
    const folder = join(packageRoot(), posix.dirname(path));
    return readdirSync(folder).includes(posix.basename(path)) || posix.basename(path) === "..";
  }

  /** `{a,b}` and `*` mean what they mean in a shell; an ending may be left out. */
  function patternOf(path: string): RegExp {
    const escaped = path
      .replaceAll(".", "\\.")
      .replaceAll("*", "[^/]*")
      .replace(/\{([^}]*)\}/g, (_, choices: string) => `(${choices.replaceAll(",", "|")})`);
    return new RegExp(`/${escaped}(\\.test)?(\\.ts)?$`);
  }
});
