import assert from "node:assert/strict";
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";

import { packageRoot } from "../../../runtime/api/package-root";
import {
  citationsIn,
  conformanceRows,
  type Contract,
  contractOf,
  crossReferencesIn,
  fieldFaultsIn,
  sectionsOf,
} from "../../support/citations";

const CONTRACTS: readonly Contract[] = ["control-plane", "networking", "offloading"];
/** Files that hold citations as samples. */
const SAMPLES =
  /^(docs\/contract\/README\.md|tests\/unit\/scripts\/citations\.test\.ts|tests\/support\/citations\.ts)$/;

describe("citations of the contract", () => {
  const forms: [text: string, ...found: string[]][] = [
    ["(control plane reference 4.3, the first failure wins)", "control-plane 4.3"],
    ["Control plane reference 12.1 to 12.4, where", "control-plane 12.1", "control-plane 12.4"],
    ["(networking reference 10.3, 10.4)", "networking 10.3", "networking 10.4"],
    ["networking\n * reference 14.1)", "networking 14.1"],
    ["// networking reference 8,\n  // 14.2", "networking 8", "networking 14.2"],
    ["@see offloading reference 6.3", "offloading 6.3"],
    ["offloading reference 16.2, vector in 23.", "offloading 16.2", "offloading 23"],
    ["(control plane reference 10.3, offloading reference 5.7)", "control-plane 10.3", "offloading 5.7"],
    ["reference 2.1 and 7 say what providers write", "2.1", "7"],
    ["reference 3.3, 3.4 and 15.3", "3.3", "3.4", "15.3"],
    ["reference 3, 6, 8 to 10", "3", "6", "8", "10"],
    ["reference sections 4 and 5", "4", "5"],
    ["(control plane reference 6.3, step 6)", "control-plane 6.3"],
    ["(control plane reference 16.1 and quirk 13)", "control-plane 16.1"],
    ["a reference to 3 objects, references 4.4"],
    ["field faults of the reference"],
  ];
  for (const [text, ...expected] of forms) {
    it(`are found in: ${text.replaceAll("\n", "⏎")}`, () => {
      const found = citationsIn(text).map(({ contract, section }) =>
        contract === undefined ? section : `${contract} ${section}`,
      );
      assert.deepEqual(found, expected);
    });
  }

  it("are told by their line", () => {
    assert.deepEqual(
      citationsIn("\nnetworking reference\n * 8, 9").map(({ line }) => line),
      [3, 3],
    );
  });

  const rows: [text: string, ...found: string[]][] = [
    ["## Sections 6 to 8: ranges", "6", "8"],
    ["- **14.1 to 14.7 generated objects**: `x`", "14.1", "14.7"],
    ["- 12.4 restarts with the Secret", "12.4"],
    ["| 21.2 address mapping | `x` |", "21.2"],
    ["- **9 I**"],
  ];
  for (const [text, ...expected] of rows) {
    it(`are found on a page of conformance in: ${text}`, () => {
      const found = conformanceRows(text).map(({ section }) => section);
      assert.deepEqual(found, expected);
    });
  }

  it("are found between the contracts without the word reference", () => {
    const found = crossReferencesIn("(networking 12, 13), with networking; offloading 16.6 has it");
    assert.deepEqual(
      found.map(({ contract, section }) => `${contract} ${section}`),
      ["networking 12", "networking 13", "offloading 16.6"],
    );
  });

  const folders: [path: string, contract: Contract][] = [
    ["runtime/gateway/tunnel.ts", "networking"],
    ["tests/unit/ipam/cidr.test.ts", "networking"],
    ["docs/project/conformance-network.md", "networking"],
    ["runtime/virtual-kubelet/pods/pod-status.ts", "offloading"],
    ["runtime/identity/kubeconfig.ts", "control-plane"],
  ];
  for (const [path, contract] of folders) {
    it(`without a name are of ${contract} in ${path}`, () => assert.equal(contractOf(path), contract));
  }

  it("lead to a section of docs/contract each", () => {
    const sections = new Map(CONTRACTS.map((name) => [name, sectionsOf(read(`docs/contract/${name}.md`))]));
    const citations = files().flatMap((path) => {
      const text = read(path);
      return [
        ...citationsIn(text),
        ...(/\/conformance[^/]*\.md$/.test(path) ? conformanceRows(text) : []),
        ...(path.startsWith("docs/contract/") ? crossReferencesIn(text) : []),
      ].map((citation) => ({ path, ...citation }));
    });
    assert.ok(citations.length > 300, `${citations.length} citations`);
    const nowhere = citations.flatMap(({ path, line, section, contract = contractOf(path) }) =>
      sections.get(contract)?.has(section) === true
        ? []
        : [`${path}:${line}: docs/contract/${contract}.md has no section ${section}`],
    );
    assert.deepEqual(nowhere, []);
  });

  it("of field faults lead to an entry each", () => {
    const entries = new Set(
      [...read("docs/project/field-faults.md").matchAll(/^- \*\*([^*]+)\*\*/gm)].flatMap(([, names = ""]) =>
        names.split(", "),
      ),
    );
    const nowhere = files().flatMap((path) =>
      fieldFaultsIn(read(path))
        .filter(({ fault }) => !entries.has(fault))
        .map(({ line, fault }) => `${path}:${line}: docs/project/field-faults.md has no ${fault}`),
    );
    assert.deepEqual(nowhere, []);
  });
});

describe("the sections of a contract", () => {
  it("are its numbered headings", () => {
    const text = "# Contract\n\n## 4. Keys\n\n### 4.4 Secret\n\n## Other\n\n4.5 text\n";
    assert.deepEqual([...sectionsOf(text)], ["4", "4.4"]);
  });

  for (const contract of CONTRACTS) {
    it(`of docs/contract/${contract}.md are in order, without a gap and none twice`, () => {
      const numbers = [...read(`docs/contract/${contract}.md`).matchAll(/^#{2,3} (\d+(?:\.\d+)?)\.? /gm)].map(
        ([, number = ""]) => number,
      );
      for (const [at, number] of numbers.entries()) {
        if (at > 0) assert.ok(follows(numbers[at - 1] ?? "", number), `${numbers[at - 1]}, then ${number}`);
      }
    });
  }
});

/** Whether a heading comes next: the first one below, the next one beside, or the next chapter. */
function follows(before: string, number: string): boolean {
  const [chapter = 0, part] = before.split(".").map(Number);
  return [`${chapter}.${(part ?? 0) + 1}`, `${chapter + 1}`].includes(number);
}

/** The code and the documents, by their paths in the repository. */
function files(): string[] {
  const code = ["runtime", "provider", "components", "plugin", "tests"].flatMap((folder) =>
    within(folder, ".ts"),
  );
  return [...code, ...within("docs", ".md")].filter((path) => !SAMPLES.test(path));
}

function within(folder: string, extension: string): string[] {
  return readdirSync(join(packageRoot(), folder), { recursive: true, encoding: "utf8" })
    .filter((name) => name.endsWith(extension))
    .sort()
    .map((name) => `${folder}/${name}`);
}

function read(path: string): string {
  return readFileSync(join(packageRoot(), path), "utf8");
}
