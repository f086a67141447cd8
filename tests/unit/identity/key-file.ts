import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

/** Runs a program that wants its private key in a file. */
export function withKeyFile<T>(privateKey: string, run: (file: string) => T): T {
  const folder = mkdtempSync(join(tmpdir(), "liqo-key-"));
  try {
    const file = join(folder, "key.pem");
    writeFileSync(file, privateKey, { mode: 0o600 });
    return run(file);
  } finally {
    rmSync(folder, { recursive: true });
  }
}
