/** What the data of a Secret, or a field of bytes, holds. */
export function base64(value: string | Uint8Array): string {
  return Buffer.from(value).toString("base64");
}
