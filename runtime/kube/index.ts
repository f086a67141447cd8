/**
 * Our controller runtime, on the model of controller-runtime. This file is its only entrance; what it does not export is internal.
 *
 * - `client`: the API server of a cluster: requests, errors, kubeconfigs, writes of what differs.
 * - `cache`: objects in memory, kept up to date by watches; users of the same kind and selection share one.
 * - `controller`: a queue of keys and the reconciles that work it off, with back-off, events, conditions and metrics.
 * - `election`: one leader among replicas.
 * - `manager`: what a process has once: its context, its elections, its probes, its metrics and its end.
 */
export { type Clock, backoffMs, microTimestamp, sleep, systemClock, timestamp, type Timer } from "./clock";
export { createLogger, type Fields, type Logger, type LogLevel, silentLogger } from "./log";

export { AnswerLimitError, type AnswerLimits, PEER_LIMITS } from "./client/answer-limits";
export * from "./client/api-error";
export { KubeClient, serverVersion } from "./client/client";
export * from "./client/client-options";
export { CannotConnectError, ConnectionError } from "./client/dial";
export { mergePatch, semanticallyEqual } from "./client/difference";
export { type Connection, KubeconfigError, parseKubeconfig } from "./client/kubeconfig";
export {
  collectionPath,
  controlledBy,
  controllerOf,
  keyOf,
  keyOfRef,
  objectPath,
  ownedBy,
  refOfKey,
  withQuery,
} from "./client/object-reference";
export * from "./client/finalizers";
export { type GlobalMetadata, withGlobalMetadata } from "./client/global-metadata";
export { DeadlineError } from "./client/round-trip";
export { patchStatusIfChanged, writeIfChanged, type Written } from "./client/write-if-changed";

export { Informer } from "./cache/informer";
export { InformerSet, type Selection } from "./cache/informer-set";

export * from "./controller/conditions";
export * from "./controller/controller";
export { EventRecorder } from "./controller/events";
export { HeldKeys } from "./controller/held-keys";
export { Queue } from "./controller/queue";
export {
  coalesced,
  exceptStatus,
  sameMap,
  type Source,
  type SourceEvent,
  watches,
} from "./controller/source";

export { LeaderElection, type LeaderElectionOptions } from "./election/leader-election";

export { createRegistry, type RuntimeContext } from "./manager/context";
export { type Candidate, Elections } from "./manager/elections";
export { Manager, type Start } from "./manager/manager";
export { Health, startProbeServer } from "./manager/probe-server";
