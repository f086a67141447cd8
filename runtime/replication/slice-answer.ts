import { z } from "zod";

import { isReservedNodeLabel } from "../api";
import { amountFaults } from "../api/quantity";
import { sentencesOf } from "../api/invalid-object";
import { authParamsFaults, knownAuthParams } from "../identity";
import type { Answer } from "./answer";
import { atMost, className, conditionTexts, labels, loadBalancerClassName } from "./answer-fields";

/** The built-in class writes two conditions; classes of others may add theirs where the API lets them. */
const MOST_CONDITIONS = 16;
const MOST_RESOURCES = 256;
const MOST_CLASSES = 512;
const MOST_LABELS = 256;

const sliceAnswer = z.object({
  observedGeneration: z.int().min(0).optional(),
  conditions: atMost(
    MOST_CONDITIONS,
    z.array(
      z.object({
        type: z.enum(["Authentication", "Resources"]),
        status: z.enum(["Accepted", "Denied"]),
        ...conditionTexts(),
      }),
    ),
  ).optional(),
  resources: atMost(
    MOST_RESOURCES,
    z.record(z.string().max(317), z.union([z.string().max(128), z.number()])),
  ).optional(),
  authParams: z.record(z.string(), z.unknown()).optional(),
  storageClasses: classes("storageClassName", className()).optional(),
  ingressClasses: classes("ingressClassName", className()).optional(),
  loadBalancerClasses: classes("loadBalancerClassName", loadBalancerClassName()).optional(),
  nodeLabels: labels(MOST_LABELS).optional(),
  nodeSelector: labels(MOST_LABELS).optional(),
});

function classes(field: string, name: z.ZodString) {
  return atMost(MOST_CLASSES, z.array(z.object({ [field]: name, default: z.boolean().optional() })));
}

const renewAnswer = z.object({
  observedGeneration: z.int().min(0).optional(),
  authParams: z.record(z.string(), z.unknown()).optional(),
});

/**
 * What a provider answers to a ResourceSlice (control plane reference 2.5 and 10). It is taken as a whole or not at all: an accepted slice without the
 * part that was refused would be another grant. Labels that are not the provider's to give are left out.
 */
export function readSliceAnswer(status: unknown): Answer {
  const parsed = sliceAnswer.safeParse(status);
  if (!parsed.success)
    return { status: undefined, refused: sentencesOf(parsed.error, withoutSecrets(status)) };
  const { resources, authParams, nodeLabels } = parsed.data;
  const faults = [
    ...amountFaults(resources ?? {}).map((fault) => `resources: ${fault}`),
    ...faultsOf(authParams),
  ];
  if (faults.length > 0) return { status: undefined, refused: faults };
  const reserved = Object.keys(nodeLabels ?? {}).filter(isReservedNodeLabel);
  return {
    status: {
      ...parsed.data,
      ...(authParams === undefined ? {} : { authParams: knownAuthParams(authParams) }),
      ...(nodeLabels === undefined ? {} : { nodeLabels: without(nodeLabels, reserved) }),
    },
    refused: reserved.map(
      (key) =>
        `nodeLabels[${JSON.stringify(key)}]: is not the provider's to give; take it from --cluster-labels there`,
    ),
  };
}

/** What a provider answers to a Renew (control plane reference 2.6 and 8.2). */
export function readRenewAnswer(status: unknown): Answer {
  const parsed = renewAnswer.safeParse(status);
  if (!parsed.success)
    return { status: undefined, refused: sentencesOf(parsed.error, withoutSecrets(status)) };
  const { authParams } = parsed.data;
  const faults = faultsOf(authParams);
  if (faults.length > 0) return { status: undefined, refused: faults };
  return {
    status: {
      ...parsed.data,
      ...(authParams === undefined ? {} : { authParams: knownAuthParams(authParams) }),
    },
    refused: [],
  };
}

function faultsOf(authParams: unknown): string[] {
  if (authParams === undefined) return [];
  return authParamsFaults(authParams).map((fault) => `authParams.${fault}`);
}

function without(map: Readonly<Record<string, string>>, keys: readonly string[]): Record<string, string> {
  return Object.fromEntries(Object.entries(map).filter(([key]) => !keys.includes(key)));
}

/** Credentials are not for error texts. */
function withoutSecrets(status: unknown): unknown {
  return typeof status === "object" && status !== null ? { ...status, authParams: {} } : status;
}
