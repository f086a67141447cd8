import { ApiError, type Clock, type KubeClient } from "../kube";

/** What a kubelet may be asked. */
export const METRICS_PATHS = ["metrics", "metrics/cadvisor", "metrics/resource", "metrics/probes"] as const;
export type MetricsPath = (typeof METRICS_PATHS)[number];

interface NodeMetricsOptions {
  client: KubeClient;
  clock: Clock;
  /** Names of the nodes to ask. */
  nodes: () => readonly string[];
  /** How long an answer serves everybody. Default: 10,000 ms, which is how often kubelets look at their containers themselves. */
  keptMs?: number;
}

/** The metrics of all nodes, asked for once however many consumers scrape at a time. */
export class NodeMetrics {
  private readonly kept = new Map<MetricsPath, { at: number; texts: Promise<ReadonlyMap<string, string>> }>();

  constructor(private readonly options: NodeMetricsOptions) {}

  /** The answer of each node. @throws where any node fails: half of the truth would look like a drop. */
  async texts(path: MetricsPath): Promise<ReadonlyMap<string, string>> {
    const { clock, keptMs = 10_000 } = this.options;
    const now = clock.monotonic();
    const known = this.kept.get(path);
    if (known !== undefined && now - known.at < keptMs) return await known.texts;
    const texts = this.ask(path);
    this.kept.set(path, { at: now, texts });
    // A failure is nobody else's answer.
    texts.catch(() => this.kept.delete(path));
    return await texts;
  }

  private async ask(path: MetricsPath): Promise<ReadonlyMap<string, string>> {
    const answers = await Promise.all(
      this.options
        .nodes()
        .map(async (node): Promise<[string, string]> => [node, await this.askNode(node, path)]),
    );
    return new Map(answers);
  }

  private async askNode(node: string, path: MetricsPath): Promise<string> {
    const answer = await this.options.client.raw({
      path: `/api/v1/nodes/${encodeURIComponent(node)}/proxy/${path}`,
      headers: { accept: "text/plain" },
      deadlineMs: 10_000,
    });
    if (answer.status === 404) return "";
    if (answer.status !== 200) {
      const text = answer.body.toString("utf8").slice(0, 200);
      throw new ScrapeError(`node "${node}" answered ${answer.status} to ${path}: ${text}`);
    }
    return answer.body.toString("utf8");
  }
}

/** A node could not be asked. */
class ScrapeError extends Error {
  override readonly name = "ScrapeError";
}

/** Whether an error is the scraped side's, to be told to the caller. */
export function isScrapeFailure(error: unknown): error is Error {
  return (
    error instanceof ScrapeError || error instanceof ApiError || (error instanceof Error && "code" in error)
  );
}
