const NEWLINE = 0x0a;

/**
 * Splits a byte stream into lines and hands each one over as text.
 *
 * Works on bytes, so that a character cut in two by a chunk's border arrives whole, and a long line spread over many chunks
 * is joined once. A line longer than the limit is an error: it would be the memory of the process that bounds it.
 */
export class LineFramer {
  private parts: Buffer[] = [];
  private held = 0;

  constructor(
    private readonly onLine: (line: string) => void,
    private readonly maxLineBytes = 32 << 20,
  ) {}

  push(chunk: Buffer): void {
    let start = 0;
    for (let end = chunk.indexOf(NEWLINE); end >= 0; end = chunk.indexOf(NEWLINE, start)) {
      this.finish(chunk, start, end);
      start = end + 1;
    }
    if (start === chunk.length) return;
    // A copy where little of a large chunk is left, so that the rest of it can be freed.
    const rest = chunk.subarray(start);
    this.parts.push(rest.length * 4 < chunk.length ? Buffer.from(rest) : rest);
    this.held += rest.length;
    if (this.held > this.maxLineBytes) {
      throw new Error(`a line of the stream is longer than ${this.maxLineBytes} bytes`);
    }
  }

  private finish(chunk: Buffer, start: number, end: number): void {
    if (this.parts.length === 0) {
      if (end > start) this.onLine(chunk.toString("utf8", start, end));
      return;
    }
    this.parts.push(chunk.subarray(start, end));
    const line = Buffer.concat(this.parts).toString("utf8");
    this.parts = [];
    this.held = 0;
    this.onLine(line);
  }
}
