/** Citations of the contract (docs/contract) in code and documents, as the tests find and resolve them. */

export type Contract = "control-plane" | "networking" | "offloading";

export interface Citation {
  /** Of the file, from 1. */
  line: number;
  /** Undefined where only the folder of the file tells. */
  contract: Contract | undefined;
  section: string;
}

/** What may stand between two words of running text: blanks, or the end of a line of a comment or a document. */
const GAP = String.raw`(?:[ \t]+|[ \t]*\n[ \t]*(?:\*|//)?[ \t]*)`;
const NUMBER = String.raw`\d+(?:\.\d+)*`;
const JOINT = String.raw`(?:,${GAP}(?:and${GAP})?(?:vectors?${GAP}in${GAP})?|${GAP}(?:and|or|to|through)${GAP})`;
const NAME = String.raw`\b(control[- ]plane|networking|offloading)${GAP}`;
const NUMBERS = String.raw`(${NUMBER}(?:${JOINT}${NUMBER}(?![\w%-]))*)(?![\w%-])`;
const CITATION = new RegExp(String.raw`(?:${NAME})?\breference${GAP}(?:sections?${GAP})?${NUMBERS}`, "gi");
const CROSS_REFERENCE = new RegExp(`${NAME}${NUMBERS}`, "gi");

/** All citations of a text in their order, each number by itself; of "14.1 to 14.3" both ends. */
export function citationsIn(text: string): Citation[] {
  return found(text, CITATION);
}

/** What the contracts say of each other: "control plane 12.2", without the word reference. */
export function crossReferencesIn(text: string): Citation[] {
  return found(text, CROSS_REFERENCE);
}

function found(text: string, form: RegExp): Citation[] {
  return [...text.matchAll(form)].flatMap((match) => {
    const [whole, name, numbers = ""] = match;
    const contract = name === undefined ? undefined : contractNamed(name);
    const start = match.index + whole.length - numbers.length;
    return [...numbers.matchAll(new RegExp(NUMBER, "g"))].map(({ 0: section, index }) => ({
      line: lineAt(text, start + index),
      contract,
      section,
    }));
  });
}

/**
 * Citations of a page of conformance: its headings and the beginnings of its rows have the numbers alone. A row without a dot counts the
 * rows of its section, so it is none.
 */
export function conformanceRows(text: string): Citation[] {
  const rows = /^(?:(#+ Sections? )|- (?:\*\*)?|\| )(\d+(?:\.\d+)*(?:(?:, | to | and )\d+(?:\.\d+)*)*)/gm;
  return [...text.matchAll(rows)].flatMap(({ 1: heading, 2: numbers = "", index }) =>
    numbers
      .split(/, | to | and /)
      .filter((section) => heading !== undefined || section.includes("."))
      .map((section) => ({ line: lineAt(text, index), contract: undefined, section })),
  );
}

/** Field faults that a text names, such as `B52`. */
export function fieldFaultsIn(text: string): { line: number; fault: string }[] {
  return [...text.matchAll(new RegExp(String.raw`\bfield faults?${GAP}(B\d+)\b`, "gi"))].map((match) => ({
    line: lineAt(text, match.index),
    fault: match[1] ?? "",
  }));
}

/** Which contract a bare "reference 4.4" is about, by the folders of its file. */
export function contractOf(path: string): Contract {
  if (/(^|\/)(networking|gateway|fabric|ipam)\//.test(path) || path.endsWith("conformance-network.md"))
    return "networking";
  return /(^|\/)(virtual-kubelet|offloading)\//.test(path) ? "offloading" : "control-plane";
}

/** Numbers of a contract's headings: of `### 4.4 Kubeconfig Secret` it is `4.4`. */
export function sectionsOf(contract: string): Set<string> {
  return new Set([...contract.matchAll(/^#{2,3} (\d+(?:\.\d+)*)\.? /gm)].map(([, number = ""]) => number));
}

function contractNamed(name: string): Contract {
  const lower = name.toLowerCase();
  return lower === "networking" || lower === "offloading" ? lower : "control-plane";
}

function lineAt(text: string, index: number): number {
  return text.slice(0, index).split("\n").length;
}
