import type { KubeObject } from "../../runtime/api/meta";
import { type Informer, keyOf } from "../../runtime/kube";

/** What the events alone tell, and what is wrong with their order. */
export class Witness<T extends KubeObject> {
  readonly present = new Map<string, T>();
  readonly deletedUids = new Set<string>();
  readonly faults: string[] = [];
  /** Events so far. */
  told = 0;

  constructor(informer: Informer<T>) {
    informer.on({
      added: (object) => {
        this.told += 1;
        if (this.present.has(keyOf(object))) this.faults.push(`added twice: ${keyOf(object)}`);
        this.present.set(keyOf(object), object);
      },
      updated: (before, after) => {
        this.told += 1;
        const known = this.present.get(keyOf(after));
        if (known !== before) this.faults.push(`updated from an unknown state: ${keyOf(after)}`);
        if (Number(after.metadata.resourceVersion) <= Number(before.metadata.resourceVersion)) {
          this.faults.push(`went back in time: ${keyOf(after)}`);
        }
        this.present.set(keyOf(after), after);
      },
      deleted: (object) => {
        this.told += 1;
        if (!this.present.delete(keyOf(object))) this.faults.push(`deleted twice: ${keyOf(object)}`);
        this.deletedUids.add(object.metadata.uid ?? "");
      },
    });
  }

  presentUids(): Set<string> {
    return new Set([...this.present.values()].map(({ metadata }) => metadata.uid ?? ""));
  }
}
