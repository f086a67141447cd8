import * as authentication from "./authentication";
import * as core from "./core";
import type { AnyDefinition } from "./define-kind";
import * as ipam from "./ipam";
import * as networking from "./networking";
import * as offloading from "./offloading";

/** Every kind that this project defines, by group and then by name. */
export const OWN_KINDS: readonly { readonly definition: AnyDefinition }[] = [
  authentication,
  core,
  ipam,
  networking,
  offloading,
].flatMap((group) => Object.values(group).filter((member) => isKind(member)));

function isKind(member: unknown): member is { readonly definition: AnyDefinition } {
  return typeof member === "object" && member !== null && "definition" in member;
}
