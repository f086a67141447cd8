import { readFile } from "node:fs/promises";
import { join } from "node:path";

import { wireGuardKeyPair } from "../identity";

/**
 * The gateway's private key in base64, from the folder that its Secret is mounted at.
 *
 * @throws Error saying what is wrong with the file, never what is in it
 */
export async function readPrivateKey(folder: string): Promise<string> {
  const path = join(folder, "privateKey");
  let bytes: Buffer;
  try {
    bytes = await readFile(path);
  } catch (cause) {
    throw new Error(`${path} cannot be read; mount the Secret with the gateway's keys there`, { cause });
  }
  if (bytes.length !== 32) {
    throw new Error(`${path} has ${bytes.length} bytes; a WireGuard key has 32, not in base64`);
  }
  // WireGuard shows keys in their clamped form, which is what is compared later.
  return wireGuardKeyPair(bytes).privateKey;
}
