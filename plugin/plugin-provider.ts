import { readFileSync } from "node:fs";
import { join } from "node:path";

import * as pulumi from "@pulumi/pulumi";
import { z } from "zod";

import { type ResourceKey, resources } from "../provider";
import { engineContext } from "../provider/core/definition";
import { InitFailed, type ResourceFunctions } from "../provider/core/lifecycle";
import { packageName, typeName } from "../provider/core/liqo-resource";
import { isRecord } from "../runtime/api/invalid-object";
import { packageRoot } from "../runtime/api/package-root";
import { construct } from "./components";

type Properties = Record<string, unknown>;

const schemaSchema = z.object({
  resources: z.record(z.string(), z.object({ properties: z.record(z.string(), z.unknown()).default({}) })),
});

/**
 * The second adapter over the resource functions, for programs in other languages: a Pulumi provider with the resources and the components.
 * Secrets come wrapped and go back wrapped; everything else is as in the dynamic provider.
 */
export class PluginProvider implements pulumi.provider.Provider {
  private readonly ending = new AbortController();
  private readonly outputsOf: ReadonlyMap<string, readonly string[]>;

  constructor(
    readonly version: string,
    readonly schema: string,
  ) {
    const parsed = schemaSchema.parse(JSON.parse(schema));
    this.outputsOf = new Map(
      Object.entries(parsed.resources).map(([token, { properties }]) => [token, Object.keys(properties)]),
    );
  }

  check(urn: string, olds: Properties, news: Properties): Promise<pulumi.provider.CheckResult> {
    const { values, secret } = unwrapSecrets(news);
    const functions = functionsOf(urn);
    const { inputs, failures } = functions.check(unwrapSecrets(olds).values, values);
    return Promise.resolve({ inputs: withSecrets(functions, inputs, secret), failures });
  }

  diff(id: string, urn: string, olds: Properties, news: Properties): Promise<pulumi.provider.DiffResult> {
    return Promise.resolve(functionsOf(urn).diff(id, unwrapSecrets(olds).values, unwrapSecrets(news).values));
  }

  async create(urn: string, news: Properties): Promise<pulumi.provider.CreateResult> {
    const functions = functionsOf(urn);
    const { values, secret } = unwrapSecrets(news);
    return this.engineErrors(functions, secret, async () => {
      const { id, outputs } = await functions.create(values, this.context(functions));
      return { id, outs: withSecrets(functions, outputs, secret) };
    });
  }

  async read(id: string, urn: string, props: Properties = {}): Promise<pulumi.provider.ReadResult> {
    const functions = functionsOf(urn);
    const { values, secret } = unwrapSecrets(props);
    const stored = await functions.read(id, values, this.context(functions));
    if (stored === undefined) return { props: {} };
    return { id: stored.id, props: withSecrets(functions, stored.outputs, secret) };
  }

  async update(
    id: string,
    urn: string,
    olds: Properties,
    news: Properties,
  ): Promise<pulumi.provider.UpdateResult> {
    const functions = functionsOf(urn);
    const { values, secret } = unwrapSecrets(news);
    return this.engineErrors(functions, secret, async () => {
      const outputs = await functions.update(id, unwrapSecrets(olds).values, values, this.context(functions));
      return { outs: withSecrets(functions, outputs, secret) };
    });
  }

  async delete(id: string, urn: string, props: Properties): Promise<void> {
    const functions = functionsOf(urn);
    await functions.delete(id, unwrapSecrets(props).values, this.context(functions));
  }

  construct(
    name: string,
    type: string,
    inputs: pulumi.Inputs,
    options: pulumi.ComponentResourceOptions,
  ): Promise<pulumi.provider.ConstructResult> {
    const component: pulumi.ComponentResource = construct(lastPart(type), name, inputs, options);
    const fields: [string, unknown][] = Object.entries(component);
    const outputs = this.outputsOf.get(type) ?? [];
    const state = Object.fromEntries(fields.filter(([field]) => outputs.includes(field)));
    return Promise.resolve({ urn: component.urn, state });
  }

  /** The engine is told to stop: what is under way ends. */
  cancel(): Promise<void> {
    this.ending.abort(new Error("the run was cancelled"));
    return Promise.resolve();
  }

  private context(functions: ResourceFunctions) {
    return engineContext(functions.definition.type, this.ending.signal);
  }

  /** The engine recognises a partial failure by these fields of the error, and shows the reasons only. */
  private async engineErrors<T>(
    functions: ResourceFunctions,
    secret: ReadonlySet<string>,
    work: () => Promise<T>,
  ): Promise<T> {
    try {
      return await work();
    } catch (error) {
      if (!(error instanceof InitFailed)) throw error;
      const { message, id, reasons } = error;
      const properties = withSecrets(functions, error.properties, secret);
      throw Object.assign(new Error(message), { id, properties, reasons: [message, ...reasons] });
    }
  }
}

const byType: ReadonlyMap<string, ResourceFunctions> = new Map(
  Object.entries(resources).map(([key, functions]) => [typeName(key as ResourceKey), functions]),
);

function functionsOf(urn: string): ResourceFunctions {
  const type = urn.split("::")[2]?.split("$").at(-1) ?? "";
  const functions = byType.get(lastPart(type));
  if (functions === undefined) throw new Error(`${packageName} has no resource of type ${type}`);
  return functions;
}

/** `pulumi-liqo:index:WaitFor` → `WaitFor` */
function lastPart(token: string): string {
  return token.split(":").at(-1) ?? "";
}

/** Marks what was secret, and what always is, with the inputs that are among the properties. */
function withSecrets(
  { definition }: ResourceFunctions,
  properties: Properties,
  secret: ReadonlySet<string>,
): Properties {
  const always = [
    ...definition.secretInputs,
    ...definition.secrets,
    ...(definition.secretWith?.(properties) ?? []),
  ];
  return wrapSecrets(properties, new Set([...secret, ...always]));
}

const { specialSigKey, specialSecretSig } = pulumi.runtime;

export interface Unwrapped {
  /** The same properties with plain values. */
  values: Record<string, unknown>;
  /** Properties that were secret, or held something secret. */
  secret: Set<string>;
}

/** Takes secrets out of the wrappings in which the engine sends them to plugins that accept them. */
export function unwrapSecrets(properties: Readonly<Record<string, unknown>>): Unwrapped {
  const secret = new Set<string>();
  const unwrap = (value: unknown, property: string): unknown => {
    if (Array.isArray(value)) return value.map((item) => unwrap(item, property));
    if (!isRecord(value)) return value;
    if (value[specialSigKey] === specialSecretSig) {
      secret.add(property);
      return unwrap(value["value"], property);
    }
    return Object.fromEntries(Object.entries(value).map(([key, inner]) => [key, unwrap(inner, property)]));
  };
  const values = Object.fromEntries(
    Object.entries(properties).map(([property, value]) => [property, unwrap(value, property)]),
  );
  return { values, secret };
}

/** Wraps properties as secrets, each as a whole. */
export function wrapSecrets(
  values: Readonly<Record<string, unknown>>,
  secret: ReadonlySet<string>,
): Record<string, unknown> {
  return Object.fromEntries(
    Object.entries(values).map(([property, value]) => [
      property,
      secret.has(property) ? { [specialSigKey]: specialSecretSig, value } : value,
    ]),
  );
}

/** The generated schema, part of the package and of the repository. */
export const schemaFile = (): string => join(packageRoot(), "provider", "plugin", "schema.json");

const manifestSchema = z.object({ name: z.string(), version: z.string(), description: z.string() });
export type PackageManifest = z.output<typeof manifestSchema>;

export function packageManifest(): PackageManifest {
  return manifestSchema.parse(JSON.parse(readFileSync(join(packageRoot(), "package.json"), "utf8")));
}
