/** Pieces up to this size are joined: each piece costs an object, and bytes may come one by one. */
const JOINED_BYTES = 4096;

/**
 * Bytes of an answer that is still coming, in pieces.
 *
 * Memory is proportional to the bytes, however small the pieces are that they come in; what comes in large pieces is not copied.
 */
export class HeldBytes {
  private pieces: Buffer[] = [];
  private bytes = 0;
  /** Where small pieces are joined, once there are two. */
  private tail: Buffer | undefined;
  private used = 0;

  get length(): number {
    return this.bytes;
  }

  push(piece: Buffer): void {
    this.bytes += piece.length;
    if (this.tail !== undefined) {
      if (this.append(this.tail, piece)) return;
      this.finishTail(this.tail);
    } else {
      const last = this.pieces.at(-1);
      if (last !== undefined && last.length + piece.length <= JOINED_BYTES) {
        this.pieces.pop();
        this.tail = Buffer.allocUnsafe(JOINED_BYTES);
        this.append(this.tail, last);
        this.append(this.tail, piece);
        return;
      }
    }
    this.pieces.push(piece);
  }

  /** All of them, as one; nothing is held afterwards. */
  take(): Buffer {
    if (this.tail !== undefined) this.finishTail(this.tail);
    const [only] = this.pieces;
    const all = only !== undefined && this.pieces.length === 1 ? only : Buffer.concat(this.pieces);
    this.pieces = [];
    this.bytes = 0;
    return all;
  }

  private append(tail: Buffer, piece: Buffer): boolean {
    if (this.used + piece.length > tail.length) return false;
    tail.set(piece, this.used);
    this.used += piece.length;
    return true;
  }

  private finishTail(tail: Buffer): void {
    this.pieces.push(tail.subarray(0, this.used));
    this.tail = undefined;
    this.used = 0;
  }
}
