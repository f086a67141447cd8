/** Our controller runtime: one client, one watch and one queue for each thing watched, and what a controller needs around them. */
export * from "./api-error";
export { KubeClient } from "./client";
export * from "./client-options";
export { type Clock, microTimestamp, sleep, systemClock, timestamp, type Timer } from "./clock";
export * from "./conditions";
export {
  connect,
  type ContextOptions,
  createContext,
  type RuntimeContext,
  terminationSignal,
} from "./context";
export * from "./controller";
export { CannotConnectError, ConnectionError } from "./dial";
export { type DifferenceOptions, mergePatch, semanticallyEqual } from "./difference";
export { EventRecorder, type EventRecorderOptions } from "./events";
export { Health, type HealthCheck, type HealthReport } from "./health";
export { Informer, type InformerHandlers } from "./informer";
export { InformerSet, type InformerSetOptions, type Selection } from "./informer-set";
export { keyOf, keyOfRef, refOfKey } from "./keys";
export { type Connection, KubeconfigError, type KubeconfigOptions, parseKubeconfig } from "./kubeconfig";
export { LeaderElection, type LeaderElectionOptions } from "./leader-election";
export { createLogger, type Fields, type Logger, type LogLevel, type LogOptions, silentLogger } from "./log";
export * from "./owner-reference";
export { type ProbeServer, type ProbeServerOptions, startProbeServer } from "./probe-server";
export { createRegistry } from "./process-metrics";
export { Queue, type QueueOptions } from "./queue";
export { exceptStatus, type Source, type SourceEvent, watches, type WatchesOptions } from "./source";
export { Terminal } from "./terminal";
export { TestClock } from "./test-clock";
export { DeadlineError } from "./unary";
export type { Upgraded, UpgradeRequest } from "./upgrade";
export { patchStatusIfChanged, type WriteOptions, writeIfChanged, type Written } from "./write-if-changed";
