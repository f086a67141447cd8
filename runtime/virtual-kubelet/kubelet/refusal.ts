import { ConnectionError, DeadlineError, messageOf } from "../../kube";

const REASONS: Record<number, string> = {
  400: "BadRequest",
  401: "Unauthorized",
  403: "Forbidden",
  404: "NotFound",
  500: "InternalError",
  503: "ServiceUnavailable",
  504: "Timeout",
};

/** An answer that is not what was asked for. */
export class Refusal extends Error {
  override readonly name = "Refusal";

  constructor(
    readonly code: number,
    message: string,
    options?: ErrorOptions,
  ) {
    super(message, options);
  }

  /** What an error on the way to the provider means to the client. */
  static from(error: unknown, what: string): Refusal {
    if (error instanceof Refusal) return error;
    const message = `${what}: ${messageOf(error)}`;
    if (error instanceof DeadlineError) return new Refusal(504, message, { cause: error });
    return new Refusal(error instanceof ConnectionError ? 503 : 500, message, { cause: error });
  }

  /** As a Kubernetes `Status`, which the API server hands on to its client. */
  status(): string {
    return JSON.stringify({
      kind: "Status",
      apiVersion: "v1",
      metadata: {},
      status: "Failure",
      message: this.message,
      reason: REASONS[this.code] ?? "",
      code: this.code,
    });
  }
}
