/**
 * The nodes that a replica gives up so that all replicas host about as many: those beyond its share, last names first. Nodes that were
 * offered lately stay.
 */
export function surplus(
  hosted: readonly string[],
  total: number,
  replicas: number,
  offered: ReadonlySet<string>,
): string[] {
  const share = Math.ceil(total / Math.max(1, replicas));
  const excess = hosted.length - share;
  if (excess <= 0) return [];
  return [...hosted]
    .sort()
    .reverse()
    .filter((key) => !offered.has(key))
    .slice(0, excess);
}
