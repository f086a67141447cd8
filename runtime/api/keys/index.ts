export * from "./annotations";
export * from "./events";
export * from "./labels";
export * from "./names";
