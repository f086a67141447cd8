import { createHash } from "node:crypto";
import { createReadStream, createWriteStream } from "node:fs";
import { stat } from "node:fs/promises";
import { Readable } from "node:stream";
import { text } from "node:stream/consumers";
import { pipeline } from "node:stream/promises";
import { fileURLToPath } from "node:url";

import { type Dispatcher, EnvHttpProxyAgent, request } from "undici";

export interface TransferOptions {
  /** Milliseconds to wait for a connection; 3,000 by default. */
  connectTimeoutMs?: number;
  /** Milliseconds to wait for an answer to begin or to go on; 20,000 by default. */
  answerTimeoutMs?: number;
  signal?: AbortSignal;
}

/** A URL as people wrote it: a path where it is one. */
export function shownUrl(url: string): string {
  return url.startsWith("file:") ? fileURLToPath(url) : url;
}

/** A host cannot be reached or does not give a file: another way may still work. */
export class Unreachable extends Error {
  constructor(url: string, reason: string, options?: ErrorOptions) {
    super(`no download from ${new URL(url).host || shownUrl(url)}: ${reason}`, options);
    this.name = "Unreachable";
  }
}

/** The host answers and has no such file. */
export class Absent extends Unreachable {}

interface Opened {
  content: Readable;
  /** Size in bytes, where the host tells it. */
  size: number | undefined;
}

/** Reads files by their URLs, `http:`, `https:` (through the proxy of the environment) and `file:`. Close it after use. */
export class Transfer {
  private readonly agent: Dispatcher;
  private readonly signal: AbortSignal | undefined;

  constructor(options: TransferOptions = {}) {
    this.agent = new EnvHttpProxyAgent({
      connect: { timeout: options.connectTimeoutMs ?? 3_000 },
      // Of an answer's beginning, and between two pieces of it.
      headersTimeout: options.answerTimeoutMs ?? 20_000,
      bodyTimeout: options.answerTimeoutMs ?? 20_000,
    });
    this.signal = options.signal;
  }

  async close(): Promise<void> {
    await this.agent.close();
  }

  /** @throws Absent if there is no such file; Unreachable if the host does not answer or refuses */
  async text(url: string): Promise<string> {
    const { content } = await this.open(url);
    return text(content).catch((cause: unknown) => {
      this.signal?.throwIfAborted();
      throw new Unreachable(url, "its answer broke off", { cause });
    });
  }

  /** Copies a file and returns the SHA-256 sum of what was written. */
  async file(url: string, path: string, onProgress?: (share: number) => void): Promise<string> {
    const { content, size } = await this.open(url);
    const hash = createHash("sha256");
    let seen = 0;
    async function* measured(chunks: AsyncIterable<Buffer>) {
      for await (const chunk of chunks) {
        hash.update(chunk);
        seen += chunk.length;
        if (size !== undefined && size > 0) onProgress?.(seen / size);
        yield chunk;
      }
    }
    await pipeline(content, measured, createWriteStream(path)).catch((cause: unknown) => {
      this.signal?.throwIfAborted();
      const reason = cause instanceof Error ? cause.message : String(cause);
      throw new Error(`the transfer of ${shownUrl(url)} broke off: ${reason}`, { cause });
    });
    return hash.digest("hex");
  }

  /** Whether there is such a file, as far as the host tells without sending it. */
  async has(url: string): Promise<boolean> {
    if (url.startsWith("file:")) return (await fileSize(url)) !== undefined;
    try {
      await this.answer(url, "HEAD");
      return true;
    } catch (error) {
      if (error instanceof Absent) return false;
      if (error instanceof MethodRefused) return true;
      throw error;
    }
  }

  private async open(url: string): Promise<Opened> {
    if (url.startsWith("file:")) {
      const size = await fileSize(url);
      if (size === undefined) throw new Absent(url, "there is no such file");
      return { content: createReadStream(fileURLToPath(url), { signal: this.signal }), size };
    }
    const { body, headers } = await this.answer(url, "GET");
    const size = Number(headers["content-length"]);
    return { content: Readable.from(body), size: Number.isNaN(size) ? undefined : size };
  }

  /** An answer with status 200, over up to five redirects, as release pages answer with. */
  private async answer(url: string, method: "GET" | "HEAD"): Promise<Dispatcher.ResponseData> {
    let target = url;
    for (let redirects = 0; redirects < 5; redirects++) {
      const { signal } = this;
      const response = await request(target, {
        method,
        dispatcher: this.agent,
        ...(signal && { signal }),
      }).catch((cause: unknown) => {
        signal?.throwIfAborted();
        throw new Unreachable(target, "it cannot be reached from here", { cause });
      });
      const { statusCode, headers } = response;
      if (statusCode === 200 && method === "GET") return response;
      await response.body.dump();
      if (statusCode === 200) return response;
      if (statusCode === 404 || statusCode === 410) throw new Absent(target, `it answered ${statusCode}`);
      if (method === "HEAD" && (statusCode === 405 || statusCode === 501))
        throw new MethodRefused(target, `it answered ${statusCode}`);
      if (statusCode < 300 || statusCode >= 400 || typeof headers.location !== "string")
        throw new Unreachable(target, `it answered ${statusCode}`);
      target = new URL(headers.location, target).href;
    }
    throw new Unreachable(url, "it redirects too often");
  }
}

/** The host does not answer HEAD, which says nothing about the file. */
class MethodRefused extends Unreachable {}

async function fileSize(url: string): Promise<number | undefined> {
  const found = await stat(fileURLToPath(url)).catch(() => undefined);
  return found?.isFile() === true ? found.size : undefined;
}
