export * from "./access";
export type { BuiltIn } from "./built-in";
export * from "./cluster";
export * from "./services-and-storage";
export * from "./workloads";
