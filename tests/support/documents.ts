/** What the README and docs/ tell people to type, as the tests read it. */
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";

import { packageRoot } from "../../runtime/api/package-root";

/** A fenced block of a document. */
export interface DocumentBlock {
  /** `docs/user/peer.md:17`, for messages. */
  at: string;
  /** Empty for commands and output. */
  language: string;
  text: string;
}

/** Generated pages, the contract, and a page that shows signatures in short. Nobody types what they hold. */
const NOT_FOLLOWED = /^(reference\/|contract\/|architecture\.md$)/;

/** Relative paths of the documents that people follow. */
export function documents(): string[] {
  const pages = readdirSync(join(packageRoot(), "docs"), { recursive: true, encoding: "utf8" }).filter(
    (name) => name.endsWith(".md") && !NOT_FOLLOWED.test(name),
  );
  return ["README.md", ...pages.sort().map((name) => `docs/${name}`)];
}

export function blocksOf(document: string): DocumentBlock[] {
  const blocks: DocumentBlock[] = [];
  let open: (DocumentBlock & { lines: string[] }) | undefined;
  for (const [at, line] of read(document).split("\n").entries()) {
    const fence = /^```(\w*)$/.exec(line);
    if (fence === null) open?.lines.push(line);
    else if (open === undefined)
      open = { at: `${document}:${at + 1}`, language: fence[1] ?? "", text: "", lines: [] };
    else {
      blocks.push({ at: open.at, language: open.language, text: open.lines.join("\n") });
      open = undefined;
    }
  }
  return blocks;
}

/** Commands of a program, in blocks and in running text, each once, without comments. */
export function commandsOf(document: string, program: string): string[] {
  const inText = [...read(document).matchAll(/`([^`\n]+)`/g)].map(([, code = ""]) => code);
  const inBlocks = blocksOf(document)
    .filter(({ language }) => language === "")
    .flatMap(({ text }) => text.split("\n"));
  const commands = [...inBlocks, ...inText]
    .map((line) =>
      line
        .replace(/^\$ /, "")
        .replace(/ {2,}.*$/, "")
        .trim(),
    )
    .filter((line) => line.startsWith(`${program} `));
  return [...new Set(commands)];
}

function read(document: string): string {
  return readFileSync(join(packageRoot(), document), "utf8");
}
