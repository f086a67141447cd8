import { randomBytes } from "node:crypto";
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";

import { cacheFolder, checkoutPrefix, stateFolder } from "../local-cluster/folders";

/**
 * Where the engine keeps its plugins and stacks unless the user decided otherwise: stacks in files below our state folder, those of
 * each checkout by themselves, encrypted with a passphrase that is drawn once a machine. Whoever is logged in to another backend, or names one, keeps it.
 */
export function homeVariables(environment: NodeJS.ProcessEnv): Record<string, string> {
  const variables: Record<string, string> = {};
  const isSet = (name: string) => (environment[name] ?? "") !== "";
  if (!isSet("PULUMI_HOME")) variables["PULUMI_HOME"] = join(cacheFolder(environment), "pulumi-home");
  if (isSet("PULUMI_BACKEND_URL") || isSet("PULUMI_ACCESS_TOKEN")) return variables;
  const stacks = checkoutBackend(environment);
  mkdirSync(stacks, { recursive: true });
  variables["PULUMI_BACKEND_URL"] = `file://${stacks}`;
  if (!isSet("PULUMI_CONFIG_PASSPHRASE") && !isSet("PULUMI_CONFIG_PASSPHRASE_FILE")) {
    variables["PULUMI_CONFIG_PASSPHRASE_FILE"] = passphraseFile(environment);
  }
  return variables;
}

/** The backend of this checkout's stacks, where the user named none. */
export function checkoutBackend(environment: NodeJS.ProcessEnv = process.env): string {
  return join(stateFolder(environment), "stacks", checkoutPrefix(environment));
}

function passphraseFile(environment: NodeJS.ProcessEnv): string {
  const file = join(stateFolder(environment), "passphrase");
  mkdirSync(dirname(file), { recursive: true });
  try {
    writeFileSync(file, `${randomBytes(24).toString("base64")}\n`, { mode: 0o600, flag: "wx" });
  } catch {
    readFileSync(file); // it was there: readable is all it has to be
  }
  return file;
}
