/** Order statistics of a sample, as the benchmarks print them. */

/** The value below which the share `q` (0…1) of the sample lies; NaN for an empty sample. */
export function quantile(sample: readonly number[], q: number): number {
  if (sample.length === 0) return NaN;
  const sorted = [...sample].sort((a, b) => a - b);
  const index = Math.min(sorted.length - 1, Math.max(0, Math.ceil(q * sorted.length) - 1));
  return sorted[index] ?? NaN;
}

/** `min / median / max`, each with `digits` decimals. */
export function spread(sample: readonly number[], digits = 1): string {
  return [quantile(sample, 0), quantile(sample, 0.5), quantile(sample, 1)]
    .map((value) => value.toFixed(digits))
    .join(" / ");
}
