/** Samples about the node as a whole: with several providers behind one endpoint they would be taken for one node's. */
const NODE_SAMPLES = /^(node_|scrape_error|machine_)/;

/**
 * Puts the metrics of several providers into one text, each family once, as scrapers demand. From more than one provider only the samples
 * about pods are taken.
 *
 * @param texts in the Prometheus text format
 */
export function mergeMetrics(texts: readonly string[]): string {
  if (texts.length <= 1) return texts[0] ?? "";
  const families = new Map<string, { comments: string[]; samples: string[] }>();
  for (const text of texts) for (const line of text.split("\n")) add(families, line);
  let merged = "";
  for (const { comments, samples } of families.values()) {
    if (samples.length > 0) merged += `${[...comments, ...samples].join("\n")}\n`;
  }
  return merged;
}

function add(families: Map<string, { comments: string[]; samples: string[] }>, line: string): void {
  const comment = /^# (?:HELP|TYPE) (\S+)/.exec(line)?.[1];
  const name = comment ?? /^[a-zA-Z_:][\w:]*/.exec(line)?.[0];
  if (name === undefined || NODE_SAMPLES.test(name)) return;
  const key = comment ?? familyOf(name, families);
  const family = families.get(key) ?? { comments: [], samples: [] };
  families.set(key, family);
  if (comment === undefined) family.samples.push(line);
  else if (!family.comments.includes(line) && family.comments.length < 2) family.comments.push(line);
}

/** The samples of a histogram or summary have names of their own. */
function familyOf(name: string, families: ReadonlyMap<string, unknown>): string {
  const stem = name.replace(/_(bucket|sum|count)$/, "");
  return families.has(name) || !families.has(stem) ? name : stem;
}
