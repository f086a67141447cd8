import { isRecord } from "../../api/invalid-object";
import { isQuantity, parseQuantity } from "../../api/quantity";

export interface DifferenceOptions {
  /**
   * Dotted paths whose content must be just what is desired: what is there beyond it is removed. `""` means everything.
   * Elsewhere, fields that the desired object does not mention are somebody else's, or defaults, and stay.
   */
  exact?: readonly string[];
  /** Fields that are removed where the desired object does not mention them, by the dotted path of the object that holds them. */
  absent?: Readonly<Record<string, readonly string[]>>;
  /** Items of lists must be just what is desired, too. Default: fields that the server added to an item are no difference. */
  exactItems?: boolean;
}

/** Values below these fields are quantities by resource name; `0.5` and `500m` are the same. */
const QUANTITY_MAPS = new Set([
  "allocatable",
  "allocatedResources",
  "capacity",
  "default",
  "defaultRequest",
  "hard",
  "limits",
  "max",
  "min",
  "overhead",
  "requests",
  "resources",
  "used",
]);

/** Maps that the API server leaves out when they are empty. Elsewhere an empty object may mean something (`emptyDir: {}`). */
const OMITTED_WHEN_EMPTY = new Set([
  "annotations",
  "binaryData",
  "data",
  "labels",
  "matchLabels",
  "nodeSelector",
  "stringData",
  ...QUANTITY_MAPS,
]);

/**
 * The merge patch that makes the observed value agree with the desired one; undefined where it does already.
 *
 * `undefined` in the desired value means no opinion, `null` means absent. An empty list and an absent one are the same, as they are to the
 * API server. Lists are compared, and written, as a whole.
 */
export function mergePatch(
  desired: Record<string, unknown>,
  observed: Record<string, unknown>,
  options: DifferenceOptions = {},
): Record<string, unknown> | undefined {
  return new Difference(options).ofObjects(desired, observed, "", "");
}

/** Whether two values mean the same to the API server. */
export function semanticallyEqual(a: unknown, b: unknown): boolean {
  return new Difference({ exact: [""], exactItems: true }).agrees(a, b, "", "");
}

class Difference {
  private readonly exact: ReadonlySet<string>;

  constructor(private readonly options: DifferenceOptions) {
    this.exact = new Set(options.exact);
  }

  ofObjects(
    desired: Record<string, unknown>,
    observed: Record<string, unknown>,
    path: string,
    field: string,
  ): Record<string, unknown> | undefined {
    const patch: Record<string, unknown> = {};
    for (const [key, want] of Object.entries(desired)) {
      if (want === undefined) continue;
      const at = path === "" ? key : `${path}.${key}`;
      const have = observed[key];
      if (isRecord(want) && isRecord(have)) {
        const below = this.ofObjects(want, have, at, key);
        if (below !== undefined) patch[key] = below;
      } else if (!this.agrees(want, have, at, key, field)) patch[key] = want;
    }
    if (this.isExact(path)) {
      for (const [key, have] of Object.entries(observed)) {
        if (desired[key] === undefined && !isAbsent(have, key)) patch[key] = null;
      }
    }
    for (const key of this.options.absent?.[path] ?? []) {
      if (desired[key] === undefined && !isAbsent(observed[key], key)) patch[key] = null;
    }
    return Object.keys(patch).length === 0 ? undefined : patch;
  }

  agrees(want: unknown, have: unknown, path: string, field: string, parent = ""): boolean {
    if (want === have) return true;
    if (isAbsent(want, field) || isAbsent(have, field)) return isAbsent(want, field) && isAbsent(have, field);
    if (Array.isArray(want)) {
      if (!Array.isArray(have) || want.length !== have.length) return false;
      return want.every((item, index) => this.agrees(item, have[index], this.itemPath(path), field));
    }
    if (isRecord(want)) return isRecord(have) && this.ofObjects(want, have, path, field) === undefined;
    if (QUANTITY_MAPS.has(parent) && isQuantity(want) && isQuantity(have)) {
      return parseQuantity(want) === parseQuantity(have);
    }
    return false;
  }

  /** No path of the options lies in a list's items: they are exact with the list, or by the option. */
  private itemPath(path: string): string {
    return this.options.exactItems === true || this.isExact(path) ? EXACT_ITEM : ITEM;
  }

  private isExact(path: string): boolean {
    if (this.exact.has("")) return true;
    if (path === EXACT_ITEM || path.startsWith(`${EXACT_ITEM}.`)) return true;
    for (let end = path.length; end > 0; end = path.lastIndexOf(".", end - 1)) {
      if (this.exact.has(path.slice(0, end))) return true;
    }
    return false;
  }
}

const ITEM = "*";
const EXACT_ITEM = "=";

function isAbsent(value: unknown, field: string): boolean {
  if (value === undefined || value === null) return true;
  if (Array.isArray(value)) return value.length === 0;
  return OMITTED_WHEN_EMPTY.has(field) && isRecord(value) && Object.keys(value).length === 0;
}
