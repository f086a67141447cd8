export * from "../api/quantity";
