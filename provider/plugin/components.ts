import type * as pulumi from "@pulumi/pulumi";

import * as components from "../../components";

type Constructor = new (
  name: string,
  args: pulumi.Inputs,
  options: pulumi.ComponentResourceOptions,
) => pulumi.ComponentResource;

/** The components that programs in other languages get, by the last part of their type tokens. */
export const componentNames = [
  "AuthenticationPeering",
  "Installation",
  "NamespaceOffloading",
  "Peering",
  "ResourceSlice",
  "VirtualNode",
] as const;

/**
 * Makes a component. Its arguments come from another process, checked by the SDK that was generated from the schema; the component
 * validates them itself, so the type is asserted here.
 *
 * @throws when there is no component of that name
 */
export function construct(
  component: string,
  name: string,
  inputs: pulumi.Inputs,
  options: pulumi.ComponentResourceOptions,
): pulumi.ComponentResource {
  const known = componentNames.find((candidate) => candidate === component);
  if (known === undefined) {
    throw new Error(`there is no component ${component}; there are ${componentNames.join(", ")}`);
  }
  const constructor = components[known] as unknown as Constructor;
  return new constructor(name, inputs, options);
}
