/** A request as it goes on the wire. Header names in lower case. */
export interface WireRequest {
  readonly method: string;
  /** Path and query, below the path prefix of the server. */
  readonly path: string;
  readonly headers: Record<string, string>;
  readonly body?: string | Buffer;
  /** A watch or a followed log: it holds its stream for minutes, so it is given a connection that has room. */
  readonly longLived?: boolean;
}

export type ResponseHeaders = Record<string, string | string[] | undefined>;

/** Receives an answer. After `onHead` and any number of `onData` comes exactly one of `onEnd` and `onError`. */
export interface ResponseHandler {
  onHead(status: number, headers: ResponseHeaders): void;
  onData(chunk: Buffer): void;
  onEnd(): void;
  onError(error: Error): void;
}

/** A request under way. */
export interface Exchange {
  /** Gives up; the handler hears nothing more. */
  cancel(): void;
  pause(): void;
  resume(): void;
}
