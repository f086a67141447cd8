/**
 * Our controller runtime, after controller-runtime: what stands between a controller and API servers. This is the only way in; what it does not export is
 * internal.
 *
 * - `client`: one cluster's API server. Requests, errors, kubeconfigs, writes of what differs.
 * - `cache`: lists and watches, kept as objects in memory and shared by everybody who asks for the same selection.
 * - `controller`: a queue of keys and the reconciles that work it off, with back-off, events, conditions and metrics.
 * - `election`: one leader among replicas.
 * - `manager`: what a process has once: its context, its probes and its metrics.
 */
export { type Clock, backoffMs, microTimestamp, sleep, systemClock, timestamp, type Timer } from "./clock";
export { createLogger, type Fields, type Logger, type LogLevel, type LogOptions, silentLogger } from "./log";

export { AnswerLimitError, type AnswerLimits, OWN_CLUSTER_LIMITS, PEER_LIMITS } from "./client/answer-limits";
export * from "./client/api-error";
export { KubeClient, serverVersion } from "./client/client";
export * from "./client/client-options";
export { CannotConnectError, ConnectionError } from "./client/dial";
export { type DifferenceOptions, mergePatch, semanticallyEqual } from "./client/difference";
export {
  type Connection,
  KubeconfigError,
  type KubeconfigOptions,
  parseKubeconfig,
} from "./client/kubeconfig";
export {
  collectionPath,
  controlledBy,
  controllerOf,
  keyOf,
  keyOfRef,
  objectPath,
  refOfKey,
  withQuery,
} from "./client/object-reference";
export { DeadlineError } from "./client/round-trip";
export type { Upgraded, UpgradeRequest } from "./client/upgrade";
export {
  patchStatusIfChanged,
  type WriteOptions,
  writeIfChanged,
  type Written,
} from "./client/write-if-changed";

export { Informer, type InformerHandlers } from "./cache/informer";
export { InformerSet, type InformerSetOptions, type Selection } from "./cache/informer-set";

export * from "./controller/conditions";
export * from "./controller/controller";
export { EventRecorder, type EventRecorderOptions } from "./controller/events";
export { HeldKeys } from "./controller/held-keys";
export { Queue, type QueueOptions } from "./controller/queue";
export {
  exceptStatus,
  type Source,
  type SourceEvent,
  watches,
  type WatchesOptions,
} from "./controller/source";

export { LeaderElection, type LeaderElectionOptions } from "./election/leader-election";

export { createRegistry, type RuntimeContext, summarize } from "./manager/context";
export { type Candidacy, type Candidate, Elections } from "./manager/elections";
export { Manager, type ManagerOptions, type Start } from "./manager/manager";
export {
  Health,
  type HealthCheck,
  type HealthReport,
  type ProbeServer,
  type ProbeServerOptions,
  startProbeServer,
} from "./manager/probe-server";
