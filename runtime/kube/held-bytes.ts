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

  get length(): number {
    return this.bytes;
  }

  push(piece: Buffer): void {
    this.bytes += piece.length;
    const last = this.pieces.at(-1);
    if (last !== undefined && last.length + piece.length <= JOINED_BYTES)
      this.pieces[this.pieces.length - 1] = Buffer.concat([last, piece]);
    else this.pieces.push(piece);
  }

  /** All of them, as one; nothing is held afterwards. */
  take(): Buffer {
    const [only] = this.pieces;
    const all = only !== undefined && this.pieces.length === 1 ? only : Buffer.concat(this.pieces);
    this.pieces = [];
    this.bytes = 0;
    return all;
  }
}
