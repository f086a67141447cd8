/** One metric with its samples, each a line as it stands in the text. */
export interface Family {
  name: string;
  /** The lines `# HELP` and `# TYPE`, as far as there are any. */
  help: string | undefined;
  type: string | undefined;
  samples: Sample[];
}

export interface Sample {
  name: string;
  labels: Map<string, string>;
  /** As it stands there. */
  value: string;
  /** Milliseconds since 1970; undefined where the line has none. */
  timestamp: number | undefined;
}

/** Only `\n` ends a line here; Unicode's separators may stand in a label. */
const SAMPLE = /^([a-zA-Z_:][\w:]*)(?:\{(.*)\})?[ \t]+(\S+)(?:[ \t]+(-?\d+))?[ \t]*$/s;
const LABEL = /([a-zA-Z_]\w*)="((?:[^"\\]|\\.)*)"/gs;

/**
 * Reads the Prometheus text format line by line.
 *
 * @param wanted which samples are read, decided by the bare line before it is taken apart; the rest costs next to nothing
 */
export function parseFamilies(text: string, wanted: (line: string) => boolean = () => true): Family[] {
  const families = new Map<string, Family>();
  const of = (name: string): Family => {
    const known = families.get(name);
    if (known !== undefined) return known;
    const made: Family = { name, help: undefined, type: undefined, samples: [] };
    families.set(name, made);
    return made;
  };
  for (const line of text.split("\n")) {
    if (line.startsWith("#")) {
      const [, kind, name] = /^# (HELP|TYPE) (\S+)/.exec(line) ?? [];
      if (name === undefined) continue;
      if (kind === "HELP") of(name).help ??= line;
      else of(name).type ??= line;
      continue;
    }
    if (line === "" || !wanted(line)) continue;
    const sample = parseSample(line);
    if (sample !== undefined) of(familyOf(sample.name, families)).samples.push(sample);
  }
  return [...families.values()].filter(({ samples }) => samples.length > 0);
}

/** Undefined for a line that is no sample. */
export function parseSample(line: string): Sample | undefined {
  const match = SAMPLE.exec(line);
  if (match === null) return undefined;
  const [, name = "", labels = "", value = "", timestamp] = match;
  const pairs = [...labels.matchAll(LABEL)].map(([, key = "", text = ""]): [string, string] => [
    key,
    text.replace(/\\(.)/gs, (_all, character: string) => (character === "n" ? "\n" : character)),
  ]);
  return {
    name,
    labels: new Map(pairs),
    value,
    timestamp: timestamp === undefined ? undefined : Number(timestamp),
  };
}

/** The samples of histograms and summaries have names of their own. */
function familyOf(name: string, families: ReadonlyMap<string, Family>): string {
  const stem = name.replace(/_(bucket|sum|count)$/, "");
  return families.has(name) || !families.has(stem) ? name : stem;
}

/** Puts families of several sources together, each once, in the order of their names. */
export function mergeFamilies(sources: readonly (readonly Family[])[]): Family[] {
  const merged = new Map<string, Family>();
  for (const family of sources.flat()) {
    const known = merged.get(family.name);
    if (known === undefined) merged.set(family.name, { ...family, samples: [...family.samples] });
    else {
      known.help ??= family.help;
      known.type ??= family.type;
      known.samples.push(...family.samples);
    }
  }
  return [...merged.values()].sort((a, b) => (a.name < b.name ? -1 : 1));
}

export function printFamilies(families: readonly Family[]): string {
  let text = "";
  for (const { help, type, samples } of families) {
    for (const comment of [help, type]) if (comment !== undefined) text += `${comment}\n`;
    for (const sample of samples) text += `${printSample(sample)}\n`;
  }
  return text;
}

function printSample({ name, labels, value, timestamp }: Sample): string {
  const pairs = [...labels].map(([key, text]) => `${key}="${escaped(text)}"`);
  const braces = pairs.length === 0 ? "" : `{${pairs.join(",")}}`;
  return `${name}${braces} ${value}${timestamp === undefined ? "" : ` ${timestamp}`}`;
}

function escaped(text: string): string {
  return text.replace(/\\/g, "\\\\").replace(/"/g, '\\"').replace(/\n/g, "\\n");
}
