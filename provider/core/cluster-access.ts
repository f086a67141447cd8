import * as pulumi from "@pulumi/pulumi";
import { z } from "zod";

import type { Kind, KubeObject } from "../../runtime/api";
import {
  isForbidden,
  isNotFound,
  type KubeClient,
  KubeconfigError,
  type ListOptions,
  parseKubeconfig,
} from "../../runtime/kube";
import type { ClusterAccess, ProviderContext } from "./definition";

/** The arguments that everything has which looks into a cluster. */
export interface ClusterArgs {
  /** Text of the kubeconfig of the cluster to look into; kept as a secret. */
  kubeconfig: pulumi.Input<string>;
  /** Context of the kubeconfig; the current one by default. */
  context?: pulumi.Input<string>;
}

/** The same arguments with the kubeconfig as a secret, whatever it came as. */
export function withSecretKubeconfig<Args extends ClusterArgs>(args: Args): Args {
  return { ...args, kubeconfig: pulumi.secret(args.kubeconfig) };
}

/** The inputs that everything has which looks into a cluster. */
export const clusterInputs = {
  kubeconfig: z
    .string({ error: "is missing; give the text of a kubeconfig" })
    .min(1, "is empty; give the text of a kubeconfig")
    .superRefine((text, issues) => {
      const fault = kubeconfigFault(text);
      if (fault !== undefined) issues.addIssue({ code: "custom", message: fault });
    })
    .describe("Text of the kubeconfig of the cluster to look into."),
  context: z.string().min(1).optional().describe("Context of the kubeconfig; the current one by default."),
};

/** Why a text is no kubeconfig; its own words are secret, so only names of fields and contexts are told. The context is checked on use. */
function kubeconfigFault(text: string): string | undefined {
  if (text === "") return undefined;
  if (/^[~./][^\n]*$/.test(text.trim()))
    return 'is a path; give the text of the file, such as readFileSync(path, "utf8")';
  try {
    parseKubeconfig(text);
    return undefined;
  } catch (error) {
    if (!(error instanceof KubeconfigError) || error.field === "current-context") return undefined;
    return `is no kubeconfig: ${error.message}`;
  }
}

/** How long to wait: seconds, with a default. */
export function timeoutInput(defaultSeconds: number) {
  return z
    .number()
    .int()
    .min(1)
    .max(3600)
    .default(defaultSeconds)
    .describe(`Longest time to wait, in seconds; ${defaultSeconds} by default.`);
}

/** What an answer depends on beside the other inputs, as texts that stand for it. */
export const triggersInput = z
  .record(z.string(), z.string())
  .optional()
  .describe("Arbitrary values: when one changes, look again.");

/** The name of a Kubernetes object or namespace. */
export const nameInput = z
  .string({ error: "is missing; give a name" })
  .regex(/^[a-z0-9]([-a-z0-9.]*[a-z0-9])?$/, "is not a name; use lower-case letters, digits, '-' and '.'")
  .max(253);

/** The ID of a cluster. */
export const clusterIDInput = z
  .string({ error: "is missing; give the cluster's ID" })
  .regex(/^[a-z0-9]([-a-z0-9]*[a-z0-9])?$/, "is not a cluster ID; use lower-case letters, digits and '-'")
  .max(63);

/** Works with a client of the cluster, which is closed afterwards. */
export async function inCluster<T>(
  cluster: ClusterAccess,
  context: ProviderContext,
  work: (client: KubeClient) => Promise<T>,
): Promise<T> {
  const client = context.connect(cluster);
  try {
    return await work(client);
  } finally {
    client.close();
  }
}

/** `namespace/name`, or the name alone. */
export function objectId(ref: { name: string; namespace?: string | undefined }): string {
  return ref.namespace === undefined ? ref.name : `${ref.namespace}/${ref.name}`;
}

/** Longest time for one look, as a refresh takes it. */
export const lookMs = 10_000;

/** What may be read; undefined where it is not there, or not ours to read. */
export async function asFarAsAllowed<T>(reading: Promise<T>): Promise<T | undefined> {
  try {
    return await reading;
  } catch (error) {
    if (isForbidden(error) || isNotFound(error)) return undefined;
    throw error;
  }
}

/** The objects of a kind; none where it is not defined. */
export async function listIfServed<T extends KubeObject>(
  client: KubeClient,
  kind: Kind<T>,
  { signal }: ProviderContext,
  selection: ListOptions = {},
): Promise<T[]> {
  try {
    return await client.list(kind, selection, { signal, deadlineMs: lookMs });
  } catch (error) {
    if (isNotFound(error)) return []; // its definition is gone already
    throw error;
  }
}
