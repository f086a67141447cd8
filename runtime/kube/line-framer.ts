import { HeldBytes } from "./held-bytes";

const NEWLINE = 0x0a;

/**
 * Splits a byte stream into lines and hands each one over as text.
 *
 * Works on bytes, so that a character cut in two by a chunk's border arrives whole, and a long line spread over many chunks
 * is joined once. A line longer than the limit is an error: it would be the memory of the process that bounds it.
 */
export class LineFramer {
  private readonly held = new HeldBytes();

  /**
   * @param onLine is told the length in bytes too
   * @param tooLong makes the error of a line that is too long
   */
  constructor(
    private readonly onLine: (line: string, bytes: number) => void,
    private readonly maxLineBytes = 32 << 20,
    private readonly tooLong = (bytes: number): Error =>
      new Error(`a line of the stream is longer than ${maxLineBytes} bytes: ${bytes} have come`),
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
    this.held.push(rest.length * 4 < chunk.length ? Buffer.from(rest) : rest);
    this.check(this.held.length);
  }

  private finish(chunk: Buffer, start: number, end: number): void {
    if (this.held.length === 0) {
      this.check(end - start);
      if (end > start) this.onLine(chunk.toString("utf8", start, end), end - start);
      return;
    }
    this.held.push(chunk.subarray(start, end));
    const { length } = this.held;
    this.check(length);
    this.onLine(this.held.take().toString("utf8"), length);
  }

  private check(bytes: number): void {
    if (bytes > this.maxLineBytes) throw this.tooLong(bytes);
  }
}
