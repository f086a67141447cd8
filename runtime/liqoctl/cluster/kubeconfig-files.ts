import { readFileSync } from "node:fs";
import { delimiter, dirname, isAbsolute, join, resolve } from "node:path";

import { parse, stringify } from "yaml";
import { z } from "zod";

import { CommandError } from "../failure";

/** A kubeconfig file that was read. */
export interface KubeconfigFile {
  path: string;
  text: string;
}

/** What the flags choose in place of what the files say. */
export interface KubeconfigChoice {
  context?: string | undefined;
  cluster?: string | undefined;
  user?: string | undefined;
}

/**
 * Finds the kubeconfig as kubectl does: the flag's file; else the files of `KUBECONFIG`, of which some may be missing; else `~/.kube/config`.
 *
 * @param flag name of the flag, for messages
 * @throws CommandError that names what was looked for
 */
export function findKubeconfigFiles(
  path: string | undefined,
  flag: string,
  world: {
    environment: Readonly<Record<string, string | undefined>>;
    home: string;
    workingDirectory: string;
  },
): KubeconfigFile[] {
  if (path !== undefined) {
    const file = resolve(world.workingDirectory, path);
    const text = read(file);
    if (text === undefined)
      throw new CommandError(
        `${flag} ${path}: there is no such file`,
        `give ${flag} the path of a kubeconfig`,
      );
    return [{ path: file, text }];
  }
  const variable = world.environment.KUBECONFIG ?? "";
  const listed = variable.split(delimiter).filter((entry) => entry !== "");
  const candidates =
    listed.length > 0
      ? listed.map((entry) => resolve(world.workingDirectory, entry))
      : [join(world.home, ".kube", "config")];
  const found = candidates.flatMap((file) => {
    const text = read(file);
    return text === undefined ? [] : [{ path: file, text }];
  });
  if (found.length === 0) {
    const looked = listed.length > 0 ? `KUBECONFIG names ${variable}` : `~/.kube/config was looked for`;
    throw new CommandError(
      `no kubeconfig: ${looked}, and there is no such file`,
      `give ${flag}, or set KUBECONFIG to the path of one`,
    );
  }
  return found;
}

function read(path: string): string | undefined {
  try {
    return readFileSync(path, "utf8");
  } catch (error) {
    if (error instanceof Error && "code" in error && error.code === "ENOENT") return undefined;
    const why = error instanceof Error ? error.message : String(error);
    throw new CommandError(`kubeconfig ${path} cannot be read: ${why}`, undefined, { cause: error });
  }
}

const body = () => z.record(z.string(), z.unknown()).nullish();
const listOf = <Entry extends z.ZodType>(entry: Entry) =>
  z
    .array(entry)
    .nullish()
    .transform((entries) => entries ?? []);
const Config = z.looseObject({
  "current-context": z.string().optional(),
  clusters: listOf(z.looseObject({ name: z.string(), cluster: body() })),
  users: listOf(z.looseObject({ name: z.string(), user: body() })),
  contexts: listOf(z.looseObject({ name: z.string(), context: body() })),
});

/** Fields that are paths, relative to the file that they stand in. */
const PATHS = ["certificate-authority", "client-certificate", "client-key", "tokenFile"];

/**
 * One kubeconfig of several: of each name the first entry counts, of the current context the first that is set.
 *
 * @returns its text, for `KubeClient.fromKubeconfig`
 */
export function mergeKubeconfigs(files: readonly KubeconfigFile[], choice: KubeconfigChoice = {}): string {
  const configs = files.map(decode);
  const merged = {
    apiVersion: "v1",
    kind: "Config",
    "current-context":
      choice.context ?? configs.map((config) => config["current-context"]).find((name) => name) ?? "",
    clusters: firstOfEachName(configs.flatMap(({ clusters }) => clusters)),
    users: firstOfEachName(configs.flatMap(({ users }) => users)),
    contexts: firstOfEachName(configs.flatMap(({ contexts }) => contexts)),
  };
  if (choice.cluster !== undefined || choice.user !== undefined) {
    merged.contexts = merged.contexts.map((entry) =>
      entry.name === merged["current-context"]
        ? {
            ...entry,
            context: {
              ...entry.context,
              ...(choice.cluster !== undefined && { cluster: choice.cluster }),
              ...(choice.user !== undefined && { user: choice.user }),
            },
          }
        : entry,
    );
  }
  return stringify(merged);
}

function decode({ path, text }: KubeconfigFile): z.output<typeof Config> {
  let value: unknown;
  try {
    value = parse(text, { logLevel: "error" }) ?? {};
  } catch {
    // No cause: parsers quote the text, and the text holds keys.
    throw new CommandError(`kubeconfig ${path} is neither YAML nor JSON`);
  }
  const result = Config.safeParse(value);
  if (!result.success) {
    const [issue] = result.error.issues;
    throw new CommandError(
      `kubeconfig ${path}: ${(issue?.path ?? []).join(".")}: ${issue?.message ?? "is wrong"}`,
    );
  }
  const { clusters, users, ...rest } = result.data;
  const absolute = (fields: Record<string, unknown> | null | undefined) =>
    Object.fromEntries(
      Object.entries(fields ?? {}).map(([field, value]) => [
        field,
        PATHS.includes(field) && typeof value === "string" && value !== "" && !isAbsolute(value)
          ? resolve(dirname(path), value)
          : value,
      ]),
    );
  return {
    ...rest,
    clusters: clusters.map((entry) => ({ ...entry, cluster: absolute(entry.cluster) })),
    users: users.map((entry) => ({ ...entry, user: absolute(entry.user) })),
  };
}

function firstOfEachName<T extends { name: string }>(entries: readonly T[]): T[] {
  return [...new Map([...entries].reverse().map((entry) => [entry.name, entry])).values()].reverse();
}
