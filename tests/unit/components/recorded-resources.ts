import * as pulumi from "@pulumi/pulumi";

/** A resource as a component registered it. */
export interface RecordedResource {
  type: string;
  name: string;
  inputs: Record<string, unknown>;
  /** Name of the provider that it was given; empty where it was given none. */
  provider: string;
}

/**
 * Runs a program against Pulumi's mocks, which make nothing: they show which resources a component registers and with what, never whether
 * any of it works. Computed outputs that components read are answered from `computed`; in a preview they stay unknown.
 */
export async function recordResources<T>(
  program: () => pulumi.Output<T>[],
  options: { preview?: boolean; computed?: Record<string, Record<string, unknown>> } = {},
): Promise<{ resources: RecordedResource[]; outputs: (T | undefined)[] }> {
  const { preview = false, computed = {} } = options;
  const resources: RecordedResource[] = [];
  await pulumi.runtime.setMocks(
    {
      newResource({ type, name, inputs, provider = "" }) {
        const fields = inputs as Record<string, unknown>;
        resources.push({ type, name, inputs: fields, provider: provider.split("::").at(-2) ?? "" });
        return { id: preview ? undefined : `${name}-id`, state: { ...fields, ...computed[type] } };
      },
      call: ({ inputs }) => inputs as Record<string, unknown>,
    },
    "project",
    "stack",
    preview,
  );
  const outputs = await Promise.all(program().map(settled));
  return { resources, outputs };
}

/** The value of an output, once everything that it depends on is registered; undefined where it stays unknown. */
function settled<T>(output: pulumi.Output<T>): Promise<T | undefined> {
  return new Promise((resolve, reject) => {
    const internals = output as unknown as { promise(): Promise<T>; isKnown: Promise<boolean> };
    Promise.all([internals.promise(), internals.isKnown]).then(
      ([value, known]) => resolve(known ? value : undefined),
      reject,
    );
  });
}
