/**
 * Nothing that the controller can try again would help: a human must act. The reconcile is not retried until an object changes.
 *
 * `reason` is a word in CamelCase, the same as in the condition and in the event that it becomes; the message says what was seen, what is
 * expected and what to do.
 */
export class Terminal extends Error {
  override readonly name = "Terminal";

  constructor(
    readonly reason: string,
    message: string,
    options?: ErrorOptions,
  ) {
    super(message, options);
  }
}
