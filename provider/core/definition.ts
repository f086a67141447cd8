import type { z } from "zod";

import { KubeClient } from "../../runtime/kube";

/** Where a cluster is and how to get in. */
export interface ClusterAccess {
  kubeconfig: string;
  /** Context of the kubeconfig; the current one by default. */
  context?: string | undefined;
}

/** The Kubernetes provider's switch, with the same meaning here. */
export const deleteUnreachableVariable = "PULUMI_K8S_DELETE_UNREACHABLE";

/** What resource functions may use besides their arguments. */
export interface ProviderContext {
  /** Milliseconds since the epoch. */
  now(): number;
  /** Ends what is under way. */
  signal: AbortSignal;
  /** Whether what is in a cluster that cannot be reached may be forgotten when it is to be deleted. */
  deleteUnreachable: boolean;
  /** One line for the person who waits. */
  progress(line: string): void;
  /** A client for a cluster. Making one sends nothing. */
  connect(cluster: ClusterAccess): KubeClient;
}

/** A resource was made only in part: it is recorded with these outputs, and the next run calls `update` to finish it. */
export class PartialFailure<Computed extends object = object> extends Error {
  override name = "PartialFailure";

  constructor(
    message: string,
    readonly failure: { id: string; computed: Partial<Computed>; reasons: readonly string[] },
    options?: ErrorOptions,
  ) {
    super(message, options);
  }
}

/**
 * A kind of Pulumi resource: what differs between one and the next. `resourceFunctions` makes the whole set of functions from it,
 * and every adapter uses those.
 *
 * The state of a resource is its inputs and what was computed, side by side; the names must not clash.
 */
export interface ResourceDefinition<Inputs extends z.ZodObject, Computed extends z.ZodObject> {
  /** Name of the class and last part of the type token. */
  readonly type: string;
  /** One paragraph for the reference page and the schema. */
  readonly summary: string;
  readonly inputs: Inputs;
  readonly computed: Computed;
  /** Computed values that are secret. */
  readonly secrets: readonly (keyof z.output<Computed> & string)[];
  /** Inputs that are always secret, whether the user marked them so or not. */
  readonly secretInputs: readonly (keyof z.output<Inputs> & string)[];
  /** Inputs and computed values that are secret as well, where these inputs make them so. */
  secretWith?(
    inputs: Readonly<Record<string, unknown>>,
  ): readonly (keyof (z.output<Inputs> & z.output<Computed>) & string)[];
  /** Inputs whose change makes another resource; a change of any other is an update. */
  readonly replaceOn: readonly (keyof z.output<Inputs> & string)[];
  /** Whether the old one must go before the new one is made (names that can exist only once). */
  readonly deleteBeforeReplace?: boolean;
  /** Rules across inputs, asked only when all of them are known and valid by themselves. */
  validate?(inputs: z.output<Inputs>): InputFault[];
  /**
   * Changes that are refused, in the preview already, before anything is touched. Asked only when all inputs are valid, of what is known of them
   * and of those that the state has.
   */
  validateChange?(olds: Partial<z.output<Inputs>>, news: Partial<z.output<Inputs>>): InputFault[];

  create(inputs: z.output<Inputs>, context: ProviderContext): Promise<Made<z.output<Computed>>>;
  /** The present computed values; undefined when it is gone. */
  read(
    id: string,
    state: StateOf<Inputs, Computed>,
    context: ProviderContext,
  ): Promise<z.output<Computed> | undefined>;
  /** Also finishes what a failed `create` or `update` left. */
  update(
    id: string,
    olds: StateOf<Inputs, Computed>,
    news: z.output<Inputs>,
    context: ProviderContext,
  ): Promise<z.output<Computed>>;
  /** Idempotent; absent where nothing outlives the state. */
  delete?(id: string, state: StateOf<Inputs, Computed>, context: ProviderContext): Promise<void>;
}

/** What the state holds: all inputs, and of the computed values at least those that a partial failure had. */
export type StateOf<Inputs extends z.ZodObject, Computed extends z.ZodObject> = z.output<Inputs> &
  Partial<z.output<Computed>>;

export interface Made<Computed> {
  id: string;
  computed: Computed;
}

export interface InputFault {
  /** Path of the input, as in `field.path`. */
  property: string;
  /** What is wrong and what to write instead. */
  reason: string;
}

/**
 * The context in which resource functions run for the engine. Progress goes to the standard output, which the engine shows as lines of the
 * stack.
 */
export function engineContext(
  type: string,
  signal: AbortSignal = new AbortController().signal,
): ProviderContext {
  return {
    now: () => Date.now(),
    signal,
    deleteUnreachable: process.env[deleteUnreachableVariable] === "true",
    progress: (line) => console.log(`${type}: ${line}`),
    connect: ({ kubeconfig, context }) =>
      KubeClient.fromKubeconfig(kubeconfig, { ...(context !== undefined && { context }) }),
  };
}

/** The name of each kind of resource, by which people's states ask for its functions: never rename one. */
export type ResourceKey =
  | "wireGuardKeyPair"
  | "ed25519KeyPair"
  | "waitFor"
  | "nonceRead"
  | "tenantCredentials"
  | "identityCredentials"
  | "removalGuard"
  | "definitions"
  | "localCluster"
  | "clusterNetworks"
  | "gatewayRead"
  | "networkConnection"
  | "networkingGuard"
  | "preflight"
  | "proxyRead"
  | "tenantNamespace";
