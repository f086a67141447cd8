import type { Desired, Kind, KubeObject, ObjectRef } from "../api";
import {
  type GlobalMetadata,
  type Informer,
  keyOf,
  keyOfRef,
  type KubeClient,
  withGlobalMetadata,
  writeIfChanged,
  type Written,
} from "../kube";

type Named<T extends KubeObject> = Desired<T> & { metadata: { name: string; namespace?: string } };

/** Writes objects of a kind whose spec is all ours: what is not desired is not there. */
export class ObjectWriter<T extends KubeObject> {
  constructor(
    private readonly client: KubeClient,
    private readonly kind: Kind<T>,
    private readonly observed: Informer<T>,
    private readonly global: GlobalMetadata,
  ) {}

  async ensure(desired: Named<T>): Promise<Written<T>> {
    const { name, namespace } = desired.metadata;
    return await writeIfChanged(
      this.client,
      this.kind,
      withGlobalMetadata(desired, this.global),
      this.observed.get(name, namespace),
      // Nobody else writes the spec, and agents write the status all the time.
      { exact: ["spec"], lock: "never" },
    );
  }

  /** Removes an object if it is there. */
  async remove(ref: ObjectRef): Promise<void> {
    const object = this.observed.get(ref.name, ref.namespace);
    if (object === undefined || object.metadata.deletionTimestamp) return;
    await this.client.delete(this.kind, object.metadata, { uid: object.metadata.uid });
  }

  /** Makes the objects that there are among `candidates` those that are desired. */
  async ensureOnly(desired: readonly Named<T>[], candidates: readonly ObjectRef[]): Promise<void> {
    const wanted = new Set(desired.map(({ metadata }) => keyOfRef(metadata)));
    for (const object of desired) await this.ensure(object);
    for (const candidate of candidates) if (!wanted.has(keyOfRef(candidate))) await this.remove(candidate);
  }

  /** The observed object of a key. */
  observedOf(object: KubeObject): T | undefined {
    return this.observed.getByKey(keyOf(object));
  }
}
