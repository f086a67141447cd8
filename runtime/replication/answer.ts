import { z } from "zod";

import { isReservedNodeLabel, type Kind, NamespaceMap, Renew, ResourceSlice } from "../api";
import { isRecord } from "../api/invalid-object";
import type { Replicable } from "./copy";
import { amountFaults } from "../api/quantity";
import { sentencesOf } from "../api/invalid-object";
import { authParamsFaults, knownAuthParams } from "../identity";
import { ownEntry } from "../plan/peer-objects";

/** What a provider says in the status of a copy, as far as it may. */
export interface Answer {
  /** What the source may take over; undefined where nothing of it is usable, and the source keeps what it has. */
  status: Record<string, unknown> | undefined;
  /** What was refused, a sentence each, with the field's path first. No secret is quoted. */
  refused: string[];
}

/** Characters of JSON. An API server takes objects of one and a half million at most, and the source holds more than the status. */
const LONGEST_STATUS = 1024 * 1024;

/**
 * Reads the status of a copy. The provider is a stranger: it owns the API server that answers, so not even the schema of the kind holds there. Fields
 * that nobody knows are left out.
 *
 * @param source as the provider is to see it
 */
export function readAnswer(kind: Kind<Replicable>, source: Replicable, copy: Replicable): Answer {
  const { status } = copy;
  if (!isRecord(status)) return { status: {}, refused: [] };
  const length = JSON.stringify(status).length;
  if (length > LONGEST_STATUS) {
    const fault = `has ${length} characters; the maximum is ${LONGEST_STATUS}`;
    return { status: undefined, refused: [fault] };
  }
  switch (kind.plural) {
    case ResourceSlice.plural:
      return readSliceAnswer(status);
    case Renew.plural:
      return readRenewAnswer(status);
    case NamespaceMap.plural:
      return readMapAnswer(status, mapSourceOf(source));
    default:
      throw new Error(`${kind.plural}: nothing says what a provider may answer`);
  }
}

function mapSourceOf({ spec, status }: Replicable): Parameters<typeof readMapAnswer>[1] {
  const desired = isRecord(spec) && isRecord(spec.desiredMapping) ? spec.desiredMapping : {};
  const known = isRecord(status) && isRecord(status.currentMapping) ? status.currentMapping : {};
  return {
    desired: texts(desired),
    known: Object.fromEntries(
      Object.entries(known).map(([namespace, entry]) => [namespace, isRecord(entry) ? texts(entry) : {}]),
    ),
  };
}

function texts(entries: Readonly<Record<string, unknown>>): Record<string, string> {
  return Object.fromEntries(
    Object.entries(entries).filter((entry): entry is [string, string] => typeof entry[1] === "string"),
  );
}

// Fields of an answer, each in the range that a provider may use: that of Kubernetes where it has one; the counts are generous.

/** A namespace, at either end. */
export const namespaceName = () =>
  z
    .string()
    .max(63)
    .regex(/^[a-z0-9]([-a-z0-9]*[a-z0-9])?$/, "is no name of a namespace");

/** A StorageClass or IngressClass. */
const className = () =>
  z
    .string()
    .max(253)
    .regex(/^[a-z0-9]([-a-z0-9.]*[a-z0-9])?$/, "is no name of a class");

/** A load balancer class: a name with a domain before it, or without. */
export const loadBalancerClassName = () =>
  z
    .string()
    .max(317)
    .regex(/^[A-Za-z0-9]([-A-Za-z0-9_./]*[A-Za-z0-9])?$/, "is no name of a load balancer class");

const labelKey = () =>
  z
    .string()
    .max(317)
    .regex(
      /^([a-z0-9]([-a-z0-9.]*[a-z0-9])?\/)?[A-Za-z0-9]([-A-Za-z0-9_.]{0,61}[A-Za-z0-9])?$/,
      "is no key of a label",
    );

const labelValue = () =>
  z
    .string()
    .max(63)
    .regex(/^([A-Za-z0-9]([-A-Za-z0-9_.]*[A-Za-z0-9])?)?$/, "is no value of a label");

const labels = (most: number) => atMost(most, z.record(labelKey(), labelValue()));

/** Texts of a condition, as long as Kubernetes' own conditions may have them. */
const conditionTexts = () => ({
  lastTransitionTime: z
    .string()
    .max(64)
    .regex(
      /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?(Z|[+-]\d\d:\d\d)$/,
      "is no time as in 2026-05-04T12:00:00Z",
    )
    .optional(),
  reason: z.string().max(1_024).optional(),
  message: z.string().max(32_768).optional(),
});

/** A list or a map with a limited number of entries, which are counted before any is looked at. */
function atMost<Schema extends z.ZodType>(most: number, schema: Schema) {
  return z
    .unknown()
    .check(z.refine((value) => sizeOf(value) <= most, `has more than ${most} entries`))
    .pipe(schema);
}

function sizeOf(value: unknown): number {
  return typeof value === "object" && value !== null ? Object.keys(value).length : 0;
}

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
function readSliceAnswer(status: unknown): Answer {
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
function readRenewAnswer(status: unknown): Answer {
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

/** A map with that many entries does not fit into an object of an API server. */
const MOST_ENTRIES = 20_000;

const mapAnswer = z.object({
  observedGeneration: z.int().min(0).optional(),
  currentMapping: z.record(z.string(), z.unknown()).optional(),
});

const entry = z.object({
  remoteNamespace: namespaceName().optional(),
  phase: z.enum(["Accepted", "CreationLoopBackOff", "Terminating"]).optional(),
});

/** What this cluster has of a NamespaceMap. */
interface MapSource {
  /** What it asks of the provider. */
  desired: Readonly<Record<string, string>>;
  /** What it knows of the provider's answer. */
  known: Readonly<Record<string, { remoteNamespace?: string | undefined; phase?: string | undefined }>>;
}

/**
 * What a provider answers to a NamespaceMap (offloading reference 2.2 and 4.4), entry by entry: one that is refused holds up no other, and stays what
 * it was. The provider accepts or fails what was asked, under the name that was asked. What is asked no more, or had another name, it may go on to
 * answer as it did before, and of anything it may say that it is on its way out.
 */
function readMapAnswer(status: unknown, source: MapSource): Answer {
  const parsed = mapAnswer.safeParse(status);
  if (!parsed.success) return { status: undefined, refused: sentencesOf(parsed.error, status) };
  const { currentMapping, ...rest } = parsed.data;
  if (currentMapping === undefined) return { status: rest, refused: [] };
  const entries = Object.entries(currentMapping);
  if (entries.length > MOST_ENTRIES)
    return { status: undefined, refused: [`currentMapping: has more than ${MOST_ENTRIES} entries`] };
  const taken: [string, z.infer<typeof entry>][] = [];
  const refused: string[] = [];
  for (const [namespace, value] of entries) {
    const read = readEntry(namespace, value, source);
    if (typeof read === "string") {
      refused.push(read);
      const before = entry.safeParse(ownEntry(source.known, namespace));
      if (before.success) taken.push([namespace, before.data]);
    } else taken.push([namespace, read]);
  }
  return { status: { ...rest, currentMapping: Object.fromEntries(taken) }, refused };
}

/** @returns a sentence where the entry is refused */
function readEntry(namespace: string, value: unknown, source: MapSource): z.infer<typeof entry> | string {
  const at = `currentMapping[${JSON.stringify(namespace.slice(0, 63))}]`;
  if (!namespaceName().safeParse(namespace).success) return `${at}: is no name of a namespace`;
  const parsed = entry.safeParse(value);
  if (!parsed.success) {
    const [fault = "is not an entry of a map"] = sentencesOf(parsed.error, value);
    return `${at}.${fault}`;
  }
  const answer = parsed.data;
  const asked = ownEntry(source.desired, namespace);
  const known = ownEntry(source.known, namespace);
  const wasSaid = known?.phase === answer.phase && known?.remoteNamespace === answer.remoteNamespace;
  if (answer.phase === "Terminating" || wasSaid) return answer;
  if (asked === undefined) return `${at}: was not asked for`;
  if (answer.remoteNamespace !== undefined && answer.remoteNamespace !== asked)
    return `${at}.remoteNamespace: ${JSON.stringify(answer.remoteNamespace)} is not ${JSON.stringify(asked)}, which was asked for`;
  return answer;
}
