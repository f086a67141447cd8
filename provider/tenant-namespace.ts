import { randomBytes } from "node:crypto";

import type * as pulumi from "@pulumi/pulumi";
import { z } from "zod";

import { Annotation, HOLDER_PREFIX, Label, LabelValue, Namespace } from "../runtime/api";
import { ApiError, isConflict, type KubeClient } from "../runtime/kube";
import { tenantNamespace } from "../runtime/plan/peering";
import {
  type ClusterArgs,
  clusterIDInput,
  clusterInputs,
  inCluster,
  lookMs,
  nameInput,
  timeoutInput,
  withSecretKubeconfig,
} from "./core/cluster-access";
import type { ProviderContext } from "./core/definition";
import { resourceFunctions } from "./core/lifecycle";
import { LiqoResource } from "./core/liqo-resource";
import { CREDENTIALS_REFUSED, waitForObject } from "./core/object-wait";
import {
  holdersOf,
  neededInside,
  type Standing,
  standingOf,
  type WantedNamespace,
} from "./tenant-namespace-holders";

const inputs = z.object({
  ...clusterInputs,
  name: nameInput.describe("Name of the namespace."),
  peer: clusterIDInput.describe("ID of the cluster that it is for."),
  holder: z
    .string()
    .regex(/^[a-z0-9]{8,40}$/, "is no mark of a holder; use 8 to 40 lower-case letters and digits")
    .describe("Beginning of the holder's marks, as no other resource of any stack has it."),
  heldBy: z.string().min(1).describe("Who the holder is, in words."),
  timeoutSeconds: timeoutInput(120),
});
type Inputs = z.output<typeof inputs>;

/**
 * The namespace for everything about one peer, which several resources and stacks may need, and liqoctl. Each that needs it holds it by an annotation. It
 * is made by the first, and removed with the last if a stack made it.
 */
export const tenantNamespaceResource = resourceFunctions({
  type: "TenantNamespace",
  summary:
    "Makes the namespace for everything about a peer, or takes the one that is there, and holds it. With its last holder it goes, if a stack made it and nobody else uses it.",
  inputs,
  computed: z.object({
    uid: z.string().describe("UID of the namespace."),
    mark: z.string().describe("The mark by which it is held: another one each time that it is taken."),
  }),
  secrets: [],
  secretInputs: ["kubeconfig"],
  replaceOn: ["name", "peer"],

  create: async (news, context) => ({ id: news.name, computed: await hold(news, newMark(news), context) }),
  read: (_id, state, context) =>
    inCluster(state, context, async (client) => {
      const { mark = "" } = state;
      const found = await look(client, state, context);
      if (found === undefined || !holdersOf(found.metadata).has(mark)) return undefined;
      const { uid = "" } = found.metadata;
      // A namespace of the same name with another UID is not the one that we hold.
      return state.uid === undefined || state.uid === uid ? { uid, mark } : undefined;
    }),
  async update(_id, olds, news, context) {
    const mark = olds.mark !== undefined && olds.holder === news.holder ? olds.mark : newMark(news);
    const held = await hold(news, mark, context);
    if (olds.mark !== undefined && olds.mark !== mark) await letGoOf(olds.mark, news, context);
    return held;
  },
  delete: (_id, state, context) =>
    inCluster(state, context, (client) => removeOrLetGo(client, state, context)),
});

/** The state of a namespace that is to be held. Previews and runs both ask it. */
export async function standingIn(
  client: KubeClient,
  wanted: WantedNamespace,
  { signal }: Pick<ProviderContext, "signal">,
): Promise<{ found: Namespace | undefined; standing: Standing }> {
  const labelSelector = `${Label.tenantNamespace},${Label.remoteClusterID}=${wanted.peer}`;
  const limits = { signal, deadlineMs: lookMs };
  const [found, labelled] = await Promise.all([
    client.get(Namespace, { name: wanted.name }, limits),
    client.list(Namespace, { labelSelector }, limits),
  ]);
  return { found, standing: standingOf(wanted, found, labelled) };
}

const look = (client: KubeClient, { name }: { name: string }, { signal }: ProviderContext) =>
  client.get(Namespace, { name }, { signal, deadlineMs: lookMs });

/** Attempts before a conflict is returned. */
const ATTEMPTS = 10;

/** Repeats a read and a write while the write ends in a conflict. */
async function undisturbed<T>({ server }: KubeClient, attempt: () => Promise<T>): Promise<T> {
  for (let attempts = 1; ; attempts++) {
    try {
      return await attempt();
    } catch (error) {
      if (error instanceof ApiError && error.status === 401) {
        throw new Error(`${server} ${CREDENTIALS_REFUSED}`, { cause: error });
      }
      if (!isConflict(error) || attempts === ATTEMPTS) throw error;
    }
  }
}

/**
 * Each incarnation of a holder has its own mark. When one replaces another, each removes only its own mark, in whichever order the engine creates and
 * deletes them.
 */
function newMark({ holder }: Inputs): string {
  return `${holder}-${randomBytes(4).toString("hex")}`;
}

function hold(news: Inputs, mark: string, context: ProviderContext): Promise<{ uid: string; mark: string }> {
  const own = { [`${HOLDER_PREFIX}${mark}`]: news.heldBy };
  return inCluster(news, context, (client) =>
    undisturbed(client, async () => {
      const { found, standing } = await standingIn(client, news, context);
      const holders = found === undefined ? new Map<string, string>() : holdersOf(found.metadata);
      if (standing.is !== "leaving" && holders.get(mark) === news.heldBy)
        return { uid: found?.metadata.uid ?? "", mark };
      if (standing.is === "foreign") throw new Error(`${client.server}: ${standing.reason}`);
      if (standing.is === "leaving") await untilGone(client, news, context);
      if (standing.is !== "present" || found === undefined)
        return { uid: await make(client, news, own, context), mark };
      const { uid = "" } = found.metadata;
      // Marks of earlier incarnations, including those of a run that ended before its state was written.
      const former = [...holders.keys()].filter(
        (each) => each !== mark && each.startsWith(`${news.holder}-`),
      );
      const annotations = {
        ...Object.fromEntries(former.map((each) => [`${HOLDER_PREFIX}${each}`, null])),
        ...own,
        ...(standing.madeByStack && { [Annotation.madeByStack]: LabelValue.true }),
      };
      await write(client, found, { labels: standing.missingLabels, annotations }, context);
      context.progress(`${client.server}: took namespace ${news.name}, which is ${standing.whose}`);
      return { uid, mark };
    }),
  );
}

async function make(
  client: KubeClient,
  { name, peer }: Inputs,
  mark: Record<string, string>,
  { signal }: ProviderContext,
): Promise<string> {
  const manifest = tenantNamespace(name, peer);
  const annotations = { ...mark, [Annotation.madeByStack]: LabelValue.true };
  const desired = { ...manifest, metadata: { ...manifest.metadata, annotations } };
  const { metadata } = await client.create(Namespace, desired, { signal, deadlineMs: lookMs });
  return metadata.uid ?? "";
}

/** Fails with a conflict when anybody wrote since the read: the last holder may be about to delete the namespace. */
async function write(
  client: KubeClient,
  { metadata: { name, uid, resourceVersion } }: Namespace,
  change: { labels?: Record<string, string>; annotations: Record<string, string | null> },
  { signal }: ProviderContext,
) {
  const body = { metadata: { uid, resourceVersion, ...change } };
  return await client.patchForMetadata(Namespace, { name }, body, {
    type: "merge",
    signal,
    deadlineMs: lookMs,
  });
}

function letGoOf(mark: string, news: Inputs, context: ProviderContext): Promise<void> {
  return inCluster(news, context, (client) =>
    undisturbed(client, async () => {
      const found = await look(client, news, context);
      if (found !== undefined) await letGo(client, found, mark, context);
    }),
  );
}

async function letGo(
  client: KubeClient,
  found: Namespace,
  mark: string,
  context: ProviderContext,
): Promise<void> {
  if (!holdersOf(found.metadata).has(mark)) return;
  await write(client, found, { annotations: { [`${HOLDER_PREFIX}${mark}`]: null } }, context);
}

type State = Inputs & { uid?: string | undefined; mark?: string | undefined };

async function removeOrLetGo(client: KubeClient, state: State, context: ProviderContext): Promise<void> {
  const { name, mark = "" } = state;
  await undisturbed(client, async () => {
    const found = await look(client, state, context);
    // A namespace of the same name with another UID is not the one that we held.
    if (found === undefined || (state.uid !== undefined && found.metadata.uid !== state.uid)) return;
    const { metadata } = found;
    if (!metadata.deletionTimestamp) {
      const because = await reasonToStay(client, found, state, context);
      if (because !== undefined) {
        await letGo(client, found, mark, context);
        context.progress(`${client.server}: namespace ${name} stays: ${because}`);
        return;
      }
      const { uid = "", resourceVersion = "" } = metadata;
      const { signal } = context;
      await client.delete(Namespace, { name }, { uid, resourceVersion, signal, deadlineMs: lookMs });
    }
    await untilGone(client, state, context);
  });
}

/** Why a namespace is not removed; undefined where it goes. */
async function reasonToStay(
  client: KubeClient,
  { metadata }: Namespace,
  state: State,
  context: ProviderContext,
): Promise<string | undefined> {
  const others = holdersOf(metadata);
  others.delete(state.mark ?? "");
  if (others.size > 0) return `it is held by ${[...others.values()].join(" and ")}`;
  if (metadata.annotations?.[Annotation.madeByStack] !== LabelValue.true) return "no stack made it";
  const needed = await neededInside(client, state, context);
  return needed.length === 0 ? undefined : `others use it; there are ${needed.join(", ")}`;
}

async function untilGone(
  client: KubeClient,
  { name, timeoutSeconds }: Pick<Inputs, "name" | "timeoutSeconds">,
  context: ProviderContext,
): Promise<void> {
  await waitForObject(
    {
      client,
      kind: Namespace,
      kindName: "Namespace",
      ref: { name },
      timeoutSeconds,
      what: "its absence",
      nextStep: `see what is left in it, and which finalizers hold that: kubectl describe namespace ${name}`,
      judge: (found) =>
        found === undefined
          ? { is: "met", value: undefined }
          : { is: "open", seen: remaining(found) || "it is being removed" },
    },
    context,
  );
}

function remaining({ status }: Namespace): string {
  const conditions = status?.conditions ?? [];
  return conditions
    .filter(({ type, status: value }) => /Remaining|Failure/.test(type) && value === "True")
    .map(({ message }) => message)
    .join("; ");
}

export interface TenantNamespaceArgs extends ClusterArgs {
  /** Name of the namespace. */
  name: pulumi.Input<string>;
  /** ID of the cluster that it is for. */
  peer: pulumi.Input<string>;
  /** Beginning of the holder's marks, as no other resource of any stack has it. */
  holder: pulumi.Input<string>;
  /** Who the holder is, in words. */
  heldBy: pulumi.Input<string>;
  /** Longest time to wait for one that is being removed, in seconds; 120 by default. */
  timeoutSeconds?: pulumi.Input<number>;
}

/**
 * The namespace for everything about a peer: made, or the one that is there, and held. With its last holder it goes, if a stack made it and nobody else
 * uses it.
 */
export class TenantNamespace extends LiqoResource {
  declare readonly name: pulumi.Output<string>;
  declare readonly peer: pulumi.Output<string>;
  /** UID of the namespace. */
  declare readonly uid: pulumi.Output<string>;
  /** The mark by which it is held. */
  declare readonly mark: pulumi.Output<string>;

  constructor(name: string, args: TenantNamespaceArgs, options?: pulumi.CustomResourceOptions) {
    super(
      "tenantNamespace",
      name,
      { uid: undefined, mark: undefined, ...withSecretKubeconfig(args) },
      options,
    );
  }
}
