export * from "./annotations";
export * from "./events";
export * from "./finalizers";
export * from "./labels";
export * from "./names";
