import { InvalidObjectError, isRecord } from "../../api/invalid-object";
import type { Kind, KubeObject } from "../../api/meta";
import { AnswerLimitError, type AnswerLimits, pageCost } from "./answer-limits";
import type { ListPage } from "./client-options";

const PAGE_SIZE = 500;
/** How many fewer objects a page has after one that was too large. */
const SMALLER = 8;

/** One page as it came. */
interface FetchedPage {
  value: unknown;
  bytes: number;
}

interface PagesRequest<T extends KubeObject> {
  kind: Kind<T>;
  /** Names the list in errors, such as `GET milan:6443/api/v1/pods`. */
  what: string;
  /** Default: 500. */
  pageSize?: number;
  limits: Readonly<AnswerLimits>;
  /** @throws AnswerLimitError where the page is larger than one may be */
  fetch: (limit: number, continueToken: string | undefined) => Promise<FetchedPage>;
}

/**
 * All pages of a list. Where a page is too large, it and those after it are asked for with fewer objects.
 *
 * @throws AnswerLimitError where even one object is too large, or the list as a whole
 */
export async function* readPages<T extends KubeObject>(
  request: PagesRequest<T>,
): AsyncGenerator<ListPage<T>, void> {
  const { kind, what, limits, fetch } = request;
  let pageSize = request.pageSize ?? PAGE_SIZE;
  let total = 0;
  let continueToken: string | undefined;
  for (;;) {
    let fetched: FetchedPage;
    try {
      fetched = await fetch(pageSize, continueToken);
    } catch (error) {
      if (!(error instanceof AnswerLimitError) || pageSize === 1) throw error;
      pageSize = Math.ceil(pageSize / SMALLER);
      continue;
    }
    const page = readPage(kind, fetched);
    total += pageCost(fetched.bytes, page.items.length);
    if (total > limits.listBytes) throw new AnswerLimitError(what, "the list", limits.listBytes, total);
    yield page;
    ({ continueToken } = page);
    if (continueToken === undefined) return;
  }
}

/** Reads the answer to a list. Throws `InvalidObjectError`, also where a single item is not of the kind. */
function readPage<T extends KubeObject>(kind: Kind<T>, { value, bytes }: FetchedPage): ListPage<T> {
  const fail = (issue: string): never => {
    throw new InvalidObjectError(`list of ${kind.plural}`, [issue]);
  };
  if (!isRecord(value)) return fail("is not an object");
  const { metadata, items } = value;
  if (!isRecord(metadata) || typeof metadata.resourceVersion !== "string") {
    return fail("metadata.resourceVersion: is missing");
  }
  // Go writes an empty list as null.
  if (items !== null && !Array.isArray(items)) return fail("items: is not a list");
  return {
    bytes,
    items: (items ?? []).map((item: unknown) => {
      // Lists of built-in kinds leave these out of their items.
      if (isRecord(item)) {
        item.apiVersion ??= kind.apiVersion;
        item.kind ??= kind.kind;
      }
      return kind.fromApiServer(item);
    }),
    resourceVersion: metadata.resourceVersion,
    continueToken:
      typeof metadata.continue === "string" && metadata.continue !== "" ? metadata.continue : undefined,
  };
}
