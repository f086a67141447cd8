/** Our controller runtime: one client, one watch and one queue for each thing watched, and what a controller needs around them. */
export * from "./api-error";
export * from "./client";
export { ConnectionError } from "./dial";
export { type Connection, KubeconfigError, type KubeconfigOptions, parseKubeconfig } from "./kubeconfig";
export { DeadlineError } from "./unary";
export type { Upgraded, UpgradeRequest } from "./upgrade";
