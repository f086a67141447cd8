import assert from "node:assert/strict";

import fc from "fast-check";

import { LineFramer } from "../../../runtime/kube/cache/watch-stream";

function linesOf(chunks: Buffer[]): string[] {
  const lines: string[] = [];
  const framer = new LineFramer((line) => lines.push(line));
  for (const chunk of chunks) framer.push(chunk);
  return lines;
}

describe("line framer", () => {
  it("gives the same lines however the bytes are cut", () => {
    const line = fc.string({ unit: "grapheme", minLength: 1 }).filter((text) => !text.includes("\n"));
    fc.assert(
      fc.property(
        fc.array(line),
        fc.array(fc.integer({ min: 1, max: 40 }), { minLength: 1 }),
        (lines, sizes) => {
          const bytes = Buffer.from(lines.map((text) => `${text}\n`).join(""));
          const chunks: Buffer[] = [];
          for (let start = 0, i = 0; start < bytes.length; i++) {
            const size = sizes[i % sizes.length] ?? 1;
            chunks.push(bytes.subarray(start, start + size));
            start += size;
          }
          // Text that is not well-formed becomes replacement characters on its way through bytes.
          assert.deepEqual(
            linesOf(chunks),
            lines.map((text) => Buffer.from(text).toString()),
          );
        },
      ),
    );
  });

  it("leaves out empty lines and holds back what has no end yet", () => {
    assert.deepEqual(linesOf([Buffer.from("\n\na\n"), Buffer.from("b"), Buffer.from("c\nd")]), ["a", "bc"]);
  });

  it("refuses a line that is longer than allowed", () => {
    const framer = new LineFramer(() => undefined, 10);
    framer.push(Buffer.from("12345"));
    assert.throws(() => framer.push(Buffer.from("123456")), /longer than 10 bytes/);
  });
});
