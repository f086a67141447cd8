export * from "./authentication";
export * from "./core";
export * from "./define-kind";
export { InvalidObjectError } from "./invalid-object";
export * from "./keys";
export * from "./kubernetes";
export * from "./meta";
export { packageRoot } from "./package-root";
export * from "./offloading";
