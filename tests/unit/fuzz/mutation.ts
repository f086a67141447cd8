import fc from "fast-check";

/** A change of a byte string: some bytes replaced, cut out or put in. */
export interface Mutation {
  at: number;
  cut: number;
  put: Uint8Array;
}

export const mutation: fc.Arbitrary<Mutation> = fc.record({
  at: fc.nat(4_000),
  cut: fc.nat(4),
  put: fc.uint8Array({ maxLength: 4 }),
});

/** Applies changes one after the other; positions are taken modulo the length. */
export function mutated(original: Uint8Array, mutations: readonly Mutation[]): Buffer {
  return mutations.reduce<Buffer>((bytes, { at, cut, put }) => {
    const start = at % (bytes.length + 1);
    return Buffer.concat([bytes.subarray(0, start), put, bytes.subarray(start + cut)]);
  }, Buffer.from(original));
}

/** Text of any kind: printable, control characters, lone surrogates, very long. */
export const anyText: fc.Arbitrary<string> = fc.oneof(
  fc.string({ unit: "binary", maxLength: 60 }),
  fc.string({ unit: "grapheme", maxLength: 60 }),
  fc.string({ maxLength: 20 }).map((text) => text.repeat(500)),
);

/** Runs that stay within seconds on a busy machine; fast-check prints the seed of a failure. */
export const runs = (numRuns: number): fc.Parameters<unknown> => ({ numRuns });

/** Milliseconds that a call takes. */
export function timed(call: () => unknown): number {
  const begin = performance.now();
  call();
  return performance.now() - begin;
}
