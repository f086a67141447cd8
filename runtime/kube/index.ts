/** Our controller runtime: one client, one watch and one queue for each thing watched, and what a controller needs around them. */
export * from "./api-error";
export * from "./client";
export { ConnectionError } from "./dial";
export { type Connection, KubeconfigError, type KubeconfigOptions, parseKubeconfig } from "./kubeconfig";
export { DeadlineError } from "./unary";
export type { Upgraded, UpgradeRequest } from "./upgrade";
export { type Clock, microTimestamp, sleep, systemClock, timestamp, type Timer } from "./clock";
export { Informer, type InformerHandlers } from "./informer";
export { InformerSet, type InformerSetOptions, type Selection } from "./informer-set";
export { keyOf, keyOfRef, refOfKey } from "./keys";
export { createLogger, type Fields, type Logger, type LogLevel, type LogOptions, silentLogger } from "./log";
export { TestClock } from "./test-clock";
