import * as pulumi from "@pulumi/pulumi";

import * as components from "../components";

type Constructor = new (
  name: string,
  args: pulumi.Inputs,
  options: pulumi.ComponentResourceOptions,
) => pulumi.ComponentResource;

/**
 * The components that programs in other languages get: all that the package exports, by the last part of their type tokens. Their arguments
 * come from another process and are checked by the SDK that was generated from the schema, and by the component; the constructor's type
 * says no more than that.
 */
const constructors: ReadonlyMap<string, Constructor> = new Map(
  Object.entries<unknown>(components).filter((entry): entry is [string, Constructor] =>
    isComponent(entry[1]),
  ),
);

function isComponent(value: unknown): value is Constructor {
  return typeof value === "function" && value.prototype instanceof pulumi.ComponentResource;
}

export const componentNames: readonly string[] = [...constructors.keys()];

/**
 * Makes a component.
 *
 * @throws when there is no component of that name
 */
export function construct(
  component: string,
  name: string,
  inputs: pulumi.Inputs,
  options: pulumi.ComponentResourceOptions,
): pulumi.ComponentResource {
  const constructor = constructors.get(component);
  if (constructor === undefined) {
    throw new Error(`there is no component ${component}; there are ${componentNames.join(", ")}`);
  }
  return new constructor(name, inputs, options);
}
